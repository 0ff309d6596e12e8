package cov

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/program/covmap"
)

// show prints sources with their counts. It waits for the files of --output-dir, which may
// still be on their way to the disk when showAll returns.
func (t *tool) show() error {
	err := t.showAll()
	return cmp.Or(err, t.commits.wait())
}

// showAll (CodeCoverageTool::doShow) checks the options of show, reads everything, and writes
// one page to standard output or, below --output-dir, the index and a page for each source.
func (t *tool) showAll() error {
	o := &t.opt
	if o.format == lcovFormat {
		return message("lcov format should be used with 'llvm-cov export'.")
	}
	if err := t.checkWatermark(); err != nil {
		return err
	}
	if o.outputDir != "" {
		if err := makeFolder(o.outputDir); err != nil {
			t.fail(withcolor.Words(err), "could not create output directory!")
			return errSilent
		}
	}
	if err := t.load(); err != nil {
		return err
	}
	// Region markers replace the column of counts unless the options ask for both.
	p := &page{tool: t, lineStats: o.lineCountsGiven || !o.showRegions || o.bestCounts, markers: o.showRegions || o.bestCounts}
	if o.createdTime && !o.emptyProfile {
		if info, err := os.Stat(o.instrProfile); err == nil {
			p.created = "Created: " + info.ModTime().In(time.Local).Format("2006-01-02 15:04")
		}
	}
	// If no source on the command line has code, nothing is shown, rather than everything.
	files := t.sources
	if len(files) == 0 && !t.hadSource {
		files = t.notIgnored()
	}
	if o.outputDir != "" {
		err := p.writeIndexes(files)
		if err == nil && o.format == htmlFormat {
			err = t.writeAssets()
		}
		if err != nil {
			t.fail(withcolor.Words(err), "could not create index file!")
			return errSilent
		}
	} else if o.format == htmlFormat {
		var err error
		written := t.write(func(w io.Writer) {
			p.sources(w, "", func() {
				p.open = w
				err = t.showSources(p, files)
			})
		})
		return cmp.Or(err, written)
	}
	return t.showSources(p, files)
}

// showSources prints the sources, or the functions that the filters accept.
func (t *tool) showSources(p *page, files []string) error {
	if len(t.filters) > 0 {
		return t.showFunctions(p, files)
	}
	for _, name := range files {
		if err := t.showFile(p, name, len(files) != 1 || t.opt.outputDir != ""); err != nil {
			return err
		}
	}
	return nil
}

// showFile (writeSourceFileView) prints one file. A source without code is a warning. A page
// that cannot be written is reported and does not end the run.
func (t *tool) showFile(p *page, name string, heading bool) error {
	v := t.fileView(name)
	if v == nil {
		t.warn("", "The file '"+name+"' isn't covered.")
		return nil
	}
	err := p.writeView(name, func(w io.Writer) {
		p.print(w, v, printing{whole: true, name: heading, title: t.opt.outputDir != ""})
		io.WriteString(w, "\n")
	})
	if err != nil && t.opt.outputDir != "" {
		t.fail(withcolor.Words(err), "could not create view file!")
		return nil
	}
	return err
}

// showFunctions prints the functions that the filters accept. Sources without such a
// function have no page. Unlike with showFile, a page that cannot be written ends the run.
func (t *tool) showFunctions(p *page, files []string) error {
	files = slices.Clone(files)
	slices.Sort(files)
	for _, name := range slices.Compact(files) {
		functions := slices.DeleteFunc(t.functionsOf(name), func(f *covmap.Function) bool { return !t.accepts(f) })
		if len(functions) == 0 {
			continue
		}
		err := p.writeView(name, func(w io.Writer) {
			title := t.opt.outputDir != ""
			for _, f := range functions {
				v := t.functionView(f)
				if v == nil {
					t.warn("", "Could not read coverage for '"+f.Name+"'.")
					continue
				}
				p.print(w, v, printing{name: true, title: title})
				title = false
			}
			io.WriteString(w, "\n")
		})
		if err != nil && t.opt.outputDir != "" {
			t.fail(withcolor.Words(err), "could not create view file!")
			return errSilent
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkWatermark sets the limits of --coverage-watermark, which only pages use. They are
// percentages, the high one first; by default 100 and 80.
func (t *tool) checkWatermark() error {
	t.watermark = [2]float64{100, 80}
	s := t.opt.covWatermark
	if s == "" {
		return nil
	}
	high, low, _ := strings.Cut(s, ",")
	complain := func(message string) error {
		t.fail("-coverage-watermark", message)
		return errSilent
	}
	if high == "" || low == "" {
		return complain("invalid argument '" + s + "', must be in format 'high,low'")
	}
	var limits [2]float64
	for i, part := range []struct{ text, name string }{{high, "high"}, {low, "low"}} {
		f, err := strconv.ParseFloat(part.text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return complain("invalid number '" + part.text + "', invalid value for '" + part.name + "'")
		}
		limits[i] = f
	}
	if limits[0] > 100 || limits[1] < 0 || limits[0] <= limits[1] {
		return complain("invalid number range '" + s + "', must be both high and low should be between 0-100, and high > low")
	}
	t.watermark = limits
	return nil
}

// writeView passes standard output to fill, or with --output-dir the file for a source.
func (p *page) writeView(source string, fill func(io.Writer)) error {
	switch {
	case p.open != nil:
		fill(p.open)
		return nil
	case p.opt.outputDir == "":
		return p.write(fill)
	}
	path := p.outputPath(source, false)
	return p.writeFile(path, func(w io.Writer) {
		if p.opt.format == htmlFormat {
			p.sources(w, path, func() { fill(w) })
			return
		}
		fill(w)
	})
}

// outputPath returns the path of the page for a source, which is below "coverage" in
// --output-dir, or of an index at the top of --output-dir.
func (t *tool) outputPath(source string, top bool) string {
	path := t.opt.outputDir
	if !top {
		path = filepath.Join(path, "coverage")
	}
	dir := filepath.Clean(filepath.Dir(source))
	return filepath.Join(path, strings.TrimPrefix(dir, filepath.VolumeName(dir)), filepath.Base(source)+t.extension())
}

func (t *tool) extension() string {
	if t.opt.format == htmlFormat {
		return ".html"
	}
	return ".txt"
}

// writeFile writes a file below --output-dir. The file becomes visible later, see commits. It must not be one of the inputs.
func (t *tool) writeFile(path string, fill func(io.Writer)) error {
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := atomicfile.Create(path, atomicfile.Options{Inputs: t.inputs()})
	if err != nil {
		return err
	}
	if err := buffered(f, fill); err != nil {
		f.Close()
		return err
	}
	t.commits.Go(f.Commit)
	return nil
}

// makeFolder makes a folder unless the path exists.
func makeFolder(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return os.MkdirAll(path, 0o777)
}

// inputs returns the files that must not be overwritten.
func (t *tool) inputs() []string { return append(slices.Clone(t.objects), t.opt.instrProfile) }
