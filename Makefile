# Everything starts from a clone: python3 (3.11 or newer), cargo and a C++ compiler are enough.
# `make help` lists the targets.

PYTHON ?= python3
BIN    := .venv/bin
RUN    := .venv-run/bin
SOURCES := $(shell find src rust/src rust/build.rs -name '*.py' -o -name '*.pyi' -o -name '*.rs' \
             -o -name '*.cpp' -o -name '*.h' -o -name '*.sv' -o -name '*.css' -o -name '*.js' -o -name '*.html')

.PHONY: help setup demo test test-all lint corpus bounds-corpus traces waveforms studies pictures units wheel install-test fuzz mutants soak signals bench page page-tests docs lock clean

help:            ## list the targets
	@sed -n 's/^\([a-z-]*\): .*## /  make \1\t/p' Makefile | expand -t 18

.venv/ready: requirements.lock scripts/environment.sh
	@PYTHON="$(PYTHON)" sh scripts/environment.sh .venv requirements.lock 950
	@touch $@

# The demo needs no development tools.
.venv-run/ready: scripts/run.lock scripts/environment.sh
	@PYTHON="$(PYTHON)" sh scripts/environment.sh .venv-run scripts/run.lock 230
	@touch $@

# The package is built as the wheel that users get, and installed from it.
%/installed: %/ready pyproject.toml rust/Cargo.toml rust/Cargo.lock $(SOURCES)
	@rm -rf build/wheel
	@echo "setup: building the package; the first time this takes some minutes (the Calyx compiler)"
	@$*/bin/maturin build --release --locked --quiet --out build/wheel
	@$*/bin/python -m pip install --quiet --no-deps --force-reinstall build/wheel/*.whl
	@touch $@

setup: .venv/installed ## make .venv with the built package in it

demo: .venv-run/installed ## profile an example and draw its report: make demo [SHOW=calyx|bounds|hls]
	$(RUN)/python scripts/demo.py $(SHOW)

wheel:           ## build the wheel for other machines (manylinux_2_28) into dist/, checked by auditwheel
	@PYTHON="$(PYTHON)" sh scripts/wheel.sh

install-test:    ## install the wheel of dist/ in an empty environment without cargo, and run it: sizes, times
	$(PYTHON) scripts/install_test.py

lint: setup      ## style, types, layers, words
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/words.py
	$(BIN)/proselint check README.md docs/*.md
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	cargo fmt --manifest-path rust/Cargo.toml --check

test: lint page-tests ## lint, the page's tests, and all tests but the long ones
	$(BIN)/pytest -n 2 --dist worksteal --quick

test-all: lint page-tests ## the same with all tests, which is what CI runs
	$(BIN)/pytest -n 2 --dist worksteal

# The page's own tests, where there is a Node.js that can install what they need.
page-tests:
	@if ! command -v npm >/dev/null; then echo "page-tests: no npm, left out"; \
	elif ! $(MAKE) --no-print-directory web/node_modules/ready; then \
	  echo "page-tests: npm cannot install what they need, left out"; \
	else cd web && npm run check && npm test; fi

corpus: setup    ## verify on Calyx's own programs: make corpus CALYX=DIR [MAIN=COMPILER LIBRARY=DIR] [COUNTS=TABLE.tsv]
	$(BIN)/python tests/calyx/corpus.py "$(CALYX)" $(if $(COUNTS),--counts "$(COUNTS)") \
	  $(if $(MAIN),--main "$(MAIN)" --library "$(LIBRARY)")

traces: setup    ## compare the import of Paraver traces with other readers: make traces PARAVER="DIR …" [PARAMEDIR=PROGRAM]
	$(BIN)/python tests/paraver/corpus.py $(PARAVER) $(if $(PARAMEDIR),--paramedir "$(PARAMEDIR)")

bounds-corpus: setup ## bound public C benchmarks: make bounds-corpus FOLDER=DIR [ONLY=NAME]
	$(BIN)/python tests/bounds/corpus.py "$(FOLDER)" $(if $(ONLY),--only "$(ONLY)")

waveforms: setup ## compare VCD with FST on public waveforms: make waveforms WELLEN=DIR/wellen/inputs
	$(BIN)/python tests/traces/corpus.py "$(WELLEN)"

studies: setup   ## make the pages in docs/studies anew
	$(BIN)/python scripts/studies.py

pictures: setup  ## make what docs/views shows anew
	$(BIN)/python scripts/views.py
	$(BIN)/python scripts/pictures.py

units: setup     ## stream vectors through the arithmetic units: make units [VECTORS=N] [SEED=N]
	$(BIN)/python tests/rtl/fpu.py $(or $(VECTORS),1000000) $(or $(SEED),1)

# Guided by coverage where atheris is installed (pip install --group fuzz); goes on where it stopped.
fuzz: setup      ## feed invented input to all that reads: make fuzz [MINUTES=N] [SEED=N]
	nice -n 19 $(BIN)/python scripts/fuzz.py --minutes $(or $(MINUTES),5) $(if $(SEED),--seed $(SEED))

# Needs cosmic-ray (pip install --group mutants); nothing of the tree changes. PACKAGE is a folder or a module below src/cyclescope.
mutants: setup   ## change the code and see which changes no test notices: make mutants ROOM=PACKAGE [N=25|all] [SEED=N] [TESTS="PATH …"]
	nice -n 19 $(BIN)/python scripts/mutants.py "$(ROOM)" --count $(or $(N),25) $(if $(SEED),--seed $(SEED)) \
	  $(if $(TESTS),--tests $(TESTS))

soak: setup      ## run every verb again and again: nothing may grow: make soak [MINUTES=N] [SEED=N]
	nice -n 19 $(BIN)/python scripts/soak.py --minutes $(or $(MINUTES),5) $(if $(SEED),--seed $(SEED))

signals: setup   ## signals at random times over every verb: make signals [COUNT=N] [SEED=N]
	$(BIN)/python tests/security/signals.py $(or $(COUNT),1000) $(SEED)

bench: setup     ## measure what the README promises
	$(BIN)/python benches/bench_calyx.py
	$(BIN)/python benches/bench_report.py
	$(BIN)/python benches/bench_import.py

# The built page is committed: only who changes it needs Node.js (docs/dependencies.md says why).
page: web/node_modules/ready ## check and build the report's page (needs node)
	cd web && npm test && npm run build

web/node_modules/ready: web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

docs: setup      ## build the documentation into docs/_build/html, and run its examples
	$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: -r docs/requirements.lock
	$(BIN)/python -m sphinx -W --keep-going --quiet -b doctest docs docs/_build/doctest
	$(BIN)/python -m sphinx -W --keep-going --quiet -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

lock:            ## renew requirements.lock
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --group dev --generate-hashes --no-emit-index-url \
	  --no-header --universal --python-version 3.11 --quiet --output-file requirements.lock
	$(BIN)/uv pip compile pyproject.toml --group docs --generate-hashes --no-emit-index-url \
	  --constraint requirements.lock --no-header --universal --python-version 3.11 --quiet \
	  --output-file docs/requirements.lock
	$(BIN)/uv pip compile pyproject.toml --group build --generate-hashes --no-emit-index-url \
	  --constraint requirements.lock --no-header --universal --python-version 3.11 --quiet \
	  --output-file scripts/run.lock
	$(BIN)/uv pip compile --group wheel --generate-hashes --no-emit-index-url \
	  --constraint requirements.lock --no-header --universal --python-version 3.11 --quiet \
	  --output-file scripts/wheel.lock

clean:           ## remove what was built (not the user's cache)
	rm -rf .venv .venv-run build rust/target rust/target-wheel
