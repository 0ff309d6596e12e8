package cc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
)

// Under link-time optimization with gcc the linker's plug-in starts gcc again, once
// for each partition, and that gcc starts the assembler that -B names: the driver,
// which rewrites the assembly and calls the real assembler.

// An assemblerJob says how to rewrite what gcc assembles while it links.
type assemblerJob struct {
	Triple        string
	Image         string // for the report
	Threads       bool
	KeepAlignment bool
}

// assemblesOption passes an assemblerJob from the driver to itself.
const assemblesOption = "--assembles"

// interceptAssembler returns the options that make gcc start the driver as its
// assembler and print assembly that can be rewritten.
func (j *gnuJob) interceptAssembler(ctx context.Context) ([]string, error) {
	search := append(slices.Clone(j.compiler.argv), machineWords(j.args)...)
	out, err := j.driver.output(ctx, append(search, "-print-prog-name=as"))
	if err != nil {
		return nil, err
	}
	script, err := j.tempFile("as")
	if err != nil {
		return nil, err
	}
	job, err := json.Marshal(assemblerJob{j.compiler.Triple, j.imageName(), j.options.Threads, j.options.KeepAlignment})
	if err != nil {
		return nil, err
	}
	words, err := j.again(assemblesOption, string(job))
	if err != nil {
		return nil, err
	}
	if _, err := writeScript(script, append(words, strings.TrimSpace(string(out)))); err != nil {
		return nil, err
	}
	return append([]string{"-B" + filepath.Dir(script) + "/"}, j.compilerFlags(instrument.GCC, j.target)...), nil
}

// headerObject makes an object of the headers of the MIP sections. Linkers put the
// code that gcc generates for them before objects that they read earlier.
func (j *gnuJob) headerObject(ctx context.Context) (string, error) {
	source, err := j.tempFile("header.s")
	if err == nil {
		err = os.WriteFile(source, instrument.Headers(j.options), 0o666)
	}
	if err != nil {
		return "", err
	}
	object := replaceExtension(source, ".o")
	return object, j.assemble(ctx, source, object)
}

// assembleFor rewrites the source of an assembler's command, and then runs it.
func (d *driver) assembleFor(ctx context.Context, how string, argv []string) error {
	var job assemblerJob
	if err := json.Unmarshal([]byte(how), &job); err != nil {
		return err
	}
	c := compiler{facts: facts{Triple: job.Triple}}
	target, err := c.target(nil)
	if err != nil {
		return err
	}
	opt, err := d.flags.Options(target, job.Threads)
	if err != nil {
		return err
	}
	opt.KeepAlignment = job.KeepAlignment
	source := argv[len(argv)-1]
	if filepath.Ext(source) != ".s" { // with -pipe, gcc writes to the assembler's input
		source = filepath.Join(d.temp, "in.s")
		text, err := io.ReadAll(d.env.Stdin)
		if err != nil {
			return err
		}
		if err := os.WriteFile(source, text, 0o666); err != nil {
			return err
		}
		argv = append(argv, source)
	}
	// With -r gcc may print its own intermediate language.
	if err := d.rewrite(job.Image, source, opt); err != nil && !errors.Is(err, asm.ErrNoMachineCode) {
		return err
	}
	return d.run(ctx, argv)
}
