# Everything a person does here, in one word each. Needs: Python >= 3.11 with venv, make, git, a package index.
#
#   make run      set up, make sure of a browser, run the demonstration
#   make test     set up, make sure of a browser, check everything that must hold
#   make bench    measure (ratios within one run)
#   make authority  score the scan for claims of authority on its labelled sentences
#   make authority-train  learn that scan's weights from the sentences: make authority-train HOW=--by-writer judges without writing
#   make retrieval  score what a packet finds on real commits, against BM25: make retrieval REPOS="folder folder"
#   make wpt      score names and roles on web-platform-tests: make wpt DIR=folder
#   make format   bring the code into its form
#   make clean    remove everything that was made here
#
# Another Python: PYTHON=python3.13 make test

PYTHON  ?= python3
JOBS    ?= auto
VENV    := .venv
BIN     := $(VENV)/bin
MEMBERS := drivers/playwright drivers/cdp_raw providers/double
TYPED   := ues_core $(MEMBERS) tests bench examples
STAMP   := $(VENV)/.ready
PIP     := $(BIN)/python -m pip --disable-pip-version-check --quiet

# The tests start some hundred processes: what Python compiled for one is kept for the next.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test lint types tests bench wpt clean setup browser format authority authority-train retrieval

help:
	@sed -n 's/^#   //p' Makefile

# A stamp holds a digest of the interpreter and of everything that decides what is installed. Same digest: nothing to do.
# Another interpreter: a new environment. Otherwise: install on top.
setup:
	@command -v "$(PYTHON)" >/dev/null || { echo "There is no '$(PYTHON)'. Install Python 3.11 or newer, or name one: PYTHON=/path/to/python3 make $(MAKECMDGOALS)" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed and this one is " + v + ". Name another one: PYTHON=python3.11 make $(MAKECMDGOALS)")'
	@set -e; \
	who='import sys; print(sys.version, sys.base_prefix)'; \
	wanted=$$("$(PYTHON)" -c "$$who"); \
	key=$$({ echo "$$wanted"; pwd; cat pyproject.toml constraints.txt requirements-dev.txt $(MEMBERS:%=%/pyproject.toml); } | cksum); \
	if [ "$$(cat $(STAMP) 2>/dev/null)" = "$$key" ]; then exit 0; fi; \
	if [ "$$($(BIN)/python -c "$$who" 2>/dev/null)" != "$$wanted" ]; then \
		echo "== environment: $$wanted"; \
		rm -rf $(VENV); \
		"$(PYTHON)" -m venv $(VENV) || { echo "Python's venv module does not work here. On Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }; \
	fi; \
	echo "== dependencies"; \
	$(PIP) install -c constraints.txt -r requirements-dev.txt; \
	$(PIP) install -c constraints.txt --no-build-isolation -e . $(MEMBERS:%=-e ./%); \
	echo "$$key" > $(STAMP)

browser: setup
	@echo "== browser"
	@$(BIN)/ues browser install --if-missing

run: setup browser
	@$(BIN)/ues demo

test: lint
	@$(MAKE) --no-print-directory -j 2 types tests

lint: setup
	@echo "== format"
	@$(BIN)/ruff format --check .
	@echo "== lint"
	@$(BIN)/ruff check .
	@$(BIN)/oxlint --deny-warnings --ignore-pattern '$(VENV)/**' .

# Beside each other: the types keep one core busy, the tests mostly the other.
types: setup
	@echo "== types"
	@$(BIN)/mypy $(TYPED)
	@echo "== import contract"
	@$(BIN)/lint-imports --no-logo

tests: setup browser
	@echo "== tests"
	@# A real browser on a busy machine is late at times: a test that fails is run once more, and the last lines name it.
	@$(BIN)/pytest -n $(JOBS) --maxprocesses 4 --dist worksteal --reruns 1 --reruns-delay 1

bench: setup browser
	@missed=; for file in bench/*.py; do echo "== $$file"; $(BIN)/python "$$file" || missed="$$missed $$file"; done; \
	if [ -n "$$missed" ]; then echo "Not as promised:$$missed" >&2; exit 1; fi

# Scores what an answer may not claim on labelled sentences in ten languages; fails below the bar.
authority: setup
	@$(BIN)/python tests/authority/score.py

# Makes ues_core/reasoning/authority/terms/weights.bin. HOW=--check: compares only. HOW=--by-writer: what to expect of new writers.
authority-train: setup
	@$(BIN)/python tests/authority/train.py $(HOW)

# Scores what a packet lists first on the last 200 commits of repositories, against plain BM25; fails when it is not above.
# RELEASES=folder: on unpacked source distributions of other projects instead.
retrieval: setup
	@$(BIN)/python $(if $(RELEASES),tests/retrieval/releases.py $(RELEASES),tests/retrieval/score.py $(REPOS))

# Scores names and roles on a folder of the public web-platform-tests; nothing of it is copied.
wpt: setup browser
	@$(BIN)/python tests/wpt/score.py $(DIR)

format: setup
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .cache build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name '*.egg-info' -type d -prune -exec rm -rf {} +
