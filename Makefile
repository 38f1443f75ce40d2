# SPDX-License-Identifier: Apache-2.0
# A thin front end to meson and ninja.
#
#   make            build/tmesis and the library
#   make demo       install what is missing, build, and watch a bank lose money
#   make test       install what is missing, build, run every test
#   make test-long  many more random traces and programs made of them, and packages: SEED=… N=… WOVEN=…
#   make fuzz       fuzz a reader with libFuzzer, FORMAT=std TIME=60: of traces (std, rr,
#                   regiontrack, tms), of specifications (spec), of spools of watched
#                   processes (spool), of results (result), of programs (program), of response
#                   files (response)
#   make bench      measure speed and memory
#   make bench-engines  every engine on every preset, as tables
#   make bench-overhead  overhead of watched programs, compared with ThreadSanitizer
#   make bench-scaling  how that grows with locks, blocks, memory and threads
#   make bench-soak  what memory a watched program takes in ten minutes
#   make bench-predict  what the predicting engines find in the examples, and their cost
#   make install    prefix=/usr/local, DESTDIR=
#   make format     clang-format on all C files

prefix  ?= /usr/local
DESTDIR ?=
SEED    ?= 1
N       ?= 1000000
WOVEN   ?= 5000
FORMAT  ?= std
TIME    ?= 60

NINJA = ninja --quiet
# Silent on success; prints meson's whole output on failure.
SETUP = setup() { said=$$(meson setup --prefix=$(prefix) "$$@" 2>&1) || { echo "$$said"; exit 1; }; }; setup

.PHONY: all asan deps demo test test-long fuzz bench bench-engines bench-overhead \
	bench-predict bench-scaling bench-soak install format clean

all: build/build.ninja
	@$(NINJA) -C build

asan: build-asan/build.ninja
	@$(NINJA) -C build-asan

build/build.ninja:
	@$(SETUP) build

build-asan/build.ninja:
	@$(SETUP) build-asan --buildtype=debug -Doptimization=1 -Db_sanitize=address,undefined

build-fuzz/build.ninja:
	@command -v clang >/dev/null || { echo "make fuzz needs clang: apt-get install clang"; exit 1; }
	@export CC=clang CFLAGS=-fsanitize=fuzzer-no-link; \
	$(SETUP) build-fuzz --buildtype=debug -Doptimization=1 -Db_lundef=false -Db_sanitize=address,undefined

deps:
	@scripts/install-deps

# Builds only what the demo needs, without tests and manual pages.
demo: deps
	@$(MAKE) --no-print-directory build/build.ninja
	@$(NINJA) -C build tmesis runtime/libtmesis-rt.a runtime/libtmesis-preload.so runtime/gcc.specs \
		runtime/libstdcxx.h
	@scripts/demo

test: deps
	@$(MAKE) --no-print-directory all asan
	@tests/run

test-long: all
	@build/tests/differential --seed $(SEED) --count $(N)
	@tests/weave/run --seed $(SEED) --count $(WOVEN) --others $(WOVEN) >build/woven.tap; \
	status=$$?; grep -v '^ok' build/woven.tap; exit $$status
	@EXAMPLE_RUNS=50 tests/examples/run >build/examples.tap; \
	status=$$?; grep -v '^ok' build/examples.tap; exit $$status
	@tests/hunt/run --fixed 200 >build/hunt.tap; \
	status=$$?; grep -v '^ok' build/hunt.tap; exit $$status
	@FORK_RUNS=20 tests/harm/run 'a child does not wait for locks*' >build/harm.tap; \
	status=$$?; grep -v '^ok' build/harm.tap; exit $$status
	@REPORT_SECONDS=2 bats -f '5,000 findings' tests/e2e/reports.bats
	@tests/e2e/reports/sarif-schema
	@tests/hunt/prove
	@tests/hunt/slurm
	@tests/packaging/debian
	@tests/packaging/debian --chroot
	@tests/packaging/container
	@tests/schedule/pct --runs 2000 --alarm 0.01
	@tests/weave/mutate
	@tests/judge/mutate

fuzz: build-fuzz/build.ninja
	@$(NINJA) -C build-fuzz tests/fuzz-$(FORMAT)
	@mkdir -p build-fuzz/found/$(FORMAT)
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	    build-fuzz/tests/fuzz-$(FORMAT) -max_total_time=$(TIME) -timeout=10 -print_final_stats=1 \
	    -artifact_prefix=build-fuzz/ build-fuzz/found/$(FORMAT) tests/fuzz/corpus/$(FORMAT)

bench: all
	@bench/run

bench-engines: all
	@bench/engines

bench-overhead: all
	@bench/overhead

bench-scaling: all
	@bench/scaling

bench-soak: all
	@bench/soak

bench-predict: all
	@bench/predict

install: all
	@meson configure build --prefix=$(prefix)
	@meson install -C build $(if $(DESTDIR),--destdir=$(abspath $(DESTDIR)))

format:
	@clang-format -i $$(tests/lint/files '*.c' '*.h')

clean:
	@rm -rf build build-asan build-fuzz
