package coveragecmd

import (
	"errors"
	"reflect"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// Patches of git, diff and other tools.
func TestParsePatch(t *testing.T) {
	const patch = "From 1234 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] @@ no hunk\n\n---\n a.c | 2 +-\n" +
		"diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,4 @@ int main()\n one\n-two\n+2\n++++ 3\n three\n\\ No newline at end of file\n" +
		"--- old.c\t2026-01-01 00:00:00\n+++ new dir/new.c\t2026-01-01 00:00:00\r\n@@ -5 +7 @@\r\n-x\r\n+y\r\n@@ -20,0 +30,2 @@\n+\n+z\n" +
		"--- a/gone.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
		"--- /dev/null\n+++ \"b/\\303\\244.c\"\n@@ -0,0 +1,2 @@\n+x\n+y\n"
	got, err := parsePatch("a.patch", []byte(patch))
	want := []patchedFile{
		{"b/a.c", []uint32{2, 3}, "a/a.c", []uint32{2}},
		{"new dir/new.c", []uint32{7, 30, 31}, "old.c", []uint32{5, 20, 21}},
		{noFile, nil, "a/gone.c", []uint32{1}},
		{"b/ä.c", []uint32{1, 2}, noFile, []uint32{1}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for text, class := range map[string]error{
		"@@ -1 +x @@\n":                profile.ErrCorrupt,
		"@@ -1,2 +1,2\n":               profile.ErrCorrupt,
		"+++ a\n@@ -1 +1 @@\n*x\n":     profile.ErrCorrupt,
		"+++ a\n@@ -1 +1 @@\n-x\n-y\n": profile.ErrCorrupt,
		"+++ a\n@@ -1 +1 @@\n-x\n":     profile.ErrTruncated,
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := parsePatch("a.patch", []byte(text)); !errors.Is(err, class) {
				t.Errorf("%v, want %v", err, class)
			}
		})
	}
}

func FuzzParsePatch(f *testing.F) {
	f.Add([]byte("--- a/a.c\n+++ b/a.c\n@@ -1 +1,2 @@\n-x\n+y\n+z\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := parsePatch("a.patch", data)
		lines := 0
		for _, file := range files {
			lines += len(file.lines)
		}
		if err == nil && lines > len(data) {
			t.Errorf("%d lines of %d bytes", lines, len(data))
		}
	})
}

// The file of a patch is found by the end of its path, unless several have it.
func TestFindSource(t *testing.T) {
	paths := []string{"/src/app/a.c", "/src/lib/a.c", "/src/lib/b.c", `C:\src\win\c.c`, "top.c"}
	for path, want := range map[string]string{
		"b/app/a.c": "/src/app/a.c", "b/a.c": "", "b/b.c": "/src/lib/b.c", "lib/b.c": "/src/lib/b.c", "/src/lib/a.c": "/src/lib/a.c",
		"b/win/c.c": `C:\src\win\c.c`, "b/top.c": "top.c", "top.c": "top.c", "b/p.c": "",
	} {
		t.Run(path, func(t *testing.T) {
			got := ""
			if i := findSource(paths, path); i >= 0 {
				got = paths[i]
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestLineRanges(t *testing.T) {
	if got := lineRanges([]uint32{1, 3, 4, 5, 9}); got != "1, 3-5, 9" {
		t.Error(got)
	}
}
