package iprof
