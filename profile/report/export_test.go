package report

// PageIDs lists all pages.
func PageIDs() (ids []string) {
	for _, f := range pageFuncs {
		ids = append(ids, f.id)
	}
	return append(ids, comparisonID)
}
