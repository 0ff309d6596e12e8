package instrument

import (
	"bytes"
	"strconv"
)

// cutBlocks takes the marked blocks out of the function and appends them to the
// end of the file.
func (s *splitter) cutBlocks(flags string) {
	s.cutFromHot()
	name := s.coldName()
	t := s.tailText
	line := func(parts ...string) {
		for _, p := range parts {
			t = append(t, p...)
		}
		t = append(t, '\n')
	}
	syntax := s.syntaxBefore(len(s.stmts))
	start := useStem + strconv.Itoa(int(s.id))
	line("\t.section\t", quoteLike(nil, ".text.unlikely."+s.fn.name), ",", flags)
	line("\t.type\t", name, ", @function")
	line(name, ":")
	line(start, "s:")
	unwinds := s.cfi.procedures > 0
	needsTable := s.needsTable()
	if unwinds {
		line("\t.cfi_startproc")
	}
	if needsTable {
		line("\t", string(s.cfi.personality))
		encoding, _, _ := bytes.Cut(bytes.TrimPrefix(s.cfi.lsda, []byte(".cfi_lsda")), []byte(","))
		line("\t.cfi_lsda ", string(bytes.TrimSpace(encoding)), ", ", start, "t")
	}
	current := &cfiState{offset: initialCFAOffset}
	var sites []callSite
	open := -1 // index of the call site being printed
	hasLines := false
	for b := range s.parts {
		if !s.cut[b] {
			continue
		}
		fresh := !s.cut[b-1]
		line(s.startLabel(b), ":")
		for _, i := range s.own[s.parts[b].first:s.parts[b].last] {
			st := &s.stmts[i]
			text := s.text(st)
			_, isCode := s.state[i]
			switch {
			case isCode:
				if unwinds && !s.state[i].equal(current) {
					t = appendCFI(t, current, s.state[i])
					current = s.state[i]
				}
				if fresh && s.locs[i] != nil {
					line("\t", plainLoc(s.locs[i]))
				}
				fresh = false
				hasLines = hasLines || s.locs[i] != nil
				if needsTable {
					through := siteOf(s.sites, i) == siteThrough
					if open >= 0 && !through {
						line(start, "e", strconv.Itoa(open), ":")
						open = -1
					} else if open < 0 && through {
						open = len(sites)
						sites = append(sites, callSite{})
						line(start, "b", strconv.Itoa(open), ":")
					}
				}
				t, syntax = appendSyntax(t, syntax, st.syntax)
				line("\t", string(text))
			case st.kind == stmtLabel:
				if id := s.labels.find(unquote(text)); s.ties[id]&goesAlong != 0 {
					line(string(text), ":")
				}
			case st.kind == stmtDirective && isLoc(text):
				line("\t", string(text))
				fresh = false
			}
		}
		if next := b + 1; s.parts[b].falls && next < len(s.parts) && !s.cut[next] {
			line("\tjmp\t", s.startLabel(next))
		}
	}
	if open >= 0 {
		line(start, "e", strconv.Itoa(open), ":")
	}
	line(start, "z:")
	if unwinds {
		line("\t.cfi_endproc")
	}
	line("\t.size\t", name, ", ", start, "z-", start, "s")
	t, _ = appendSyntax(t, syntax, s.syntaxBefore(len(s.stmts)))
	if needsTable {
		t = s.appendTable(t, start, flags, len(sites))
	}
	s.tailText = t
	if hasLines {
		s.coldUnits = append(s.coldUnits, coldUnit{name: s.fn.name, label: start})
	}
}

// cutFromHot prepares the edits to what stays of the function.
func (s *splitter) cutFromHot() {
	insert := func(pos int, text string) { s.edits = append(s.edits, edit{pos, pos, text}) }
	remove := func(i int32) { s.edits = append(s.edits, s.wholeLine(int(s.stmts[i].pos), int(s.stmts[i].end))) }
	current := &cfiState{offset: initialCFAOffset}
	resumed, begun := false, -1
	for k, i := range s.own {
		st := &s.stmts[i]
		text := s.text(st)
		b := int(s.block[k])
		_, isCode := s.state[i]
		if b >= 0 && s.cut[b] {
			resumed = true
			switch {
			case isCode, st.kind == stmtDirective && (isLoc(text) || isAlignment(text)):
				remove(i)
			case st.kind == stmtLabel:
				if id := s.labels.find(unquote(text)); s.ties[id]&goesAlong != 0 {
					s.edits = append(s.edits, s.wholeLine(int(st.pos), skipBlanks(s.src, int(st.end))+1))
				}
			case st.kind == stmtDirective && s.changesCFI(text):
				remove(i)
			}
			continue
		}
		switch {
		case st.kind == stmtDirective && st.opaque == transparent && isLoc(text):
			resumed = false
		case st.kind == stmtDirective && st.opaque == transparent && s.changesCFI(text):
			remove(i)
		case isCode:
			var add []byte
			if b >= 0 && b != begun {
				begun = b
				if b > 0 && s.cut[b-1] && s.parts[b-1].falls {
					add = append(append(add, s.startLabel(b)...), ":\n"...)
				}
			}
			if s.cfi.procedures > 0 && !s.state[i].equal(current) {
				add = appendCFI(add, current, s.state[i])
				current = s.state[i]
			}
			if resumed && s.locs[i] != nil {
				add = append(append(append(add, '\t'), plainLoc(s.locs[i])...), '\n')
			}
			resumed = false
			if len(add) > 0 {
				insert(int(st.pos), "\n"+string(add)+"\t")
			}
		}
	}
	for b := 0; b+1 < len(s.parts); b++ {
		if s.cut[b] || !s.cut[b+1] {
			continue
		}
		to := b + 1
		for to < len(s.parts) && s.cut[to] {
			to++
		}
		s.join(b, to, insert, remove)
	}
}

