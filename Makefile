# Tidemill in one-word commands. `make` lists them. Builds lie in build/<preset>/, the program in build/release/bin/tidemill.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: help dependencies build demo test nightly bench check format tidy install clean

help:  ## This list
	@sed -n 's/^\([a-z]*\):.*##/make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

dependencies:  ## Install what is needed to build and is missing (as root or with sudo)
	@scripts/install-dependencies build

build: dependencies  ## Release build: build/release/bin/tidemill
	cmake --preset release
	cmake --build --preset release

demo:  ## Flights of 2013 through a job that is killed twice; the result must be exact
	@scripts/install-dependencies build
	cmake --preset release
	cmake --build --preset release --target tidemill
	@scripts/demo build/release/bin/tidemill build/demo

test:  ## All tests: release, crossing with real Spark, sanitizers, fuzzers; what CI runs
	@scripts/install-dependencies test
	@scripts/test

nightly:  ## The tests with their long counts, and headers that compile alone
	@scripts/install-dependencies test
	@scripts/test --long

bench:  ## Compare with Spark on this machine (minutes); results in bench/results/
	@scripts/install-dependencies test
	cmake --preset release
	cmake --build --preset release
	bench/run

check:  ## Layers, unused files, sizes of files and functions: seconds
	python3 cmake/check_layers.py
	python3 cmake/check_sizes.py
	python3 cmake/check_errors.py

format:  ## Lay out all C++ files by .clang-format
	git ls-files '*.h' '*.cc' | xargs clang-format-14 -i

tidy:  ## clang-tidy over all C++ files (long)
	cmake --preset dev
	git ls-files 'src/*.cc' | xargs -P $$(nproc) -n 4 clang-tidy-14 -p build/dev --quiet

install: build  ## Install the program and the Arrow libraries that it needs below PREFIX (/usr/local)
	DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

clean:  ## Remove all builds
	rm -rf build
