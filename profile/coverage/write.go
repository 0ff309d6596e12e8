package coverage

import (
	"bufio"
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/sourcepath"
	"github.com/profuse-pgo/profuse/profile"
)

// A Format names a kind of file:
//
//	lcov       tracefile, see [Write]
//	cobertura  XML after coverage-04.dtd, for GitLab, Azure and Jenkins
//	sonar      XML of SonarQube's generic test coverage, version 1
//	codecov    JSON of Codecov's custom coverage format
//	coveralls  JSON of the job API of Coveralls, without the token
//	llvm-json  JSON of llvm-cov export, see [Coverage].LLVMJSON
type Format string

var formats = []struct {
	format Format
	write  func(io.Writer, *Coverage, WriteOptions) error
}{
	{"lcov", writeLCOV},
	{"cobertura", writeCobertura},
	{"sonar", writeSonar},
	{"codecov", writeCodecov},
	{"coveralls", writeCoveralls},
	{"llvm-json", writeLLVMJSON},
}

// Formats returns all formats.
func Formats() []Format {
	var all []Format
	for i := range formats {
		all = append(all, formats[i].format)
	}
	return all
}

// WriteOptions configures [Write]. The zero value suits most uses.
type WriteOptions struct {
	// Name returns the name to write for a function; nil means its name and
	// signature. Functions of one file with the same name are instances of one
	// source function: tracefiles have one function, with the sum of their calls.
	Name func(*profile.Symbol) string
	Test string // the name of the test for tracefiles, of letters, digits and underscores
	// Source returns the text of a source file, for the digests in files for Coveralls, and to leave out lines behind the
	// end of the source as [File.Exclude] does. Neither happens if Source is nil or returns an error.
	Source func(path string) ([]byte, error)
	// Behind, if not nil, is called for each file with the number of lines that were left out.
	Behind func(path string, lines int)
	// Roots are folders, such as the root of a repository. The names of files below a root are relative to the first
	// root that holds them, and Cobertura's document has the roots as sources.
	Roots []string
}

// inside returns the coverage without the lines behind the end of the sources.
func (o *WriteOptions) inside(c *Coverage) *Coverage {
	own := *c
	own.Files = slices.Clone(c.Files)
	for i, f := range own.Files {
		text, err := o.Source(f.Path)
		if err != nil {
			continue
		}
		f := *f
		if f.cut(countLines(text)); f.Behind > c.Files[i].Behind {
			own.Files[i] = &f
			if o.Behind != nil {
				o.Behind(f.Path, f.Behind-c.Files[i].Behind)
			}
		}
	}
	own.Finish()
	return &own
}

// relative returns the coverage with names relative to the roots.
func (o *WriteOptions) relative(c *Coverage) *Coverage {
	own, was := *c, make(map[string]string)
	own.Rename(func(name string) string {
		clean := sourcepath.Clean(name)
		for _, root := range o.Roots {
			if rest, ok := sourcepath.Below(clean, root); ok {
				was[rest] = name
				return rest
			}
		}
		return name
	})
	if source := o.Source; source != nil {
		o.Source = func(name string) ([]byte, error) { return source(cmp.Or(was[name], name)) }
	}
	return &own
}

// Write writes a coverage in a format. The same coverage gives the same bytes: the file
// has no time. The formats other than lcov have lines, with the number of ways of the branches
// on a line and the number of ways taken. Cobertura also has functions. Write omits what the format
// cannot express, such as branches on lines without a count.
//
// A tracefile has its records in lcov's order. The section of a file is
//
//	TN:TEST                         name of the test, which may be empty
//	SF:PATH                         the source file
//	FN:LINE,NAME                    a function
//	FNDA:CALLS,NAME                 its calls
//	FNF:N, FNH:N                    number of functions, and of functions that ran
//	BRDA:LINE,BRANCH,WAY,COUNT      a way of a branch; COUNT is "-" if the program did not reach the branch
//	BRF:N, BRH:N                    number of ways of branches, and of ways that the program took
//	DA:LINE,COUNT                   a line
//	LF:N, LH:N                      number of lines, and of lines that ran
//	end_of_record
//
// A file without branches or lines lacks their records. Tracefiles cannot hold line
// breaks in names; they are escaped as "\n" and "\r".
func Write(w io.Writer, c *Coverage, f Format, opt WriteOptions) error {
	for _, known := range formats {
		if known.format == f {
			if opt.Source != nil {
				c = opt.inside(c)
			}
			if len(opt.Roots) > 0 {
				c = opt.relative(c)
			}
			return known.write(w, c, opt)
		}
	}
	return fmt.Errorf("unknown format %q of coverage", f)
}

