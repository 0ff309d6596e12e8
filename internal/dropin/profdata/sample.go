package profdata

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/memlimit"
	"github.com/profuse-pgo/profuse/profile"
)

// sampleOptions are the options that only sample profiles have.
type sampleOptions struct {
	useMD5, compress, partial, split, vtables bool
	symbols                                   string // --prof-sym-list
	dropSymbols                               bool
	trimCold, mergeCold                       bool
	coldFrames                                uint32
	sizeLimit                                 uint64
	layout                                    sampleLayout
	flowSensitive                             bool // --profile-isfs
	discriminatorBits                         int  // --fs-discriminator-pass; 0 keeps all
	sectionsOnly                              bool // --show-sec-info-only
	similarityCutoff                          uint64
}

// sampleLayout is the value of --convert-sample-profile-layout.
type sampleLayout int

const (
	asIsLayout sampleLayout = iota // of the inputs
	nestLayout
	flatLayout
)

// readSample reads a sample profile. It fails for the refused formats. All errors have LLVM's words.
func (t *tool) readSample(name string, refused ...sampleprof.Format) (p *sampleprof.Profile, err error) {
	memlimit.CollectLate(256 << 20) // most of what is read is kept
	err = t.useSample(name, refused, func(data []byte, opt sampleprof.ReaderOptions) (err error) {
		p, err = sampleprof.Read(name, data, opt)
		return err
	})
	return p, err
}

// useSample passes the bytes of a sample profile to use. The resulting failure says whether LLVM
// finds it while opening the profile, and whether it ends the run in every failure mode.
func (t *tool) useSample(name string, refused []sampleprof.Format, use func(data []byte, opt sampleprof.ReaderOptions) error) error {
	o := &t.opt.sample
	var format sampleprof.Format
	err := t.read(name, func(data []byte) error {
		if format, _ = sampleprof.Detect(data); slices.Contains(refused, format) {
			return &failure{whence: name, message: llvmerr.SampleFormat.Text}
		}
		newest := 103
		if t.IsRelease(23) {
			newest = 104
		}
		return use(data, sampleprof.ReaderOptions{
			Lenient: true, NewestVersion: newest, FlowDiscriminators: o.flowSensitive, DiscriminatorBits: o.discriminatorBits,
		})
	})
	if f := (*failure)(nil); errors.As(err, &f) {
		f.opening = true
		return f
	}
	if err == nil {
		return nil
	}
	why := llvmerr.SampleFailure(err)
	f := &failure{whence: name, message: why.Text, ends: why.Ends}
	if fe := (*profile.FormatError)(nil); errors.As(err, &fe) {
		f.opening = inHeader(format, fe)
		if fe.Line > 0 && why.Ends {
			f.whence = fmt.Sprintf("%s:%d", name, fe.Line)
		}
	}
	return f
}

// inHeader reports whether LLVM finds an error while it opens a profile of the format.
func inHeader(format sampleprof.Format, e *profile.FormatError) bool {
	switch e.Section {
	case "header":
		return true
	case "section table":
		return llvmerr.SampleFailure(e) != llvmerr.SampleCutShort
	case "summary", "name table":
		return format == sampleprof.FormatBinary
	}
	return false
}

// readSamplePair reads two sample profiles to compare. LLVM opens both before it reads one, so an
// error of the second may come first.
func (t *tool) readSamplePair(names [2]string) (profiles [2]*sampleprof.Profile, err error) {
	for i, name := range names {
		p, failed := t.readSample(name, sampleprof.FormatCompact)
		f := (*failure)(nil)
		if failed != nil && (err == nil || errors.As(failed, &f) && f.opening) {
			err = failed
		}
		if errors.As(err, &f) && f.opening {
			return profiles, err
		}
		profiles[i] = p
	}
	return profiles, err
}

