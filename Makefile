# Every target sets up what it needs in .venv: only Python >= 3.11, make and git are taken for granted.
PYTHON ?= $(firstword $(shell command -v python3.11 python3 python))
VENV := .venv
BIN := $(VENV)/bin
UV := VIRTUAL_ENV=$(VENV) $(BIN)/uv
READY := $(VENV)/.ready
PEER := .venv-peer
SPARK := .venv-spark
E2E := .venv-e2e
ECOSYSTEM := .venv-ecosystem
RELEASE := .venv-release
COURT := $(PEER) $(addprefix .venv-court-,pypantera diffractor dpmlm generic)
EXTRAS := --extra glove --extra demo --extra parquet --extra transport --extra plots --extra onnxruntime --extra evaluation --extra fasttext --extra encoder --extra wordlists --extra web --extra sklearn --extra documents --extra languages --extra segmentation
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
SEED ?= 1
# Where the environment forbids it, each of the hundreds of processes that tests start would compile its libraries.
export PYTHONDONTWRITEBYTECODE :=

# What pip does not bring, looked for before anything is made: $(call need,PROGRAM,what it is,package of Debian).
need = command -v $(1) >/dev/null || { echo "make $(MAKECMDGOALS) needs $(2), $(1): on Debian, apt-get install $(3)" >&2; exit 2; }
CHROMIUM := /usr/bin/chromium
JAVA := java
SSH_KEYGEN := ssh-keygen

.DEFAULT_GOAL := help

$(READY): requirements/uv.txt requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Publius needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@$(UV) pip sync --quiet --require-hashes requirements/dev.txt
	@$(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(READY)

# Environments for one job each: .venv-NAME from requirements/NAME.txt. Those of other tools are without us.
.venv-%/.ready: requirements/%.txt pyproject.toml | $(READY)
	@test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	@VIRTUAL_ENV=.venv-$* $(BIN)/uv pip sync --quiet --require-hashes $<
	@case $* in peer|court-*) ;; *) VIRTUAL_ENV=.venv-$* $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable . ;; esac
	@touch $@
.PRECIOUS: .venv-%/.ready

.PHONY: needs-chromium needs-java needs-ssh-keygen
needs-chromium:
	@$(call need,$(CHROMIUM),a browser,chromium)
needs-java:
	@$(call need,$(JAVA),Java 17,openjdk-17-jre-headless)
needs-ssh-keygen:
	@$(call need,$(SSH_KEYGEN),what signs,openssh-client)

.PHONY: setup demo test use lint docs wheel-test image bench audit court mutants counts house spark e2e ecosystem release help requirements clean
setup: $(READY)  ## set up .venv from the pinned, hashed requirements

demo: $(READY)  ## from made-up answers to a summary and a page to sign
	@rm -rf demo-output
	@$(BIN)/publius start --demo --output demo-output

test: $(READY)  ## run the tests
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not long and not use"

test-long: $(READY)  ## what takes long: more examples of each law, whole corpora
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile -rs -m long --hypothesis-profile long

use: $(READY)  ## every way a file is given, in every format, to every command
	@$(BIN)/python -m pytest -q -n 2 -m "use or not use" tests/use

lint: $(READY)  ## style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

docs: $(READY)  ## the documentation site, in site/; a warning is an error
	@rm -rf site && $(BIN)/python -m sphinx -b html -W --keep-going -q docs site && echo "site/index.html"

wheel-test: $(READY)  ## build wheel and sdist, install them into empty environments of every Python at hand, use them
	@$(BIN)/python tests/wheels.py

image: $(READY)  ## build the container's image (needs podman or docker)
	@command -v docker podman >/dev/null || { echo "make image needs an engine: on Debian, apt-get install podman" >&2; exit 2; }
	@rm -rf dist && $(BIN)/python -m hatchling build -t wheel -d dist && $$(command -v podman docker | head -n 1) build -t publius -f container/Dockerfile .

