// Package coverage prints what of a program ran: functions, their places in the
// sources, and tracefiles of lcov.
package coverage
