package irpgo

import (
	"strings"

	"github.com/profuse-pgo/profuse/profile"
)

// one is a record to put things behind.
const one = "foo\n1\n1\n5\n"

// textAccepted lists inputs and what must be read from them, as dumpText prints it.
var textAccepted = []struct{ name, in, want string }{
	{"record", one, "front-end; foo 1 [5]"},
	{"no end of line", "foo\n1\n1\n5", "front-end; foo 1 [5]"},
	{"two records", one + "bar\n2\n2\n6\n7\n", "front-end; foo 1 [5]; bar 2 [6 7]"},
	{"two hashes", one + "foo\n2\n2\n6\n7\n", "front-end; foo 1 [5]; foo 2 [6 7]"},

	{"only a comment", "# only\n", "front-end"},
	{"only a comment mark", "#", "front-end"},
	{"only empty lines", "\n\n\n", "front-end"},
	{"only CRLF", "\r\n\r\n", "front-end"},
	{"comments and empty lines", "\n#c\nfoo\n#c\n1\n\n1\n# x\n5\n\n", "front-end; foo 1 [5]"},
	{"comment at the end", one + "#", "front-end; foo 1 [5]"},
	{"CRLF", "foo\r\n#\r\n\r\n1\r\n1\r\n5\r\n", "front-end; foo 1 [5]"},
	{"CR before CRLF", "foo\r\r\n1\r\n1\r\n5\r\n", "front-end; foo\r 1 [5]"},
	{"zero byte ends the file", one + "\x00bar\n1\n1\n5\n", "front-end; foo 1 [5]"},
	{"zero byte ends a line", "foo\n1\n1\n5\x00\nbar\n1\n1\n5\n", "front-end; foo 1 [5]"},
	{"zero byte in a comment", one + "#a\x00\nbar\n1\n1\n5\n", "front-end; foo 1 [5]"},

	{"name with blanks", "foo bar \n1\n1\n5\n", "front-end; foo bar  1 [5]"},
	{"name behind a blank", " foo\n1\n1\n5\n", "front-end;  foo 1 [5]"},
	{"name behind a tab", "\tfoo\n1\n1\n5\n", "front-end; \tfoo 1 [5]"},
	{"mark behind a blank is no comment", " #foo\n1\n1\n5\n", "front-end;  #foo 1 [5]"},
	{"colon in a later name", one + ":bar\n1\n1\n7\n", "front-end; foo 1 [5]; :bar 1 [7]"},
	{"bytes that are no text", one + "b\xff\xfear\n2\n1\n4\n", "front-end; foo 1 [5]; b\xff\xfear 2 [4]"},
	{"decimal first name", "123\n1\n1\n5\n", "front-end; 123 1 [5]"},
	{"decimal name of 33 bits", one + "4294967296\n1\n1\n5\n", "front-end; foo 1 [5]; 4294967296 1 [5]"},
	{"number behind a blank", one + " 5\n1\n1\n5\n", "front-end; foo 1 [5];  5 1 [5]"},
	{"hexadecimal is no number of kinds", one + "0x1\n0\n1\n5\n", "front-end; foo 1 [5]; 0x1 0 [5]"},

	{"hash 0x", "foo\n0x1F\n1\n5\n", "front-end; foo 31 [5]"},
	{"hash 0X", "foo\n0X1f\n1\n5\n", "front-end; foo 31 [5]"},
	{"hash 0b", "foo\n0b101\n1\n5\n", "front-end; foo 5 [5]"},
	{"hash 0B", "foo\n0B101\n1\n5\n", "front-end; foo 5 [5]"},
	{"hash 0o", "foo\n0o17\n1\n5\n", "front-end; foo 15 [5]"},
	{"hash 017", "foo\n017\n1\n5\n", "front-end; foo 15 [5]"},
	{"hash 00", "foo\n00\n1\n5\n", "front-end; foo 0 [5]"},
	{"hash 0", "foo\n0\n1\n5\n", "front-end; foo 0 [5]"},
	{"hash of 64 bits", "foo\n18446744073709551613\n1\n5\n", "front-end; foo 18446744073709551613 [5]"},
	{"hash of 64 bits 0x", "foo\n0xfffffffffffffffd\n1\n5\n", "front-end; foo 18446744073709551613 [5]"},
	{"hash with zeros", "foo\n0000000000000000000000000000000000000001\n1\n5\n", "front-end; foo 1 [5]"},
	{"number of counters with zeros", "foo\n1\n01\n5\n", "front-end; foo 1 [5]"},
	{"counter with zeros", "foo\n1\n1\n0000000000000000000000000000000010\n", "front-end; foo 1 [10]"},
	{"counter of 64 bits", "foo\n1\n2\n1\n18446744073709551615\n", "front-end; foo 1 [1 18446744073709551615]"},
	{"pseudo hot", "foo\n1\n1\n18446744073709551615\n", "front-end; foo 1 [18446744073709551615]"},

	{":ir", ":ir\n" + one, "ir; foo 1 [5]"},
	{":ir alone", ":ir", "ir"},
	{":fe", ":fe\n" + one, "front-end; foo 1 [5]"},
	{":ir then :fe", ":ir\n:fe\n" + one, "front-end+ir; foo 1 [5]"},
	{":csir", ":csir\n" + one, "ir+cs; foo 1 [5]"},
	{"any case", ":IR\n:CsIr\n:entry_FIRST\n" + one, "ir+cs+entry-first; foo 1 [5]"},
	{"twice", ":ir\n:ir\n" + one, "ir; foo 1 [5]"},
	{":not_entry_first", ":entry_first\n:not_entry_first\n:ir\n" + one, "ir; foo 1 [5]"},
	{":entry_first after :not_entry_first", ":not_entry_first\n:entry_first\n:ir\n" + one, "ir+entry-first; foo 1 [5]"},
	{"other directives", ":single_byte_coverage\n#\n\n:instrument_loop_entries\n" + one, "loop-entries+single-byte-coverage; foo 1 [5]"},

	{"traces", ":temporal_prof_traces\n2\n7\n3\nfoo, bar ,,foo,\n1\nbar\n" + one, "temporal; traces of 7: 3×[foo bar foo] 1×[bar]; foo 1 [5]"},
	{"no traces", ":temporal_prof_traces\n0\n9\n" + one, "temporal; traces of 9:; foo 1 [5]"},
	{"trace without names", ":temporal_prof_traces\n1\n2\n3\n,\n" + one, "temporal; traces of 2: 3×[]; foo 1 [5]"},
	{"trace item of blanks", ":temporal_prof_traces\n1\n2\n3\nfoo, ,bar\n" + one, "temporal; traces of 2: 3×[foo  bar]; foo 1 [5]"},
	{"trace numbers in any base", ":temporal_prof_traces\n0x1\n0b11\n017\nfoo\n:ir\n" + one, "ir+temporal; traces of 3: 15×[foo]; foo 1 [5]"},
	{"traces twice", ":temporal_prof_traces\n1\n1\n1\nfoo\n:temporal_prof_traces\n1\n7\n1\nfoo\n" + one, "temporal; traces of 7: 1×[foo] 1×[foo]; foo 1 [5]"},

	{"bitmap", one + "$2\n1\n0xff\nbar\n1\n1\n2\n", "front-end; foo 1 [5] $[1 255]; bar 1 [2]"},
	{"bitmap in any base, blanks", one + "$ 2 \n0b1\n017\n", "front-end; foo 1 [5] $[1 15]"},
	{"empty bitmap", one + "$0\nbar\n1\n1\n2\n", "front-end; foo 1 [5]; bar 1 [2]"},
	{"name after a bitmap", one + "$1\n1\n$1\n1\n1\n5\n", "front-end; foo 1 [5] $[1]; $1 1 [5]"},

	{"call target", one + "1\n0\n1\n1\nbar:3\n", "front-end; foo 1 [5] 0:{bar:3}"},
	{"sites", one + "1\n0\n3\n2\nfoo:3\nbar:2\n0\n1\nbar:1\n", "front-end; foo 1 [5] 0:{foo:3 bar:2}{}{bar:1}"},
	{"target with colons", one + "1\n0\n1\n1\na:foo:3\n", "front-end; foo 1 [5] 0:{a:foo:3}"},
	{"external target", one + "1\n0\n1\n1\n** External Symbol **:3\n", "front-end; foo 1 [5] 0:{?:3}"},
	{"size", one + "1\n1\n1\n2\n8:9\n7:3\n", "front-end; foo 1 [5] 1:{8:9 7:3}"},
	{"vtable", one + "1\n2\n1\n1\n_ZTV3:3\n", "front-end; foo 1 [5] 2:{_ZTV3:3}"},
	{"external vtable", one + "1\n2\n1\n1\n** External Symbol **:3\n", "front-end; foo 1 [5] 2:{?:3}"},
	{"kinds in any order", one + "3\n2\n1\n1\nfoo:3\n1\n1\n1\n4:4\n0\n1\n1\nfoo:9\n", "front-end; foo 1 [5] 0:{foo:9} 1:{4:4} 2:{foo:3}"},
	{"a kind twice", one + "2\n1\n1\n1\n4:4\n1\n1\n1\n5:9\n", "front-end; foo 1 [5] 1:{4:4}{5:9}"},
	{"number of kinds with zeros", one + "001\n0\n0\n", "front-end; foo 1 [5]"},
	{"no sites", one + "1\n0\n0\nbar\n2\n1\n6\n", "front-end; foo 1 [5]; bar 2 [6]"},
	{"decimal name after value data", one + "1\n0\n0\n123\n1\n1\n5\n", "front-end; foo 1 [5]; 123 1 [5]"},
	{"$ name after value data", one + "1\n0\n0\n$12\n1\n1\n5\n", "front-end; foo 1 [5]; $12 1 [5]"},
	{"bitmap and values", one + "$1\n7\n1\n1\n1\n1\n4:4\nbar\n1\n1\n2\n", "front-end; foo 1 [5] $[7] 1:{4:4}; bar 1 [2]"},
}

