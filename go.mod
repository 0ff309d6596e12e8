module github.com/profuse-pgo/profuse

go 1.26
