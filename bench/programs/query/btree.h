// A B+ tree from values to row numbers: equal values are told apart by row.
#ifndef BTREE_H
#define BTREE_H

#include "value.h"

typedef struct BTree BTree;
typedef struct BTreeNode BTreeNode;

typedef struct {
  const BTreeNode *leaf;
  int at;
} BTreeCursor;

BTree *btree_new(void);
void btree_free(BTree *t);
void btree_insert(BTree *t, const Value *key, int64_t row);
bool btree_delete(BTree *t, const Value *key, int64_t row);
int64_t btree_count(const BTree *t);
int64_t btree_distinct(const BTree *t); // an estimate
// btree_seek goes to the first entry that is not below key, or not below and
// not equal; to the first of all if key is null.
BTreeCursor btree_seek(const BTree *t, const Value *key, bool after_equal);
// btree_next returns the entry of the cursor and advances; false at the end.
bool btree_next(BTreeCursor *c, const Value **key, int64_t *row);
// btree_check returns what is wrong with the tree, null if nothing.
const char *btree_check(const BTree *t);

#endif
