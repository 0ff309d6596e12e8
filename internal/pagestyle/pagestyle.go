// Package pagestyle holds the style of pages: colours in light and dark, the frame, tables,
// and sources with their counts. The report and the pages of llvm-cov share it.
package pagestyle

import "embed"

// Files are report.css and, for pages with sources, coverage.css.
//
//go:embed *.css
var Files embed.FS