// textRejected lists inputs with the message and line of the failure.
var textRejected = []struct {
	name, in string
	msg      string // as llvm-profdata 22 prints it
	line     int
	class    error
}{
	{"unknown directive", ":bogus\n" + one, msgBadHeader, 1, profile.ErrUnsupported},
	{"empty directive", ":ir\n:\n" + one, msgBadHeader, 2, profile.ErrUnsupported},
	{"blank behind a directive", ":ir \n" + one, msgBadHeader, 1, profile.ErrUnsupported},
	{"letter that folds to ASCII", ":\u017fingle_byte_coverage\n" + one, msgUnrecognized, 0, profile.ErrUnrecognized},
	{"the same, later", "#comment\n:\u017fingle_byte_coverage\n" + one, msgBadHeader, 2, profile.ErrUnsupported},
	{"name of a first record in UTF-8", "\u03bbfoo\n1\n1\n5\n", msgUnrecognized, 0, profile.ErrUnrecognized},

	{"no number of traces", "#\n:temporal_prof_traces\n", msgEOF, 3, profile.ErrTruncated},
	{"no stream size", ":temporal_prof_traces\n1\n", msgEOF, 3, profile.ErrTruncated},
	{"no weight", ":temporal_prof_traces\n1\n2\n", msgEOF, 4, profile.ErrTruncated},
	{"no trace", ":temporal_prof_traces\n1\n2\n3\n", msgEOF, 5, profile.ErrTruncated},
	{"no second weight", ":temporal_prof_traces\n2\n2\n3\nfoo\n", msgEOF, 6, profile.ErrTruncated},
	{"number of traces", ":temporal_prof_traces\nx\n", msgMalformed, 2, profile.ErrCorrupt},
	{"number of traces of 33 bits", ":temporal_prof_traces\n4294967296\n1\n1\n", msgMalformed, 2, profile.ErrCorrupt},
	{"stream size", ":temporal_prof_traces\n1\nx\n", msgMalformed, 3, profile.ErrCorrupt},
	{"weight", ":temporal_prof_traces\n1\n1\n# weight\nx\n", msgMalformed, 5, profile.ErrCorrupt},

	{"no hash", "foo\n", msgTruncated, 2, profile.ErrTruncated},
	{"no hash, no end of line", "foo", msgTruncated, 1, profile.ErrTruncated},
	{"no number of counters", "foo\n1\n", msgTruncated, 3, profile.ErrTruncated},
	{"no counter", "foo\n1\n1\n", msgTruncated, 4, profile.ErrTruncated},
	{"a counter too few", "foo\n1\n2\n5\n", msgTruncated, 5, profile.ErrTruncated},
	{"in the second record", one + "bar\n1\n2\n5\n#\n", msgTruncated, 10, profile.ErrTruncated},
	{"zero byte ends the file", "foo\n1\n1\n\x005\n", msgTruncated, 4, profile.ErrTruncated},

	{"hash", "foo\nx\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash 1x", "foo\n1x\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash 0O", "foo\n0O17\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash 08", "foo\n08\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash 0x", "foo\n0x\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash 0o", "foo\n0o\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash 0b2", "foo\n0b2\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash 0xg", "foo\n0xg\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash of 65 bits", "foo\n18446744073709551616\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash of 68 bits", "foo\n0x10000000000000000\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash -1", "foo\n-1\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash +1", "foo\n+1\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash behind a blank", "foo\n 1\n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"hash before a blank", "foo\n1 \n1\n5\n", msgMalformed + ": function hash is not a valid integer", 2, profile.ErrCorrupt},
	{"CR without LF", "foo\r\n1\r\n1\r\n5\r", msgMalformed + ": count is invalid", 4, profile.ErrCorrupt},
	{"number of counters", "foo\n1\nx\n5\n", msgMalformed + ": number of counters is not a valid integer", 3, profile.ErrCorrupt},
	{"number of counters 0x", "foo\n1\n0x1\n5\n", msgMalformed + ": number of counters is not a valid integer", 3, profile.ErrCorrupt},
	{"number of counters 0", "foo\n1\n#\n0\n5\n", msgMalformed + ": number of counters is zero", 4, profile.ErrCorrupt},
	{"counter", "foo\n1\n1\nbar\n", msgMalformed + ": count is invalid", 4, profile.ErrCorrupt},
	{"counter 0x", "foo\n1\n1\n0x5\n", msgMalformed + ": count is invalid", 4, profile.ErrCorrupt},
	{"counter of 65 bits", "foo\n1\n1\n18446744073709551616\n", msgMalformed + ": count is invalid", 4, profile.ErrCorrupt},
	{"counter of 67 bits", "foo\n1\n1\n99999999999999999999\n", msgMalformed + ": count is invalid", 4, profile.ErrCorrupt},
	{"counter of many digits", "foo\n1\n1\n" + strings.Repeat("9", 1000) + "\n", msgMalformed + ": count is invalid", 4, profile.ErrCorrupt},

	{"number of bitmap bytes missing", one + "$\n", msgMalformed + ": number of bitmap bytes is not a valid integer", 5, profile.ErrCorrupt},
	{"number of bitmap bytes", one + "$x\n", msgMalformed + ": number of bitmap bytes is not a valid integer", 5, profile.ErrCorrupt},
	{"number of bitmap bytes of 65 bits", one + "$18446744073709551616\n", msgMalformed + ": number of bitmap bytes is not a valid integer", 5, profile.ErrCorrupt},
	{"bitmap byte", one + "$1\nx\n", msgMalformed + ": bitmap byte is not a valid integer", 6, profile.ErrCorrupt},
	{"bitmap byte of 9 bits", one + "$2\n256\n1\n", msgMalformed + ": bitmap byte is not a valid integer", 6, profile.ErrCorrupt},
	{"a bitmap byte too few", one + "$2\n1\n", msgTruncated, 7, profile.ErrTruncated},

	{"no kinds", one + "0\n", msgMalformed + ": number of value kinds is invalid", 5, profile.ErrCorrupt},
	{"no kinds 00", one + "00\n", msgMalformed + ": number of value kinds is invalid", 5, profile.ErrCorrupt},
	{"four kinds", one + "4\n", msgMalformed + ": number of value kinds is invalid", 5, profile.ErrCorrupt},
	{"kinds of 32 bits", one + "4294967295\n", msgMalformed + ": number of value kinds is invalid", 5, profile.ErrCorrupt},
	{"decimal name", one + "123\n1\n1\n5\n", msgMalformed + ": number of value kinds is invalid", 5, profile.ErrCorrupt},
	{"no kind", one + "3\n", msgTruncated, 6, profile.ErrTruncated},
	{"kind 3", one + "1\n3\n1\n", msgMalformed + ": value kind is invalid", 6, profile.ErrCorrupt},
	{"kind", one + "1\nx\n1\n", msgMalformed, 6, profile.ErrCorrupt},
	{"kind of 33 bits", one + "1\n4294967296\n0\n", msgMalformed, 6, profile.ErrCorrupt},
	{"no number of sites", one + "1\n0\n", msgTruncated, 7, profile.ErrTruncated},
	{"number of sites", one + "1\n0\nx\n", msgMalformed, 7, profile.ErrCorrupt},
	{"number of sites of 33 bits", one + "1\n0\n4294967296\n", msgMalformed, 7, profile.ErrCorrupt},
	{"name where a kind should be", one + "2\n0\n0\nbar\n2\n1\n6\n", msgMalformed, 8, profile.ErrCorrupt},
	{"no number of values", one + "1\n0\n1\n", msgTruncated, 8, profile.ErrTruncated},
	{"number of values", one + "1\n0\n1\nx\n", msgMalformed, 8, profile.ErrCorrupt},
	{"number of values of 33 bits", one + "1\n0\n1\n4294967296\n", msgMalformed, 8, profile.ErrCorrupt},
	{"no value", one + "1\n0\n1\n1\n", msgTruncated, 9, profile.ErrTruncated},
	{"target without count", one + "1\n0\n1\n1\nfoo\n", msgMalformed, 9, profile.ErrCorrupt},
	{"target with empty count", one + "1\n0\n1\n1\nfoo:\n", msgMalformed, 9, profile.ErrCorrupt},
	{"target count", one + "1\n0\n1\n1\nfoo:x\n", msgMalformed, 9, profile.ErrCorrupt},
	{"target count 0x", one + "1\n0\n1\n1\nfoo:0x3\n", msgMalformed, 9, profile.ErrCorrupt},
	{"target count behind a blank", one + "1\n0\n1\n1\nfoo: 3\n", msgMalformed, 9, profile.ErrCorrupt},
	{"target without name", one + "1\n0\n1\n1\n:3\n", msgMalformed + ": symbol name is empty", 9, profile.ErrCorrupt},
	{"vtable without name", one + "1\n2\n1\n1\n:3\n", msgMalformed + ": symbol name is empty", 9, profile.ErrCorrupt},
	{"size 0x", one + "1\n1\n1\n1\n0x7:3\n", msgMalformed, 9, profile.ErrCorrupt},
	{"size missing", one + "1\n1\n1\n1\n:3\n", msgMalformed, 9, profile.ErrCorrupt},
	{"size without count", one + "1\n1\n1\n1\n7\n", msgMalformed, 9, profile.ErrCorrupt},
	{"size of 65 bits", one + "1\n1\n1\n1\n18446744073709551616:1\n", msgMalformed, 9, profile.ErrCorrupt},
}

const (
	msgBadHeader    = "invalid instrumentation profile data (file header is corrupt)"
	msgUnrecognized = "unrecognized instrumentation profile encoding format"
	msgEOF          = "end of File"
	msgTruncated    = "truncated profile data"
	msgMalformed    = "malformed instrumentation profile data"
)