func writeLLVMJSON(w io.Writer, c *Coverage, _ WriteOptions) error {
	if c.LLVMJSON == nil {
		return errors.New("the format llvm-json is for LLVM profiles with their programs, as a whole: not for tracefiles, and without other paths or chosen functions")
	}
	return c.LLVMJSON(w)
}

func (o *WriteOptions) name(s *profile.Symbol) string {
	if o.Name != nil {
		return o.Name(s)
	}
	return s.String() + s.Signature
}

func writeXML(w io.Writer, doctype string, document any) error {
	out := bufio.NewWriter(w)
	out.WriteString(xml.Header + doctype)
	enc := xml.NewEncoder(out)
	enc.Indent("", " ")
	if err := enc.Encode(document); err != nil {
		return err
	}
	out.WriteByte('\n')
	return out.Flush()
}

func writeJSON(w io.Writer, document any) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(document); err != nil {
		return err
	}
	return out.Flush()
}

func (f *File) lineBranches() map[uint32][]*Branch {
	all := make(map[uint32][]*Branch)
	for i := range f.Branches {
		b := &f.Branches[i]
		all[b.Line] = append(all[b.Line], b)
	}
	return all
}

func waysOf(branches []*Branch) (r Ratio) {
	for _, b := range branches {
		for _, n := range b.Ways {
			r.Count(n > 0)
		}
	}
	return r
}

// The elements of Cobertura's documents. Attributes are in the order of the DTD.
type (
	coberturaRates struct {
		LineRate   string `xml:"line-rate,attr"`
		BranchRate string `xml:"branch-rate,attr"`
	}
	coberturaXML struct {
		XMLName xml.Name `xml:"coverage"`
		coberturaRates
		LinesCovered    int                `xml:"lines-covered,attr"`
		LinesValid      int                `xml:"lines-valid,attr"`
		BranchesCovered int                `xml:"branches-covered,attr"`
		BranchesValid   int                `xml:"branches-valid,attr"`
		Complexity      int                `xml:"complexity,attr"`
		Version         string             `xml:"version,attr"`
		Timestamp       int                `xml:"timestamp,attr"`
		Sources         []string           `xml:"sources>source"`
		Packages        []coberturaPackage `xml:"packages>package"`
	}
	coberturaPackage struct {
		Name string `xml:"name,attr"`
		coberturaRates
		Complexity int              `xml:"complexity,attr"`
		Classes    []coberturaClass `xml:"classes>class"`
	}
	coberturaClass struct {
		Name     string `xml:"name,attr"`
		Filename string `xml:"filename,attr"`
		coberturaRates
		Complexity int              `xml:"complexity,attr"`
		Methods    coberturaMethods `xml:"methods"`
		Lines      coberturaLines   `xml:"lines"`
	}
	coberturaMethods struct {
		Methods []coberturaMethod `xml:"method"`
	}
	coberturaMethod struct {
		Name      string `xml:"name,attr"`
		Signature string `xml:"signature,attr"`
		coberturaRates
		Complexity int            `xml:"complexity,attr"`
		Lines      coberturaLines `xml:"lines"`
	}
	coberturaLines struct {
		Lines []coberturaLine `xml:"line"`
	}
	coberturaLine struct {
		Number     uint32               `xml:"number,attr"`
		Hits       uint64               `xml:"hits,attr"`
		Branch     bool                 `xml:"branch,attr"`
		Coverage   string               `xml:"condition-coverage,attr,omitempty"`
		Conditions *coberturaConditions `xml:"conditions"`
	}
	coberturaConditions struct {
		Conditions []coberturaCondition `xml:"condition"`
	}
	coberturaCondition struct {
		Number   int    `xml:"number,attr"`
		Type     string `xml:"type,attr"`
		Coverage string `xml:"coverage,attr"`
	}
)

