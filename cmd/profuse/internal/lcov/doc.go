// Package lcov writes coverage as the tracefiles of lcov.
package lcov
