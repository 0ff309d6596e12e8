package llvmprofdata

import (
	"errors"
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/internal/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/sampleprof"
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

type sampleLayout int

const (
	asIsLayout sampleLayout = iota
	nestLayout
	flatLayout
)

// An endingFailure ends the run whatever the failure mode.
type endingFailure struct{ *failure }

func (f endingFailure) Unwrap() error { return f.failure }

// readSample reads a sample profile. It words all failures as LLVM does.
func (t *tool) readSample(name string) (p *sampleprof.Profile, err error) {
	o := &t.opt.sample
	err = t.read(name, func(data []byte) error {
		var err error
		p, err = sampleprof.Read(name, data, sampleprof.ReadOptions{
			Lenient: true, FlowDiscriminators: o.flowSensitive, DiscriminatorBits: o.discriminatorBits,
		})
		return err
	})
	if f := (*failure)(nil); err == nil || errors.As(err, &f) {
		return p, err
	}
	why := llvmerr.SampleFailure(err)
	whence := name
	if fe := (*profile.FormatError)(nil); errors.As(err, &fe) && fe.Line > 0 && why.Ends {
		whence = fmt.Sprintf("%s:%d", name, fe.Line)
	}
	f := &failure{whence: whence, message: why.Text}
	if why.Ends {
		return nil, endingFailure{f}
	}
	return nil, f
}

// mergeSamples runs the merge command for sample profiles.
func (t *tool) mergeSamples(list worklist) error {
	rename, err := t.remapping()
	if err != nil {
		return err
	}
	m := sampleprof.NewMerger(sampleprof.MergeOptions{LLVMCompat: true, Rename: rename, Warn: func(w profile.Warning) {
		t.msg.plain("%s: %s: %s", w.File, w.Function, llvmerr.SampleFailure(w.Err).Text)
	}})
	for _, in := range list {
		p, err := t.readSample(in.name)
		if f := (*failure)(nil); err != nil && t.opt.failureMode != failAny && !errors.As(err, new(endingFailure)) && errors.As(err, &f) {
			t.msg.warn(f.whence, f.message)
			continue
		}
		if err != nil {
			return err
		}
		if t.opt.sample.dropSymbols {
			p.Symbols = nil
		}
		if _, err := m.AddProfile(in.name, p, in.weight); err != nil {
			return &failure{message: kindWords(err)}
		}
	}
	p := m.Profile()
	if err := t.reshape(p); err != nil {
		return err
	}
	opt, err := t.sampleOutput(p)
	if err != nil {
		return err
	}
	return t.writeOutput(func(out *output) error {
		if err := p.Write(out, opt); err != nil {
			return &failure{message: llvmerr.SampleFailure(err).Text}
		}
		return nil
	})
}

// kindWords words the failure of merging or comparing profiles of different kinds.
func kindWords(err error) string {
	var e *sampleprof.KindError
	if errors.As(err, &e) && e.Differ.Has(sampleprof.ProbeBased) {
		return "cannot merge probe-based profile with non-probe-based profile"
	}
	return "cannot merge CS profile with non-CS profile"
}

// reshape does what options ask for between merging and writing.
func (t *tool) reshape(p *sampleprof.Profile) error {
	o := &t.opt.sample
	p.TrimColdContexts(sampleprof.ColdContexts{Merge: o.mergeCold, Frames: int(o.coldFrames), Trim: o.trimCold})
	switch o.layout {
	case flatLayout:
		p.Flatten()
	case nestLayout:
		p.Nest()
	}
	want, reject, err := t.filters()
	if err != nil || want == nil && reject == nil {
		return err
	}
	all := len(p.Functions)
	p.Keep(func(f *sampleprof.Function) bool {
		name := f.Label()
		return (reject == nil || !reject(name)) && (want == nil || want(name))
	})
	t.msg.plain("%d of %d functions in the original profile are filtered.", all-len(p.Functions), all)
	return nil
}

// sampleOutput adds the listed symbols and returns how to write the profile. It warns of
// options that the format cannot fulfil.
func (t *tool) sampleOutput(p *sampleprof.Profile) (opt sampleprof.WriteOptions, err error) {
	o := &t.opt.sample
	opt = sampleprof.WriteOptions{Format: sampleprof.FormatExtended, SizeLimit: o.sizeLimit, VTables: o.vtables}
	switch t.opt.format {
	case textFormat:
		opt.Format = sampleprof.FormatText
	case binaryFormat:
		opt.Format = sampleprof.FormatBinary
		if p.Kind&(sampleprof.ContextSensitive|sampleprof.ProbeBased) != 0 {
			return opt, &failure{whence: t.opt.output, message: llvmerr.SampleWriting.Text}
		}
	}
	if o.symbols != "" {
		text, err := t.readList(o.symbols)
		if err != nil {
			return opt, inFile(err, o.symbols)
		}
		var names []string
		for line := range strings.SplitSeq(string(text), "\n") {
			if line != "" {
				names = append(names, strings.Trim(line, " \t\v\f\r"))
			}
		}
		p.AddSymbols(names...)
	}
	if o.split && opt.Format == sampleprof.FormatBinary {
		t.msg.warn("", "-split-layout is ignored. Specify -extbinary to enable it")
	}
	opt.Split = o.split
	extended := opt.Format == sampleprof.FormatExtended
	if len(p.Symbols) > 0 && !extended {
		t.msg.warn("", "Profile Symbol list is not empty but the output format is not ExtBinary format. The list will be lost in the output. ")
	}
	enable := func(asked bool, name string) bool {
		if asked && !extended {
			t.msg.warn("", name+" is ignored. Specify -extbinary to enable it")
		}
		return asked && extended
	}
	opt.Compress = enable(o.compress, "-compress-all-section")
	opt.MD5 = enable(o.useMD5, "-use-md5")
	if enable(o.partial, "-gen-partial-profile") {
		p.Kind |= sampleprof.Partial
	}
	return opt, nil
}
