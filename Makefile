# make run     everything on this machine: http://127.0.0.1:8000/ (PORT=, ACADEMY_DATA=)
# make test    the whole suite against real PostgreSQL and Valkey (ARGS= for pytest, WORKERS=)
# make check   everything that can be found without running the suite
# The rest: install, stop, conformance DATA=folder, requirements, clean.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
ARGS ?=
DATA ?= $(ACADEMY_CONFORMANCE_DATA)

RUN_FILES := requirements/base.txt requirements/embedded.txt
DEV_FILES := $(RUN_FILES) requirements/test.txt requirements/tools.txt
pip_install = $(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes

.PHONY: run install install-dev test check conformance stop requirements clean

run: install
	@$(BIN)/python -m academy.project.supervise

install: $(VENV)/.installed-run

install-dev: $(VENV)/.installed-dev

# A stamp is as new as the last installation, so a changed requirements file installs again.
$(VENV)/.installed-run: $(RUN_FILES) | $(BIN)/python
	@echo "Installing the dependencies into $(VENV) ..."
	@$(pip_install) $(RUN_FILES:%=--requirement %)
	@touch $@

$(VENV)/.installed-dev: $(DEV_FILES) | $(BIN)/python
	@echo "Installing the dependencies of tests and checks into $(VENV) ..."
	@$(pip_install) $(DEV_FILES:%=--requirement %)
	@touch $@ $(VENV)/.installed-run

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Academy needs Python 3.11 or newer; name one with PYTHON=python3.x")'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

test: install-dev
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

check: install-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@$(BIN)/mypy
	@$(BIN)/python manage.py check --fail-level WARNING
	@$(BIN)/python manage.py makemigrations --check --dry-run

conformance: install-dev
	@test -n "$(DATA)" || { echo "Say where the data is: make conformance DATA=folder"; exit 2; }
	@$(BIN)/python -m tests.conformance $(DATA) $(ARGS)

# Servers that were started by hand, or left by something that was killed.
stop: install
	@$(BIN)/python -m academy.project.embedded stop

# Write the files of exact versions again; ARGS=--upgrade takes newer ones.
requirements: install-dev
	@for name in base embedded test tools production; do \
	  (cd requirements && CUSTOM_COMPILE_COMMAND="make requirements" ../$(BIN)/pip-compile --quiet \
	    --generate-hashes --allow-unsafe --strip-extras --no-header --no-emit-index-url \
	    --no-emit-trusted-host --no-emit-find-links $(ARGS) $$name.in --output-file $$name.txt) \
	  || exit 1; \
	done

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