// rate returns a share as Cobertura writes it: 1 where there is nothing to run.
func rate(r Ratio) string {
	if r.Total == 0 {
		return "1"
	}
	return strconv.FormatFloat(r.Share(), 'g', 6, 64)
}

func newRates(s Summary) coberturaRates { return coberturaRates{rate(s.Lines), rate(s.Branches)} }

func percentOf(r Ratio) string { return fmt.Sprintf("%d%%", 100*r.Covered/max(r.Total, 1)) }

func writeCobertura(w io.Writer, c *Coverage, opt WriteOptions) error {
	const doctype = `<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">` + "\n"
	return writeXML(w, doctype, newCobertura(c, &opt))
}

// newCobertura makes a package of each folder and a class of each file.
func newCobertura(c *Coverage, opt *WriteOptions) *coberturaXML {
	sources := opt.Roots
	if len(sources) == 0 {
		sources = []string{"."}
	}
	doc := &coberturaXML{
		coberturaRates: newRates(c.Total),
		LinesCovered:   c.Total.Lines.Covered, LinesValid: c.Total.Lines.Total,
		BranchesCovered: c.Total.Branches.Covered, BranchesValid: c.Total.Branches.Total,
		Version: "profuse", Sources: sources, Packages: []coberturaPackage{},
	}
	folders := make(map[string][]*File)
	for _, f := range c.Files {
		dir := path.Dir(sourcepath.Slashed(f.Path))
		folders[dir] = append(folders[dir], f)
	}
	for _, dir := range sortedKeys(folders) {
		p := coberturaPackage{Name: dir}
		var total Summary
		for _, f := range folders[dir] {
			total.Add(f.Total)
			p.Classes = append(p.Classes, f.cobertura(opt.name))
		}
		p.coberturaRates = newRates(total)
		doc.Packages = append(doc.Packages, p)
	}
	return doc
}

func (f *File) cobertura(name func(*profile.Symbol) string) coberturaClass {
	class := coberturaClass{
		Name: path.Base(sourcepath.Slashed(f.Path)), Filename: f.Path, coberturaRates: newRates(f.Total),
	}
	branches := f.lineBranches()
	for _, l := range f.Lines {
		line := coberturaLine{Number: l.Number, Hits: l.Count}
		if on := branches[l.Number]; len(on) > 0 {
			ways := waysOf(on)
			line.Branch, line.Coverage = true, fmt.Sprintf("%s (%d/%d)", percentOf(ways), ways.Covered, ways.Total)
			line.Conditions = new(coberturaConditions)
			for i, b := range on {
				line.Conditions.Conditions = append(line.Conditions.Conditions, coberturaCondition{i, "jump", percentOf(waysOf([]*Branch{b}))})
			}
		}
		class.Lines.Lines = append(class.Lines.Lines, line)
	}
	for i := range f.Functions {
		// The line of a method has its calls, as other tools write it: the lines of its
		// body would be in the file once more for each instance.
		fn := &f.Functions[i]
		m := coberturaMethod{Name: name(&fn.Symbol), coberturaRates: coberturaRates{"0", "1"}}
		if fn.covered() {
			m.LineRate = "1"
		}
		if fn.StartLine > 0 {
			m.Lines.Lines = []coberturaLine{{Number: uint32(fn.StartLine), Hits: fn.Calls}}
		}
		class.Methods.Methods = append(class.Methods.Methods, m)
	}
	return class
}