// mergeSamples (mergeSampleProfile) runs the merge command for sample profiles, one input after
// the other. It decodes the sums into a profile only if options reshape them.
func (t *tool) mergeSamples(list worklist) error {
	defer memlimit.CollectOften(50)() // sums hold no pointers
	m := sampleprof.NewMerger(sampleprof.MergeOptions{LLVMCompat: true, Rename: t.rename, Warn: func(w profile.Warning) {
		t.msg.plain("%s: %s: %s", w.File, w.Function, llvmerr.SampleFailure(w.Err).Text)
	}})
	for _, in := range list {
		var kinds *llvmerr.SampleError
		err := t.useSample(in.name, nil, func(data []byte, opt sampleprof.ReaderOptions) error {
			_, err := m.AddFile(in.name, data, opt, in.weight)
			// Different kinds end the run in every failure mode, with another message.
			if why := llvmerr.SampleFailure(err); err != nil && (why == llvmerr.SampleContexts || why == llvmerr.SampleProbes) {
				kinds = why
				return nil
			}
			return err
		})
		if f := (*failure)(nil); errors.As(err, &f) && t.opt.failureMode != failAny && !f.ends {
			t.msg.warn(f.whence, f.message)
			continue
		}
		if kinds != nil {
			err = kindFailure("merge", kinds)
		}
		if err != nil {
			return err
		}
	}
	r := m.Finish()
	if t.opt.sample.dropSymbols {
		r.Symbols = nil
	}
	p, write := &sampleprof.Profile{Kind: r.Kind, Symbols: r.Symbols}, r.Write
	if t.reshapes() {
		p = r.Profile()
		if err := t.reshape(p); err != nil {
			return err
		}
		write = p.Write
	}
	if t.opt.format == gccFormat {
		return &failure{whence: t.opt.output, message: llvmerr.SampleWriting.Text}
	}
	opt, err := t.sampleOutput(p)
	if err != nil {
		return err
	}
	r.Kind, r.Symbols = p.Kind, p.Symbols
	return t.writeOutput(func(out *output) error {
		if err := write(out, opt); err != nil {
			return &failure{message: llvmerr.SampleFailure(err).Text}
		}
		return nil
	})
}

func kindFailure(verb string, kinds *llvmerr.SampleError) error {
	return &failure{message: "cannot " + verb + " " + kinds.Text + " profile"}
}

func (t *tool) reshapes() bool {
	o := &t.opt.sample
	return o.mergeCold || o.trimCold || o.layout != asIsLayout || t.opt.function != "" || t.opt.noFunction != ""
}

// reshape changes the merged profile as options ask, in LLVM's order: cold contexts, then the
// layout, then the choice of functions by name.
func (t *tool) reshape(p *sampleprof.Profile) error {
	o := &t.opt.sample
	p.Convert(sampleprof.ConvertOptions{
		MergeCold: o.mergeCold, ColdFrames: int(o.coldFrames), TrimCold: o.trimCold,
		Flatten: o.layout == flatLayout, Nest: o.layout == nestLayout,
	})
	return filterFunctions(t, func() *[]*sampleprof.Function { return &p.Functions }, (*sampleprof.Function).Label)
}

// sampleOutput (handleExtBinaryWriter) adds the listed symbols and returns how to write the profile. It warns about
// options that the format does not support; only the extensible binary format supports all options.
func (t *tool) sampleOutput(p *sampleprof.Profile) (opt sampleprof.WriteOptions, err error) {
	o := &t.opt.sample
	opt = sampleprof.WriteOptions{Format: sampleprof.FormatExtended, SizeLimit: o.sizeLimit, VTables: o.vtables}
	switch t.opt.format {
	case textFormat:
		opt.Format = sampleprof.FormatText
	case binaryFormat:
		opt.Format = sampleprof.FormatBinary
		// This format has neither contexts nor probes.
		if p.Kind.ContextSensitive || p.Kind.ProbeBased {
			return opt, &failure{whence: t.opt.output, message: llvmerr.SampleWriting.Text}
		}
	}
	if o.symbols != "" {
		text, err := t.readList(o.symbols)
		if err != nil {
			return opt, inFile(err, o.symbols)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			if line != "" {
				p.Symbols = append(p.Symbols, strings.Trim(line, " \t\v\f\r"))
			}
		}
		slices.Sort(p.Symbols)
		p.Symbols = slices.Compact(p.Symbols)
	}
	if o.split && opt.Format == sampleprof.FormatBinary {
		t.msg.warn("", "-split-layout is ignored. Specify -extbinary to enable it")
	}
	opt.Split = o.split
	extended := opt.Format == sampleprof.FormatExtended
	if len(p.Symbols) > 0 && !extended {
		t.msg.warn("", "Profile Symbol list is not empty but the output format is not ExtBinary format. The list will be lost in the output. ")
	}
	// enable reports whether an option takes effect, and warns if the format does not support it.
	enable := func(asked bool, name string) bool {
		if asked && !extended {
			t.msg.warn("", name+" is ignored. Specify -extbinary to enable it")
		}
		return asked && extended
	}
	opt.Compress = enable(o.compress, "-compress-all-section")
	opt.MD5 = enable(o.useMD5, "-use-md5")
	if enable(o.partial, "-gen-partial-profile") {
		p.Kind.Partial = true
	}
	return opt, nil
}
