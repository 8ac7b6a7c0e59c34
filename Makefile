# `make` alone lists what there is. Needs Python 3.11 or later and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
TOOLS := $(VENV)/.tools
AUDIT := $(VENV)/audit/.installed
MINUTES ?= 10
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help run test test-fast test-long check demo bench fuzz faults messages screenshots lock sbom audit clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(RUNTIME) ## start everything on this machine, with two sample projects; Ctrl-C ends it
	@$(BIN)/python -m ops.run

test: $(TOOLS) $(AUDIT) ## run every test but the long ones that this machine can run, and say what it could not
	@$(BIN)/python -m ops.run_tests

test-fast: $(TOOLS) ## run what needs neither a browser nor another database, in about a minute
	@$(BIN)/python -m ops.run_tests --fast

test-long: $(TOOLS) ## run whole lives, upgrades and what fills memory; CI does so when the sources changed
	@$(BIN)/python -m ops.run_tests --long

check: $(TOOLS) ## lint, formatting, templates and types
	@$(BIN)/python -m ops.check

demo: $(RUNTIME) ## the main job end to end with a simulated crowd; RECIPE=cosmos for another, INPUT=file for your own
	@$(BIN)/python -m tests.demo

bench: $(TOOLS) ## measure against the stated limits
	@$(BIN)/python -m tests.benchmarks

fuzz: $(TOOLS) ## throw anything at both sites and look for a 500, a wrong balance or an open door; MINUTES=10 each
	@$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

faults: $(TOOLS) ## hurt a running installation in every way and count what it cost; FAULTS=name for one way
	@$(BIN)/python -m tests.faults $(FAULTS)

messages: $(TOOLS) ## bring the catalogues of translations up to date with the pages; needs GNU gettext
	@$(BIN)/python -m ops.messages

screenshots: $(TOOLS) ## photograph every page in both widths and themes into build/screenshots
	@$(BIN)/python -m ops.screenshots

lock: $(TOOLS) ## write requirements.lock anew, after a change of requirements.txt or constraints.txt
	@$(VENV)/lock/bin/python -m piptools --version >/dev/null 2>&1 || { $(PYTHON) -m venv $(VENV)/lock && \
		$(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2; }
	@$(VENV)/lock/bin/python -m piptools compile --quiet --generate-hashes --allow-unsafe --no-emit-index-url --no-emit-trusted-host \
		--no-emit-find-links --no-annotate --strip-extras --no-header -o requirements.lock requirements.txt
	@sed -i '1i # Made by `make lock` from requirements.txt and constraints.txt: every package of the image with the hashes of its files.' requirements.lock

sbom: $(AUDIT) ## write build/sbom.json, the packages of the image as CycloneDX: versions and hashes of requirements.lock
	@mkdir -p build
	@$(VENV)/audit/bin/python -m cyclonedx_py requirements requirements.lock --output-reproducible \
		--output-format JSON --output-file build/sbom.json
	@echo "Wrote build/sbom.json."

audit: $(AUDIT) ## look for known vulnerabilities of the packages of requirements.lock
	@$(BIN)/python -m ops.audit

clean: ## remove the virtual environment, caches and test results; data/ stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .collected build test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed: name one, as in make PYTHON=python3.11 run" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "No virtual environment: on Debian and Ubuntu, install python3-venv." >&2; exit 1; }

$(RUNTIME): requirements-local.txt requirements.txt constraints.txt client/pyproject.toml | $(VENV)/bin/python
	@echo "Installing requirements-local.txt into $(VENV) (once) ..."
	@$(PIP_INSTALL) -r requirements-local.txt
	@$(PIP_INSTALL) --no-deps --editable client
	@touch $@

$(TOOLS): requirements-dev.txt $(RUNTIME)
	@echo "Installing requirements-dev.txt into $(VENV) (once) ..."
	@$(PIP_INSTALL) -r requirements-dev.txt
	@touch $@

$(AUDIT): requirements-audit.txt | $(VENV)/bin/python
	@echo "Installing requirements-audit.txt into $(VENV)/audit (once) ..."
	@$(PYTHON) -m venv $(VENV)/audit
	@$(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-audit.txt
	@touch $@
