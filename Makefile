# `make demo`, `make fleet-demo` and `make test` need nothing but Python 3.10+, git and make. Each sets up .venv by itself.

.DEFAULT_GOAL := help
SHELL := /bin/bash
SUITABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))
PYTHON ?= $(shell for name in python3 python3.{14,13,12,11,10} python; do \
	$$name -c '$(SUITABLE)' 2>/dev/null && echo $$name && break; done)
BIN := .venv/bin
READY := .venv/.devfix-installed
PART ?= 1/1
PAGES := tests/registry/test_rule_pages.py

.PHONY: help setup demo fleet-demo test test-daily test-all test-slow test-pages test-exhaustive lint docs corpus corpus-quick wild hostile bench harm fuzz mutate scale lock format clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# pip would compile 18,000 files in one process, in half of its time. What cannot be compiled is a template or a test.
$(READY): pyproject.toml setup.py constraints.txt
	@test -n "$(PYTHON)" || { echo "devfix needs Python 3.10 or newer with venv: make PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -c '$(SUITABLE)' || { echo "$(PYTHON): not Python 3.10 or newer with venv"; exit 1; }
	@echo "Setting up .venv: torch is large, the first time takes minutes"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt --editable '.[dev]'
	@$(BIN)/python -m compileall -qq -j 4 .venv/lib src || true
	@touch $@

setup: $(READY) ## Set up .venv, which every other target does by itself

demo: $(READY) ## Repair a small program with two device bugs, on simulated GPUs, in a copy
	@copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT && \
	cp -R corpus/hello/. "$$copy" && cd "$$copy" && rm -f case.toml && git init --quiet && git add --all && \
	git -c user.name=demo -c user.email=demo@localhost commit --quiet --message "A program with two device bugs" && \
	$(CURDIR)/$(BIN)/devfix repair . --world simulated && \
	echo && git log --oneline --branches && \
	echo && echo "This was a temporary copy, which is removed now. Your own program: $(BIN)/devfix repair PATH"

fleet-demo: $(READY) ## Repair 20 programs of the corpus as 20 repositories of a fleet on this machine, and open the report
	@$(BIN)/python benchmarks/fleet_demo.py

test: $(READY) ## Check style, types and layers, and run what guards daily work: two and a half minutes
	@$(MAKE) --no-print-directory --jobs 2 lint test-daily

# A third process, since tests wait for programs that they start. One that has nothing left takes tests of another: by
# xdist's default two of them were idle for the last third of five minutes.
test-daily: $(READY)
	@$(BIN)/python -m pytest --quiet -n 3 --dist worksteal -m "not slow and not exhaustive"

test-all: test test-pages test-slow ## The same, and the tests that start many programs: an hour

test-pages: $(READY) ## Repair the cases on the rules' pages
	@$(BIN)/python -m pytest --quiet -n 2 --dist worksteal -m "not exhaustive" $(PAGES)

# Tests of one file run in one process: they share repairs, which each process would do for itself. A third process, since
# tests wait for programs that they start: two used 1.6 of 2 cores. Files with few tests take longest, and would come last.
test-slow: $(READY) ## The other tests that start many programs; PART=2/4: the second quarter of their files
	@$(BIN)/python -m pytest --quiet -n 3 --dist loadfile --no-loadscope-reorder --part $(PART) --durations 30 -m "slow and not exhaustive" --ignore $(PAGES)

test-exhaustive: $(READY) ## Every operator, every program, kills at many points: hours
	@$(BIN)/python -m pytest --quiet -m exhaustive

lint: $(READY) ## Check style, types and layers
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check . || { echo "try: make format"; exit 1; }
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-cache > .venv/lint-imports.log || { cat .venv/lint-imports.log; exit 1; }

docs: $(READY) ## Build the documentation into build/docs/site; warnings are errors
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	@$(BIN)/python scripts/build_docs.py

corpus: $(READY) ## Repair a copy of every case of the corpus and compare with corpus/TABLE.md
	@$(BIN)/python benchmarks/corpus.py

corpus-quick: $(READY) ## The same for the cases marked quick
	@$(BIN)/python benchmarks/corpus.py --quick

wild: $(READY) ## Repair released packages and notebooks with known device failures
	@$(BIN)/python benchmarks/wild.py

hostile: $(READY) ## Repair programs whose obvious patch is wrong, and count wrong repairs
	@$(BIN)/python benchmarks/hostile.py

bench: $(READY) ## Measure a repair against a plain run of the same script, and the cost of simulated GPUs
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[programs]'
	@$(BIN)/python benchmarks/repair.py
	@$(BIN)/python benchmarks/simgpu.py

harm: $(READY) ## Kill repairs at 200 points, and parse and edit every installed Python file: half an hour or more
	@DEVFIX_HARM_POINTS=200 $(BIN)/python -m pytest --quiet tests/pipeline/test_crash_safety.py tests/publish/test_publish_killed.py tests/source/test_properties.py tests/source/test_roundtrip.py

fuzz: $(READY) ## Fuzz the parsers of traces, messages, configurations and sources, a minute each
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'atheris>=2.3'
	@for target in trace message config source; do $(BIN)/python tests/fuzz/fuzz.py $$target 60 || exit 1; done

mutate: $(READY) ## Mutation tests of the verdict and the rule helpers
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[mutation]'
	@$(BIN)/python scripts/mutate.py

scale: $(READY) ## Measure a repair in repositories of 100, 1,000 and 10,000 files
	@$(BIN)/python benchmarks/scale.py

lock: $(READY) ## Update the versions and hashes that the publishing jobs on GitHub and GitLab install
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5'
	@for job in publish:.github gitlab:.gitlab; do \
		echo setuptools | $(BIN)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --upgrade \
		--no-emit-index-url --no-annotate --custom-compile-command 'make lock' --constraint constraints.txt \
		--extra "$${job%%:*}" pyproject.toml - --output-file "$${job##*:}/publish-requirements.txt" || exit 1; \
	done

format: $(READY) ## Fix what ruff can fix
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .

clean: ## Remove .venv and the caches
	@rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache src/*.egg-info