// join makes the code right between block b, which stays, and block to, the
// next that does.
func (s *splitter) join(b, to int, insert func(int, string), remove func(int32)) {
	p := &s.parts[b]
	last := s.own[p.end]
	word, target := s.lastBranch(b)
	cold := s.startLabel(b + 1)
	switch mnemonic, ok := s.inverted(b, to); {
	case ok:
		st := &s.stmts[last]
		s.edits = append(s.edits, edit{int(st.pos), int(st.end), mnemonic + "\t" + cold})
	case p.falls:
		insert(int(s.stmts[last].end), "\n\tjmp\t"+cold)
	case word == "jmp" && to < len(s.parts) && s.leadsTo(target, to):
		remove(last)
	}
}

// changesCFI reports whether a directive changes the state that is printed
// anew.
func (s *splitter) changesCFI(text []byte) bool {
	if !isCFI(text) {
		return false
	}
	word, _ := splitWord(text)
	switch string(word) {
	case ".cfi_startproc", ".cfi_endproc", ".cfi_personality", ".cfi_lsda":
		return false
	}
	return true
}

// wholeLine returns the edit that removes a statement, with its line if nothing
// else is there but a comment.
func (s *splitter) wholeLine(pos, end int) edit {
	from, to := pos, skipBlanks(s.src, end)
	for from > 0 && (s.src[from-1] == ' ' || s.src[from-1] == '\t') {
		from--
	}
	if from > 0 && s.src[from-1] != '\n' || to < len(s.src) && s.src[to] != '\n' && s.src[to] != '#' {
		return edit{pos, end, ""}
	}
	return edit{from, min(lineEnd(s.src, to)+1, len(s.src)), ""}
}

func isLoc(text []byte) bool {
	word, _ := splitWord(text)
	return string(word) == ".loc"
}

// plainLoc returns a .loc directive without what belongs to the place where it
// stood: view numbers, and marks of prologue and epilogue.
func plainLoc(text []byte) string {
	fields := bytes.Fields(text)
	n := 1
	for n < len(fields) && n <= 3 && isDigit(fields[n][0]) { // file, line, column
		n++
	}
	keep := fields[:n:n]
	for i := n; i+1 < len(fields); i++ {
		if name := string(fields[i]); name == "is_stmt" || name == "discriminator" || name == "isa" {
			keep = append(keep, fields[i], fields[i+1])
			i++
		}
	}
	return string(bytes.Join(keep, []byte(" ")))
}

// syntaxBefore is the syntax at statement i, or the end.
func (s *splitter) syntaxBefore(i int) x86Syntax {
	if i == 0 {
		return attPrefix
	}
	syntax := s.stmts[i-1].syntax
	if st := &s.stmts[i-1]; st.kind == stmtDirective {
		switch string(s.text(st)) { // the directive itself has that before it
		case ".att_syntax", ".att_syntax prefix":
			syntax = attPrefix
		case ".intel_syntax noprefix":
			syntax = intelNoPrefix
		}
	}
	return syntax
}

// appendSyntax changes from one syntax to another.
func appendSyntax(dst []byte, from, to x86Syntax) ([]byte, x86Syntax) {
	if from == to {
		return dst, to
	}
	return append(dst, map[x86Syntax]string{
		attPrefix: "\t.att_syntax prefix\n", attNoPrefix: "\t.att_syntax noprefix\n",
		intelPrefix: "\t.intel_syntax prefix\n", intelNoPrefix: "\t.intel_syntax noprefix\n",
	}[to]...), to
}

// needsTable reports whether the cold part needs an exception table: without
// one, exceptions pass through.
func (s *splitter) needsTable() bool {
	if s.cfi.lsda == nil || s.cfi.personality == nil {
		return false
	}
	for b := range s.parts {
		if !s.cut[b] {
			continue
		}
		for _, i := range s.own[s.parts[b].first:s.parts[b].last] {
			if _, isCode := s.state[i]; isCode && siteOf(s.sites, i) == siteNone {
				return true
			}
		}
	}
	return false
}

// appendTable prints an exception table with entries that let exceptions pass.
func (s *splitter) appendTable(t []byte, start, flags string, sites int) []byte {
	line := func(parts ...string) {
		for _, p := range parts {
			t = append(t, p...)
		}
		t = append(t, '\n')
	}
	table := `"a",@progbits`
	if group, ok := bytes.CutPrefix([]byte(flags), []byte(`"axG",@progbits,`)); ok {
		table = `"aG",@progbits,` + string(group)
	}
	line("\t.section\t", quoteLike(nil, ".gcc_except_table."+s.fn.name+".cold"), ",", table)
	line("\t.p2align\t2")
	line(start, "t:")
	line("\t.byte\t255, 255, 1") // no base, no types, ULEB128
	line("\t.uleb128 ", start, "y-", start, "x")
	line(start, "x:")
	for i := range sites {
		n := strconv.Itoa(i)
		line("\t.uleb128 ", start, "b", n, "-", start, "s")
		line("\t.uleb128 ", start, "e", n, "-", start, "b", n)
		line("\t.byte\t0, 0")
	}
	line(start, "y:")
	return t
}
