package report

// PageIDs lists all pages.
func PageIDs() (ids []string) {
	for _, f := range pageFuncs {
		ids = append(ids, f.id)
	}
	for _, f := range pairFuncs {
		ids = append(ids, f.id)
	}
	return ids
}
