// Package fleet merges more profiles than one machine should: an array of tasks, started
// by any scheduler, merges shards of them into partial sums, and one process reduces these
// to the result, which has the bytes of one merge of all.
//
// A [Job] is a folder or a prefix of a bucket:
//
//	plan.json           the plan, see [Plan]; whoever creates it first wins
//	lists/SHA256        the objects of a shard, see [Object]
//	parts/SHA256.…      partial sums
//	left/SHA256         the accounts of inputs that are not in a partial sum
//	done/000000.json    the result of a shard, see [Done]; whoever creates it first wins
//
// All but the first and the last are named by their contents. A task may die at any
// moment, be started again, or run twice at once: a shard counts as its done file says,
// and only what that names is read. Nothing is ever changed.
package fleet
