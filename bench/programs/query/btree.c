#include "btree.h"

#include <stdlib.h>
#include <string.h>

enum { ORDER = 64, HALF = ORDER / 2 };

typedef struct {
  Value key;
  int64_t row;
} Entry;

// Inner nodes have a separator before each child but the first: the smallest
// entry below it, or one that used to be.
struct BTreeNode {
  bool is_leaf;
  int count; // entries; inner nodes have one child more
  Entry entries[ORDER];
  union {
    BTreeNode *children[ORDER + 1];
    struct {
      BTreeNode *next;
    } leaf;
  };
};

struct BTree {
  BTreeNode *root;
  int64_t count;
};

static BTreeNode *new_node(bool is_leaf) {
  BTreeNode *n = checked_alloc(sizeof *n);
  n->is_leaf = is_leaf;
  n->count = 0;
  if (is_leaf)
    n->leaf.next = NULL;
  return n;
}

BTree *btree_new(void) {
  BTree *t = checked_alloc(sizeof *t);
  t->root = new_node(true);
  t->count = 0;
  return t;
}

static void free_node(BTreeNode *n) {
  if (!n->is_leaf)
    for (int i = 0; i <= n->count; i++)
      free_node(n->children[i]);
  free(n);
}

void btree_free(BTree *t) {
  if (!t)
    return;
  free_node(t->root);
  free(t);
}

int64_t btree_count(const BTree *t) { return t->count; }

static int compare_entries(const Entry *a, const Value *key, int64_t row) {
  int c = value_compare(&a->key, key);
  if (c)
    return c;
  return a->row < row ? -1 : a->row > row;
}

