struct list {
  struct list *next;
  const char *word;
};
struct list *push(struct list *l, const char *word);
int count(const struct list *l, unsigned longer);
void release(struct list *l);
