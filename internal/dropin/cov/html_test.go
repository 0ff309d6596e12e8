package cov

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// pageFacts is what a page says, whatever its markup.
type pageFacts struct {
	Counts   []string // of lines, in the order of the page
	Missed   []string // texts that did not run, each once: llvm-cov repeats lines with several macros
	Branches []string
	Pairs    []string // of MC/DC
	Shares   []string // in indexes
	Links    []string
}

var (
	tags       = regexp.MustCompile(`<[^>]*>`)
	llvmCount  = regexp.MustCompile(`<td class='(?:covered|uncovered|skipped)-line'>(?:<pre>([^<]*)</pre>)?</td>`)
	ourCount   = regexp.MustCompile(`<span class="times">([^<]*)</span>`)
	llvmMissed = regexp.MustCompile(`<span class='region red'>(.*?)</span>`)
	ourMissed  = regexp.MustCompile(`<span class="[a-z ]*miss"[^>]*>(.*?)</span>`)
	branchText = regexp.MustCompile(`Branch \(\d+:\d+\): \[[^\]]*\]`)
	pairText   = regexp.MustCompile(`C\d+-Pair: [^\n]*`)
	shareText  = regexp.MustCompile(`[0-9.]+% \(\d+/\d+\)|- \(0/0\)`)
	linkText   = regexp.MustCompile(`<a href=['"]([^'"#]*\.html)['"]`)
)

func factsOf(page string) (f pageFacts) {
	find := func(text string, patterns ...*regexp.Regexp) (found []string) {
		for _, p := range patterns {
			for _, m := range p.FindAllStringSubmatch(text, -1) {
				if s := strings.TrimSpace(html.UnescapeString(m[len(m)-1])); len(m) == 1 || s != "" || patterns[0] == llvmCount {
					found = append(found, s)
				}
			}
		}
		return found
	}
	text := html.UnescapeString(tags.ReplaceAllString(strings.ReplaceAll(page, "</pre>", "\n"), ""))
	f.Counts = find(page, llvmCount, ourCount)
	f.Missed = find(tags.ReplaceAllStringFunc(page, func(tag string) string {
		if strings.HasPrefix(tag, "<span class='tooltip") {
			return ""
		}
		return tag
	}), llvmMissed, ourMissed)
	slices.Sort(f.Missed)
	f.Missed = slices.Compact(f.Missed)
	f.Branches, f.Pairs, f.Shares = find(text, branchText), find(text, pairText), find(text, shareText)
	for _, link := range find(page, linkText) {
		if !strings.HasSuffix(link, "index.html") {
			f.Links = append(f.Links, strings.TrimPrefix(link, "./"))
		}
	}
	slices.Sort(f.Links)
	return f
}

func pagesBelow(t *testing.T, dir string) map[string]pageFacts {
	t.Helper()
	facts := make(map[string]pageFacts)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name := strings.TrimPrefix(path, dir)
		if filepath.Ext(name) == ".html" {
			facts[name] = factsOf(string(data))
		} else {
			facts[name] = pageFacts{}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// TestPages compares what pages say with llvm-cov's: the files, the numbers of indexes and
// lines, what did not run, branches and MC/DC.
func TestPages(t *testing.T) {
	for _, p := range []program{
		{sources: []string{"decisions.c"}, options: []string{"-fcoverage-mcdc"}},
		{sources: []string{"templates.cpp"}},
		{sources: []string{"macros.c"}, options: []string{"-fcoverage-mcdc"}},
	} {
		t.Run(p.sources[0], func(t *testing.T) {
			llvm := llvmTool(t, 22, "llvm-cov")
			copySources(t)
			sh(t, llvmTool(t, 22, "clang++"), slices.Concat(instrumented, p.options, []string{"-x", map[string]string{".c": "c", ".cpp": "c++"}[filepath.Ext(p.sources[0])]}, p.sources, []string{"-o", "program"})...)
			profileOf(t, 22, "program")
			for _, options := range [][]string{
				{},
				{"-show-branches=count", "-show-mcdc", "-show-expansions", "-show-mcdc-summary"},
				{"-show-branches=percent", "-show-instantiations=false", "-show-region-summary=0", "-show-directory-coverage"},
				{"-name=main", "-show-instantiation-summary", "-binary-counters"},
			} {
				args := slices.Concat([]string{"show", "-format=html", "-instr-profile=program.profdata", "program"}, options)
				if out := runMain(t, append(args, "-output-dir=ours")...); out.code != 0 || out.stdout != "" {
					t.Fatalf("%q: %+v", args, out)
				}
				sh(t, llvm, append(args, "-output-dir=theirs")...)
				ours, theirs := pagesBelow(t, "ours"), pagesBelow(t, "theirs")
				if slices.Contains(options, "-show-directory-coverage") {
					// llvm-cov's leads to the index of the folder of all sources, which ours repeats.
					delete(ours, "/index.html")
					delete(theirs, "/index.html")
				}
				if diff := cmp.Diff(theirs, ours); diff != "" || len(ours) < 4 && !slices.Contains(options, "-show-directory-coverage") {
					t.Errorf("%q: %d files (-llvm +ours):\n%s", options, len(ours), diff)
				}
				for _, dir := range []string{"ours", "theirs"} {
					oracle.NoError(t, os.RemoveAll(dir))
				}
				whole := runMain(t, args...)
				if whole.code != 0 || strings.Count(whole.stdout, "<html") != 1 || !strings.HasSuffix(whole.stdout, "</html>\n") || strings.Contains(whole.stdout, "src=") {
					t.Errorf("%q: one page on standard output: %.200s", args, whole.stdout)
				}
			}
		})
	}
}
