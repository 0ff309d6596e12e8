// Package gcov reads GCC's coverage notes (.gcno) and counts (.gcda), of GCC 4.7 to 15 and of clang's --coverage, adds
// counts up, and writes them for GCC's -fprofile-use and gcov.
//
// A compiler writes the notes: the flow graphs of functions, and their source lines. The program writes the counts, in the
// byte order of the machine on which it ran; they count some arcs of the graphs, and for PGO values. [ReadNotes] and [ReadCounts]
// read one file each. [NewUnit] joins the two: it solves the flow graphs, so that every block, arc and line has a count, the
// same count that gcov 12 prints. Counts alone are enough to add them up: see [Merger].
//
// What released tools write is never called corrupt: functions without records, counters that are all zero and take no
// bytes, and bytes that an older, longer file left behind the end. Readers check every size against the bytes left before they allocate, and
// the flow graphs of a unit are solved in bounded time.
package gcov
