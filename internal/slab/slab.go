// Package slab gives out slices that stay valid, many of them in one allocation.
package slab

import "slices"

// length is how many values are allocated at once.
const length = 1024

// A Slab allocates values in pieces. It uses no memory again but after [Slab.Reset]: a piece is
// freed when nothing refers to any of its values. The zero value is ready to use.
type Slab[T any] struct {
	free  []T
	piece []T // that free is the end of
}

// Make returns a slice of n zero values, without room for more.
func (s *Slab[T]) Make(n int) []T {
	if n > len(s.free) {
		if n > length/4 {
			return make([]T, n)
		}
		s.piece = make([]T, length)
		s.free = s.piece
	}
	made := s.free[:n:n]
	s.free = s.free[n:]
	return made
}

// Reset ends the life of all slices made so far: their memory may be used again.
func (s *Slab[T]) Reset() {
	clear(s.piece[:len(s.piece)-len(s.free)])
	s.free = s.piece
}

// New returns a pointer to a value of its own. Iterators take New or what [Reused] returns to make what they yield.
func New[T any]() *T { return new(T) }

// Reused returns a function that returns the same pointer at every call.
func Reused[T any]() func() *T {
	v := new(T)
	return func() *T { return v }
}

// ReusedMake returns what stands in for [Slab.Make] where the next slice may overwrite the one before. The values are not zero.
func ReusedMake[T any]() func(n int) []T {
	var made []T
	return func(n int) []T {
		made = slices.Grow(made[:0], n)[:n]
		return made
	}
}
