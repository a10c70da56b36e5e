# Everything a person needs: `make demo` and `make test` set up on first use, in .venv, and work without uv too.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.diag-$(shell cksum pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
UV := $(shell command -v uv 2>/dev/null)
DEMO ?= checkout-latency
JOBS ?= 2

.PHONY: help demo setup test lint types imports unit format docs clean

help: ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP) ## explain a recorded incident: no key, no network
	@$(BIN)/diag ask "$$(cat fixtures/incidents/$(DEMO)/question.txt)" --incident fixtures/incidents/$(DEMO)

setup: $(STAMP) ## make .venv with diag and what its tests need

$(STAMP): pyproject.toml constraints.txt
	@echo "Setting up $(VENV), once." >&2
ifdef UV
	@$(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
	@$(UV) pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable . --group dev
else
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable . --group dev
endif
	@rm -f $(VENV)/.diag-*
	@touch $@

test: lint types imports unit ## lint, types, import rules, tests

lint: $(STAMP) ## ruff: rules and format
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .

types: $(STAMP) ## mypy --strict
	$(BIN)/mypy

imports: $(STAMP) ## import-linter: arrows point down
	$(BIN)/lint-imports --no-cache

unit: $(STAMP) ## the test suite
	$(BIN)/pytest -n $(JOBS) --dist loadgroup

format: $(STAMP) ## mend what ruff can mend
	$(BIN)/ruff check --quiet --fix .
	$(BIN)/ruff format --quiet .

clean: ## remove .venv and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
