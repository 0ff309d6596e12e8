// Package ordering writes orders of functions for linkers.
package ordercmd