// The elements of SonarQube's documents.
type (
	sonarXML struct {
		XMLName xml.Name    `xml:"coverage"`
		Version int         `xml:"version,attr"`
		Files   []sonarFile `xml:"file"`
	}
	sonarFile struct {
		Path  string      `xml:"path,attr"`
		Lines []sonarLine `xml:"lineToCover"`
	}
	sonarLine struct {
		Number   uint32 `xml:"lineNumber,attr"`
		Covered  bool   `xml:"covered,attr"`
		Branches *int   `xml:"branchesToCover,attr"`
		Ran      *int   `xml:"coveredBranches,attr"`
	}
)

func writeSonar(w io.Writer, c *Coverage, _ WriteOptions) error { return writeXML(w, "", newSonar(c)) }

func newSonar(c *Coverage) *sonarXML {
	doc := &sonarXML{Version: 1}
	for _, f := range c.Files {
		file := sonarFile{Path: f.Path}
		branches := f.lineBranches()
		for _, l := range f.Lines {
			line := sonarLine{Number: l.Number, Covered: l.Count > 0}
			if on := branches[l.Number]; len(on) > 0 {
				ways := waysOf(on)
				line.Branches, line.Ran = &ways.Total, &ways.Covered
			}
			if l.Number > 0 { // the schema wants positive numbers
				file.Lines = append(file.Lines, line)
			}
		}
		doc.Files = append(doc.Files, file)
	}
	return doc
}

// writeCodecov writes the count of each line, or "1/2" if the program took only a part
// of the ways of the line's branches.
func writeCodecov(w io.Writer, c *Coverage, _ WriteOptions) error {
	files := make(map[string]map[string]any, len(c.Files))
	for _, f := range c.Files {
		lines := make(map[string]any, len(f.Lines))
		branches := f.lineBranches()
		for _, l := range f.Lines {
			var value any = l.Count
			if ways := waysOf(branches[l.Number]); l.Count > 0 && ways.Covered < ways.Total {
				value = fmt.Sprintf("%d/%d", ways.Covered, ways.Total)
			}
			lines[strconv.FormatUint(uint64(l.Number), 10)] = value
		}
		files[f.Path] = lines
	}
	return writeJSON(w, map[string]any{"coverage": files})
}

// maxCoverallsLine is the greatest line of a file for Coveralls, whose lists have an element for each line.
const maxCoverallsLine = 1 << 22

type coverallsFile struct {
	Name     string    `json:"name"`
	Digest   string    `json:"source_digest,omitempty"` // MD5, in hex
	Coverage []*uint64 `json:"coverage"`                // by line, from line 1; null without code
	Branches []uint64  `json:"branches,omitempty"`      // line, block, branch and count of each way
}

func writeCoveralls(w io.Writer, c *Coverage, opt WriteOptions) error {
	files := []coverallsFile{}
	for _, f := range c.Files {
		file := coverallsFile{Name: f.Path, Coverage: []*uint64{}}
		if n := len(f.Lines); n > 0 {
			if last := f.Lines[n-1].Number; last > maxCoverallsLine {
				return errors.New(f.Path + ": has more lines than a file for Coveralls can list")
			}
			file.Coverage = make([]*uint64, f.Lines[n-1].Number)
		}
		for i := range f.Lines {
			if l := &f.Lines[i]; l.Number > 0 {
				file.Coverage[l.Number-1] = &l.Count
			}
		}
		line, block := uint32(0), uint64(0)
		for _, b := range f.Branches {
			if b.Line != line {
				line, block = b.Line, 0
			}
			for way, n := range b.Ways {
				file.Branches = append(file.Branches, uint64(b.Line), block, uint64(way), n)
			}
			block++
		}
		if opt.Source != nil {
			if text, err := opt.Source(f.Path); err == nil {
				sum := md5.Sum(text)
				file.Digest = hex.EncodeToString(sum[:])
			}
		}
		files = append(files, file)
	}
	return writeJSON(w, map[string]any{"source_files": files})
}
