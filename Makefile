# Everything runs inside .venv, which the first target that needs it creates; only Python itself must exist.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test lint clean

demo: $(STAMP)          ## set up, then draw one learning curve, theory beside experiment
	$(BIN)/subridge demo

test: $(STAMP) lint     ## set up, then every check
	$(BIN)/python -m pytest -n 2

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy
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

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache build dist
