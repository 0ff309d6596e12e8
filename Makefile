# make build      bin/profuse, without cgo
# make fleet      bin/profuse-fleet: profuse with drivers for buckets
# make release    dist/: archives and packages of a clean COMMIT (HEAD), built twice
# make test       installs the real tools and runs all tests, races and lint
# make test-all   the same with exhaustive tests: more compilers, options and random inputs; takes an hour
# make bench      compares with llvm-profdata and others; bench-go: the Go benchmarks;
#                 bench-fleet: merges from a bucket; bench-compare: with revision BASE
# make demo       merges the shipped profiles and shows the result
# make lint       formatting, static checks, known vulnerabilities of dependencies
# make lint-everywhere  static checks for other systems and of the nested modules
# make cover      the share of each package that the tests run; takes minutes
# make soak       all commands on damaged files, for MINUTES, from SEED
# make fuzz       every fuzz target for FUZZTIME
# make browsertest  reports in a real browser; PROFUSE_SCREENSHOTS=FOLDER for pictures
# make fleettest  the drivers for buckets against servers that run here
# make packagetest  packages install and run; the action for GitHub works
# make site       the documents as a web site in bin/site, links checked; needs Node
# make pictures   the pictures of the README, of this build
# make testdata   makes testdata/irpgo again with the real compilers

GO        ?= go
FUZZTIME  ?= 30s
MINUTES   ?= 10
SEED      ?= 1
TESTFLAGS ?=

.PHONY: build fleet bench-fleet bench-compare release test test-all browsertest fleettest packagetest race bench bench-go demo lint lint-everywhere cover fuzz soak site pictures testdata oracles

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/profuse ./cmd/profuse

fleet:
	CGO_ENABLED=0 $(GO) build -C fleet -trimpath -o ../bin/profuse-fleet ./cmd/profuse-fleet

release:
	build/scripts/release.sh $(COMMIT)

# Runs slow tests, too. Comparisons with the real tools may be skipped only where
# a tool is missing: with all of them installed a skip is a failure. Fleets wait more
# than they compute, so other tests run beside them.
test browsertest fleettest packagetest: export PROFUSE_SLOW_TESTS ?= 1
cover: export PROFUSE_SLOW_TESTS = all

# required sets PROFUSE_REQUIRE_ORACLE=1 for a command if no tool is missing.
required = PROFUSE_REQUIRE_ORACLE=$${PROFUSE_REQUIRE_ORACLE:-$$($(CURDIR)/build/scripts/install-oracles.sh --check 2>/dev/null && echo 1)}

# The tests come first, so that a failure shows after minutes. Lint needs what the tests
# have compiled and little more.
test: oracles build
	@echo "== tests of the main module: a line for each package, with its time"
	$(required) $(GO) test -timeout 25m $(TESTFLAGS) ./...
	@echo "== races, and tests of the nested modules"
	$(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),-Otarget) race fleettest browsertest packagetest
	@echo "== lint"
	$(MAKE) --no-print-directory lint

test-all:
	PROFUSE_SLOW_TESTS=all $(MAKE) --no-print-directory test

# In a separate module, so that the library does not depend on a browser driver.
# Skipped without Chromium, like the comparisons.
browsertest:
	cd test/browser && $(required) $(GO) test -timeout 25m $(TESTFLAGS) ./...

# In a separate module, so that the library does not depend on the SDKs of the providers.
fleettest:
	cd fleet && $(required) $(GO) test -timeout 15m $(TESTFLAGS) ./...
	cd fleet/servers && $(required) $(GO) test -timeout 15m $(TESTFLAGS) ./...

# In a separate module, which needs what makes packages.
packagetest:
	cd build/packaging && $(required) $(GO) test -timeout 15m $(TESTFLAGS) ./...

# The race detector needs cgo and slows down starting processes, so it runs only the
# short tests of packages that share memory between goroutines: of the commands those
# that serve and watch, of irpgo and memprof those that merge and look up programs.
# At exit the detector waits a second, in which signals would end a process again.
race: export GORACE = atexit_sleep_ms=0
race:
	@if ! command -v gcc >/dev/null; then echo "race: no C compiler, skipped"; \
	else set -x; \
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m -run 'Watch|View|Serve|Concurrent' ./internal/command && \
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m ./internal/command/family/irpgocmd ./internal/command/family/mipcmd \
		./internal/command/family/memprofcmd ./internal/command/merging ./internal/program/covmap ./inputs ./merge ./internal/files/atomicfile ./internal/files/filelock ./formats/mip ./internal/watch && \
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m -run 'Merge|CatalogsMixed|Trace' ./formats/irpgo && \
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m -run 'ServedTwice|Progress' ./profile/report && \
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m -run 'Merge|Binaries|Symboliz' ./formats/memprof; fi

# Takes minutes the first time, when it compiles and runs programs.
bench:
	$(GO) run ./bench/irpgo

# Compares the CPU time of the working tree with that of BASE, in pairs of runs, and fails
# where it is more by 3 %, with confidence.
bench-compare:
	$(GO) run ./bench/irpgo -base $(BASE)

# Merges from a bucket on this machine.
bench-fleet:
	cd fleet && $(GO) run ./bench

bench-go:
	$(GO) test -run '^$$' -bench . -benchmem ./...

demo:
	$(GO) run ./cmd/profuse demo

lint:
	build/scripts/lint.sh

lint-everywhere:
	build/scripts/lint.sh --everywhere

cover:
	build/scripts/coverage.sh

fuzz:
	build/scripts/fuzz.sh $(FUZZTIME)

soak:
	$(GO) run ./bench/soak -minutes $(MINUTES) -seed $(SEED)

site:
	cd build/site && npm ci --no-audit --no-fund --ignore-scripts && npx vitepress build .

pictures:
	build/scripts/pictures.sh

testdata:
	build/scripts/make-irpgo-testdata.sh

oracles:
	build/scripts/install-oracles.sh
