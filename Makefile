# Two commands are enough: `make demo` and `make test`. Each does all its own set-up.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# A lock names all packages, so pip resolves nothing. Older pips refuse an extra of a locked package after its next release.
PIP_LOCKED := $(PIP_INSTALL) --no-deps --require-hashes --requirement
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup generate check lint types definitions test test-ci test-nightly test-spark sanitize fuzz demo bench docs lock clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: setup ## Show the main parts in chapters (CHAPTER="2 broker" shows these, PAUSE=1 waits, BROKER=host:port adds yours)
	@$(BIN)/kafkawire demo $(CHAPTER:%=--chapter %) $(if $(PAUSE),--pause) $(if $(BROKER),--broker $(BROKER))

# The fast tests run first. `make test-ci` measures coverage with them and some on real brokers: it runs
# each test once, those with coverage first.
UNITS := tests/unit $(addprefix tests/golden/,cli comparison documents entities evolution pages records report rows rules wire test_report.py test_rules.py)
COVERING := $(UNITS) $(addprefix tests/,laws/cli laws/declared laws/model interop/cli interop/declared) \
	$(addprefix tests/interop/broker/same_answers/,test_share_groups.py test_share_partitions.py) \
	$(addprefix tests/laws/,broker/test_consumer_group_laws.py broker/test_mixed_group_laws.py broker/test_share_laws.py logs/test_parts_of_histories.py)

# The older releases of PySpark with which the tests with Spark run too.
SPARK_RELEASES := 4.0 4.1 4.2
OLDER_SPARKS := $(SPARK_RELEASES:%=$(VENV)/spark-%/.installed)

# Some machines forbid Python to keep bytecode, but the programs that tests start need it to start fast. Maven ends before
# the better compiler of Java would pay off. In the runs with brokers one or two processes mostly wait for a broker, so they
# have more of them: `make test` one more than CI, where a slow machine must not fail a test that waits for seconds.
PYTEST := PYTHONDONTWRITEBYTECODE= \
	MAVEN_OPTS="$$MAVEN_OPTS -XX:+UseSerialGC -XX:TieredStopAtLevel=1" \
	$(BIN)/python -m pytest
QUICK := --hypothesis-profile=quick

test: setup $(VENV)/.spark ## Run the tests that a change needs; those against Apache Kafka need Java 17 and Maven
	$(PYTEST) -n 3 $(QUICK) -m "not extended" $(UNITS)
	$(PYTEST) -n 4 $(QUICK) -m "not extended" $(UNITS:%=--ignore=%)

test-ci: setup $(VENV)/.spark ## Run those that `make test` leaves out as well, except nightly ones, and measure coverage
	$(PYTEST) -n 2 $(QUICK) --cov --cov-report=term -m "not nightly" $(COVERING)
	$(PYTEST) -n 3 $(QUICK) -m "not nightly" $(COVERING:%=--ignore=%)

test-nightly: setup $(VENV)/.spark ## Run what takes longest and breaks least, and property tests with all their examples
	$(PYTEST) -n 2 -m nightly tests
	$(PYTEST) -n 2 -m "not nightly" tests/laws tests/hostile

test-spark: setup $(VENV)/.spark $(OLDER_SPARKS) ## Run the tests with Spark with each older release of it; with 4.1 also Delta Lake and Iceberg
	@for release in $(SPARK_RELEASES); do \
		echo "With PySpark $$release"; \
		PYTHONPATH=$(VENV)/spark-$$release $(PYTEST) tests/interop/spark || exit; \
	done

setup: $(VENV)/.project ## Make the virtual environment (the other commands do it by themselves)

generate: setup ## Write generated/ from specs/
	$(BIN)/kafkawire generate

check: setup lint types definitions ## Lint, types, import contracts, generated/ against the generator, specs/ against the last release

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache

types: setup $(VENV)/.spark
	$(BIN)/mypy

definitions: setup
	$(BIN)/kafkawire generate --check
	.ci/check-schema $(BIN)/kafkawire

sanitize: setup ## Run hostile tests with a native engine that checks its memory accesses (TESTS="tests/laws" chooses others)
	$(BIN)/python tests/native/sanitized.py $(or $(TESTS),tests/native/test_program.py tests/native/test_rows.py tests/unit/wire/test_engine.py tests/hostile/protocol)

fuzz: setup ## Fuzz the native engine against the generated code (RUNS=10000000)
	$(BIN)/python -m tests.native.fuzz -runs=$(or $(RUNS),10000000)

bench: setup $(VENV)/.spark ## Measure against other Kafka libraries; writes docs/benchmarks/
	$(BIN)/python -m benchmarks

docs: setup ## Build the documentation into site/
	$(BIN)/python docs/building/build.py

lock: setup ## Resolve all requirements again
	$(COMPILE) --upgrade --extra codegen --extra cli --extra tables --extra test pyproject.toml requirements/dev.in -o requirements/dev.txt
	$(COMPILE) --upgrade requirements/spark.in -o requirements/spark.txt
	for release in $(SPARK_RELEASES); do \
		$(COMPILE) --upgrade requirements/spark-$$release.in -o requirements/spark-$$release.txt || exit; \
	done

clean: ## Remove everything that the other commands made, generated/ excepted
	rm -rf $(VENV) build dist site .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is newer than what it was made from; a changed lock or pyproject.toml brings the environment up to date.
$(VENV)/.requirements: requirements/dev.txt
	@if [ -z "$(PYTHON)" ]; then \
		echo "kafkawire needs Python 3.11 or newer with its venv module (Debian: apt-get install python3 python3-venv)" >&2; \
		exit 1; \
	fi
	@echo "Setting up $(VENV) with $(PYTHON) (once; a minute or two)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP_LOCKED) requirements/dev.txt
	@touch $@

# Spark is big, so it is only there for what needs it.
$(VENV)/.spark: $(VENV)/.requirements requirements/spark.txt
	@echo "Adding Apache Spark to $(VENV) (once; half a gigabyte)"
	@$(PIP_LOCKED) requirements/spark.txt
	@touch $@

# An older release is in a folder of its own, which PYTHONPATH puts before the newest one.
$(VENV)/spark-%/.installed: requirements/spark-%.txt $(VENV)/.spark
	@echo "Adding Apache Spark $* to $(@D) (once; half a gigabyte)"
	@rm -rf $(@D)
	@$(PIP_LOCKED) $< --target $(@D)
	@touch $@

$(VENV)/.project: $(VENV)/.requirements pyproject.toml $(wildcard native/*)
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@[ -n "$$(ls src/kafkawire/_native.*.so 2>/dev/null)" ] || \
		echo "Without a C compiler and Python.h there is no native engine: all works, slower (Debian: gcc, python3-dev)"
	@touch $@
