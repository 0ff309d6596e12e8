// Package fleet merges profiles on many machines: an array of tasks, started by any scheduler, merges shards
// of the profiles into partial sums, and one process reduces the partial sums to the result, which has the
// bytes of one merge of all profiles.
//
// A [Job] is a folder or a prefix of a bucket:
//
//	plan.json           the plan, see [Plan]; whoever creates it first wins
//	lists/SHA256        the objects of a shard, see [Object]
//	parts/SHA256.…      partial sums
//	left/SHA256         the accounts of inputs that are not in a partial sum
//	done/000000.json    the result of a shard, see [Done]; whoever creates it first wins
//
// Lists, parts and left are named by their contents, and no file is ever changed. A task may die at any
// moment, be started again, or run twice at once: only the files that the done file of a shard names count.
package fleet
