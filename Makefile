# make build      bin/profuse, without cgo
# make fleet      bin/profuse-fleet: profuse with drivers for buckets
# make release    dist/: archives and packages of a clean COMMIT (HEAD), built twice
# make test       all checks: oracles, lint, build, tests, races
# make bench      compares with llvm-profdata and others; bench-go: the Go benchmarks;
#                 bench-fleet: merges from a bucket; bench-compare: with revision BASE
# make demo       merges the shipped profiles and shows the result
# make lint       formatting, static checks, known vulnerabilities of dependencies
# make cover      the share of each package that the tests run; takes minutes
# make soak       all commands on damaged files, for MINUTES, from SEED
# make fuzz       every fuzz target for FUZZTIME
# make browsertest  reports in a real browser; PROFUSE_SCREENSHOTS=FOLDER for pictures
# make fleettest  the drivers for buckets against servers that run here
# make packagetest  packages install and run; the action for GitHub works
# make site       the documents as a web site in build/site, links checked; needs Node
# make pictures   the pictures of the README, of this build
# make testdata   makes testdata/irpgo again with the real compilers

GO        ?= go
FUZZTIME  ?= 30s
MINUTES   ?= 10
SEED      ?= 1
TESTFLAGS ?=

.PHONY: build fleet bench-fleet bench-compare release test browsertest fleettest packagetest race bench bench-go demo lint cover fuzz soak site pictures testdata oracles

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/profuse ./cmd/profuse

fleet:
	CGO_ENABLED=0 $(GO) build -C fleet -trimpath -o ../bin/profuse-fleet ./cmd/profuse-fleet

release:
	scripts/release.sh $(COMMIT)

# Runs slow tests, too. Comparisons with the real tools may be skipped only where
# a tool is missing: with all of them installed a skip is a failure. Fleets wait more
# than they compute, so other tests run beside them.
test browsertest fleettest packagetest cover: export PROFUSE_SLOW_TESTS = 1

test: oracles lint build
	PROFUSE_REQUIRE_ORACLE=$${PROFUSE_REQUIRE_ORACLE:-$$(scripts/install-oracles.sh --check 2>/dev/null && echo 1)} \
		$(GO) test -timeout 25m $(TESTFLAGS) ./...
	$(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),-Otarget) race fleettest browsertest packagetest

# In a separate module, so that the library does not depend on a browser driver.
# Skipped without Chromium, like the comparisons.
browsertest:
	cd browsertest && PROFUSE_REQUIRE_ORACLE=$${PROFUSE_REQUIRE_ORACLE:-$$(../scripts/install-oracles.sh --check 2>/dev/null && echo 1)} \
		$(GO) test -timeout 25m $(TESTFLAGS) ./...

# In a separate module, so that the library does not depend on those of the providers.
fleettest: export PROFUSE_REQUIRE_ORACLE := $(or $(PROFUSE_REQUIRE_ORACLE),$(shell scripts/install-oracles.sh --check 2>/dev/null && echo 1))
fleettest:
	cd fleet && $(GO) test -timeout 15m $(TESTFLAGS) ./...
	cd fleet/servers && $(GO) test -timeout 15m $(TESTFLAGS) ./...

# In a separate module, which needs what makes packages.
packagetest: export PROFUSE_REQUIRE_ORACLE := $(or $(PROFUSE_REQUIRE_ORACLE),$(shell scripts/install-oracles.sh --check 2>/dev/null && echo 1))
packagetest:
	cd packaging && $(GO) test -timeout 15m $(TESTFLAGS) ./...

# The race detector needs cgo and slows down starting processes, so it runs only the
# short tests of packages that share memory between goroutines: of the commands those
# that serve and watch, of irpgo and memprof those that merge and look up programs.
# At exit the detector waits a second, in which signals would end a process again.
race: export GORACE = atexit_sleep_ms=0
race:
	@if ! command -v gcc >/dev/null; then echo "race: no C compiler, skipped"; \
	else set -x; \
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m -run 'Watch|View|Serve|Concurrent' ./internal/command && \
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m ./internal/command/irpgocmd ./internal/command/mipcmd \
		./internal/command/memprofcmd ./internal/command/merging ./internal/covmap ./inputs ./merge ./internal/atomicfile ./internal/filelock ./mip ./internal/watch && \
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m -run 'Merge|CatalogsMixed|Trace' ./irpgo && \
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m -run 'ServedTwice|Progress' ./report && \
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m -run 'Merge|Binaries|Symboliz' ./memprof; fi

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
	scripts/lint.sh

cover:
	scripts/coverage.sh

fuzz:
	scripts/fuzz.sh $(FUZZTIME)

soak:
	$(GO) run ./bench/soak -minutes $(MINUTES) -seed $(SEED)

site:
	cd site && npm ci --no-audit --no-fund --ignore-scripts && npx vitepress build .

pictures:
	scripts/pictures.sh

testdata:
	scripts/make-irpgo-testdata.sh

oracles:
	scripts/install-oracles.sh