// position returns the number of entries that are below (key, row); with equal
// set, those that are equal count, too.
static int position(const BTreeNode *n, const Value *key, int64_t row, bool equal) {
  int low = 0, high = n->count;
  while (low < high) {
    int middle = (low + high) / 2;
    int c = compare_entries(&n->entries[middle], key, row);
    if (c < 0 || (equal && c == 0))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void insert_at(BTreeNode *n, int at, Entry e, BTreeNode *right_child) {
  memmove(&n->entries[at + 1], &n->entries[at], (size_t)(n->count - at) * sizeof(Entry));
  n->entries[at] = e;
  if (!n->is_leaf) {
    memmove(&n->children[at + 2], &n->children[at + 1], (size_t)(n->count - at) * sizeof(BTreeNode *));
    n->children[at + 1] = right_child;
  }
  n->count++;
}

// split_child makes two nodes of the full child number at.
static void split_child(BTreeNode *parent, int at) {
  BTreeNode *left = parent->children[at], *right = new_node(left->is_leaf);
  Entry separator = left->entries[HALF];
  if (left->is_leaf) {
    right->count = left->count - HALF;
    memcpy(right->entries, &left->entries[HALF], (size_t)right->count * sizeof(Entry));
    right->leaf.next = left->leaf.next;
    left->leaf.next = right;
  } else {
    right->count = left->count - HALF - 1;
    memcpy(right->entries, &left->entries[HALF + 1], (size_t)right->count * sizeof(Entry));
    memcpy(right->children, &left->children[HALF + 1], (size_t)(right->count + 1) * sizeof(BTreeNode *));
  }
  left->count = HALF;
  insert_at(parent, at, separator, right);
}

void btree_insert(BTree *t, const Value *key, int64_t row) {
  if (t->root->count == ORDER) {
    BTreeNode *root = new_node(false);
    root->children[0] = t->root;
    t->root = root;
    split_child(root, 0);
  }
  BTreeNode *n = t->root;
  while (!n->is_leaf) {
    int at = position(n, key, row, true);
    if (n->children[at]->count == ORDER) {
      split_child(n, at);
      at += compare_entries(&n->entries[at], key, row) <= 0;
    }
    n = n->children[at];
  }
  insert_at(n, position(n, key, row, false), (Entry){*key, row}, NULL);
  t->count++;
}

// borrow_or_merge sees to it that child number at has more than the least
// number of entries and returns the child to descend into.
static BTreeNode *borrow_or_merge(BTreeNode *parent, int at) {
  BTreeNode *n = parent->children[at];
  if (at > 0 && parent->children[at - 1]->count >= HALF) {
    BTreeNode *left = parent->children[at - 1];
    Entry *separator = &parent->entries[at - 1];
    memmove(&n->entries[1], n->entries, (size_t)n->count * sizeof(Entry));
    if (n->is_leaf) {
      n->entries[0] = left->entries[left->count - 1];
      *separator = n->entries[0];
    } else {
      memmove(&n->children[1], n->children, (size_t)(n->count + 1) * sizeof(BTreeNode *));
      n->entries[0] = *separator;
      n->children[0] = left->children[left->count];
      *separator = left->entries[left->count - 1];
    }
    left->count--;
    n->count++;
    return n;
  }
  if (at < parent->count && parent->children[at + 1]->count >= HALF) {
    BTreeNode *right = parent->children[at + 1];
    Entry *separator = &parent->entries[at];
    if (n->is_leaf) {
      n->entries[n->count] = right->entries[0];
      memmove(right->entries, &right->entries[1], (size_t)(right->count - 1) * sizeof(Entry));
      *separator = right->entries[0];
    } else {
      n->entries[n->count] = *separator;
      n->children[n->count + 1] = right->children[0];
      *separator = right->entries[0];
      memmove(right->entries, &right->entries[1], (size_t)(right->count - 1) * sizeof(Entry));
      memmove(right->children, &right->children[1], (size_t)right->count * sizeof(BTreeNode *));
    }
    right->count--;
    n->count++;
    return n;
  }
  if (at == parent->count)
    at--;
  BTreeNode *left = parent->children[at], *right = parent->children[at + 1];
  if (left->is_leaf) {
    memcpy(&left->entries[left->count], right->entries, (size_t)right->count * sizeof(Entry));
    left->count += right->count;
    left->leaf.next = right->leaf.next;
  } else {
    left->entries[left->count] = parent->entries[at];
    memcpy(&left->entries[left->count + 1], right->entries, (size_t)right->count * sizeof(Entry));
    memcpy(&left->children[left->count + 1], right->children, (size_t)(right->count + 1) * sizeof(BTreeNode *));
    left->count += right->count + 1;
  }
  memmove(&parent->entries[at], &parent->entries[at + 1], (size_t)(parent->count - at - 1) * sizeof(Entry));
  memmove(&parent->children[at + 1], &parent->children[at + 2], (size_t)(parent->count - at - 1) * sizeof(BTreeNode *));
  parent->count--;
  free(right);
  return left;
}

bool btree_delete(BTree *t, const Value *key, int64_t row) {
  BTreeNode *n = t->root;
  while (!n->is_leaf) {
    int at = position(n, key, row, true);
    BTreeNode *child = n->children[at];
    if (child->count < HALF)
      child = borrow_or_merge(n, at);
    if (n == t->root && n->count == 0) {
      t->root = child;
      free(n);
    }
    n = child;
  }
  int at = position(n, key, row, false);
  if (at == n->count || compare_entries(&n->entries[at], key, row) != 0)
    return false;
  memmove(&n->entries[at], &n->entries[at + 1], (size_t)(n->count - at - 1) * sizeof(Entry));
  n->count--;
  t->count--;
  return true;
}

BTreeCursor btree_seek(const BTree *t, const Value *key, bool after_equal) {
  const BTreeNode *n = t->root;
  int64_t row = after_equal ? INT64_MAX : INT64_MIN;
  while (!n->is_leaf)
    n = n->children[key ? position(n, key, row, false) : 0];
  return (BTreeCursor){n, key ? position(n, key, row, false) : 0};
}

bool btree_next(BTreeCursor *c, const Value **key, int64_t *row) {
  while (c->leaf && c->at >= c->leaf->count) {
    c->leaf = c->leaf->leaf.next;
    c->at = 0;
  }
  if (!c->leaf)
    return false;
  *key = &c->leaf->entries[c->at].key;
  *row = c->leaf->entries[c->at].row;
  c->at++;
  return true;
}

int64_t btree_distinct(const BTree *t) {
  // Those in the first leaf are taken for typical.
  BTreeCursor c = btree_seek(t, NULL, false);
  int n = c.leaf->count, distinct = n > 0;
  for (int i = 1; i < n; i++)
    distinct += !value_equal(&c.leaf->entries[i - 1].key, &c.leaf->entries[i].key);
  return n ? t->count * distinct / n : 0;
}

static const char *check_node(const BTreeNode *n, const Entry *low, const Entry *high, int depth, int *leaf_depth,
                              int64_t *count) {
  for (int i = 0; i < n->count; i++) {
    const Entry *e = &n->entries[i];
    if (i && compare_entries(&n->entries[i - 1], &e->key, e->row) >= 0)
      return "entries out of order";
    if (low && compare_entries(low, &e->key, e->row) > 0)
      return "entry below its separator";
    if (high && compare_entries(high, &e->key, e->row) <= 0)
      return "entry not below its separator";
  }
  if (n->is_leaf) {
    if (*leaf_depth < 0)
      *leaf_depth = depth;
    *count += n->count;
    return *leaf_depth == depth ? NULL : "leaves at different depths";
  }
  for (int i = 0; i <= n->count; i++) {
    const char *wrong = check_node(n->children[i], i ? &n->entries[i - 1] : low, i < n->count ? &n->entries[i] : high,
                                   depth + 1, leaf_depth, count);
    if (wrong)
      return wrong;
  }
  return NULL;
}

const char *btree_check(const BTree *t) {
  int leaf_depth = -1;
  int64_t count = 0;
  const char *wrong = check_node(t->root, NULL, NULL, 0, &leaf_depth, &count);
  return wrong ? wrong : count == t->count ? NULL : "wrong number of entries";
}