# Spark is measured where there is a Java.
BENCH_SPARK = $(if $(shell command -v $(JAVA)),$(SPARK))
bench: $(READY) $(PEER)/.ready $(if $(BENCH_SPARK),$(SPARK)/.ready)  ## one table of speeds, each a ratio in one run
	@$(BIN)/python -m benchmarks --peer $(PEER)/bin/python $(if $(BENCH_SPARK),--spark $(SPARK)/bin/python)

audit: $(READY)  ## check this installation against the laws of its mechanisms
	@$(BIN)/publius audit --seed $(SEED)

court: $(READY) $(COURT:=/.ready)  ## try what the mechanisms of other tools claim (takes long)
	@$(BIN)/python -m benchmarks.court

mutants: $(READY)  ## plant faults in a room and count those that its tests catch: ROOM=noise COUNT=300
	@$(BIN)/python tests/mutants.py $(or $(ROOM),noise) --count $(or $(COUNT),300) --seed $(SEED)

counts: $(READY)  ## how large Publius is: lines, commands, options, words
	@$(BIN)/python tests/project/counts.py

house: $(READY)  ## draw the rooms and who imports whom, as text
	@$(BIN)/python tests/project/house.py

spark: needs-java $(SPARK)/.ready  ## run the engine for Spark on a cluster on this machine, and kill a worker of it (needs Java 17)
	@$(SPARK)/bin/python -m pytest -q -n 0 -rs tests/spark

e2e: needs-chromium $(E2E)/.ready  ## pages and explorer in headless Chromium (needs Debian's chromium)
	@$(E2E)/bin/python -m pytest -q -n 0 -rs tests/e2e

ecosystem: $(ECOSYSTEM)/.ready  ## the recipes of docs: pandas, polars, DuckDB, datasets, spaCy, Dagster
	@$(ECOSYSTEM)/bin/python -m pytest -q -n 0 -rs tests/use/test_tools.py

release: needs-ssh-keygen $(READY) $(RELEASE)/.ready  ## check, build twice, list what it brings, sign: KEY=FILE of SSH; TRIAL=1 tries it
	@CYCLONEDX=$(RELEASE)/bin/cyclonedx-py $(BIN)/python .ci/release.py $(if $(TRIAL),--trial) $(if $(KEY),--key $(KEY)) --extras $(filter-out --extra,$(EXTRAS)) spark

requirements: $(READY)  ## resolve the pinned requirements anew
	@$(COMPILE) $(EXTRAS) --no-emit-package uv pyproject.toml requirements/dev.in -o requirements/dev.txt
	@$(COMPILE) --extra glove --extra documents --extra web --extra parquet --extra languages -c requirements/dev.txt pyproject.toml -o requirements/image.txt
	@$(COMPILE) requirements/uv.in -o requirements/uv.txt
	@$(COMPILE) requirements/peer.in -o requirements/peer.txt
	@for each in pypantera diffractor generic; do $(COMPILE) requirements/court-$$each.in -o requirements/court-$$each.txt; done
	@$(COMPILE) --no-deps requirements/court-dpmlm.in -o requirements/court-dpmlm.txt
	@$(COMPILE) --extra spark --extra glove --extra evaluation pyproject.toml requirements/spark.in -o requirements/spark.txt
	@$(COMPILE) requirements/release.in -o requirements/release.txt
	@$(COMPILE) --extra glove --extra demo --extra evaluation --extra web pyproject.toml requirements/e2e.in -o requirements/e2e.txt
	@$(COMPILE) --extra glove --extra demo --extra sklearn --extra parquet --extra documents --extra languages pyproject.toml requirements/ecosystem.in -o requirements/ecosystem.txt

clean:  ## remove what was built, not what was released
	@rm -rf $(VENV) $(COURT) $(SPARK) $(E2E) $(ECOSYSTEM) $(RELEASE) dist site .mypy_cache .ruff_cache .pytest_cache

help:  ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 14
