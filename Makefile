# `make demo` and `make test` need Python 3.10 or newer and nothing else; every other target builds on what they install.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
LINT := $(BIN)/ruff check && $(BIN)/ruff format --check --quiet && $(BIN)/mypy && $(BIN)/python tools/schemas.py --check docs/schema && \
	$(BIN)/python tools/runtime_module.py --check && \
	$(BIN)/python tools/stops.py --check && $(BIN)/python tools/command_docs.py --check
# Pytest keeps the tests that it has compiled, and so do the processes that tests start, whatever the environment says.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 8 --dist worksteal
WORKERS := auto
FIXTURES := $(sort $(wildcard fixtures/*/single.py))
PARTITIONED := $(sort $(wildcard fixtures/partitioned/*/single.py))
GLOBAL_LOSS := $(sort $(wildcard fixtures/global_loss/*/single.py))
LOOPS := $(sort $(wildcard fixtures/loops/*/single.py))
INPUTS := $(sort $(wildcard fixtures/inputs/*/single.py))
MIRRORED := $(sort $(wildcard fixtures/mirrored/*/single.py))
DDP := $(sort $(wildcard fixtures/ddp/*/single.py))
CLUSTER := $(sort $(wildcard fixtures/cluster/*/single.py))
NOTEBOOKS := $(sort $(wildcard fixtures/notebooks/*/single.ipynb))
PROJECTS := $(sort $(wildcard fixtures/projects/*/single/train.py fixtures/python2/*/single/train.py))
PYTHON2 := $(sort $(wildcard fixtures/python2/*/single.py))

.PHONY: site help demo quick test test-torch matrix product fuzz fuzz-host coverage lint format goldens docs bench clean tf1.15 tf1.12 \
	tf1.4 torch compiled

help:
	@echo 'make demo     convert a script, show the diff, verify it on 4 virtual devices, as text and as a page'
	@echo 'make quick    ruff, mypy and tests without TensorFlow, PyTorch, browser or installed program; of many cases a fourth'
	@echo 'make test     ruff, mypy and all tests but the matrix, which has most of the variations that take long'
	@echo 'make test-torch  the tests that run PyTorch; makes .venv-torch, which takes 1 GB'
	@echo 'make matrix   all variations, also TensorFlow 1.4 and 1.12, and each fixture with 1, 2, 3, 4 and many towers'
	@echo 'make product  also each number of towers in each batch mode on each TensorFlow'
	@echo 'make fuzz     generate N scripts from SEED on, convert them, and run originals and conversions on TensorFlow 1.15'
	@echo 'make fuzz-host convert N generated programs from SEED on, and run what they do beside the graph without TensorFlow'
	@echo 'make coverage which lines the tests without TensorFlow run'
	@echo 'make lint     ruff, its formatter, mypy, and whether the generated pages are up to date'
	@echo 'make format   let ruff sort imports, format and mend what it can'
	@echo 'make goldens  convert every fixture again; review the result as a diff (helpers stand in fixtures/helpers.py alone)'
	@echo 'make docs     write what the documentation takes from the program: options, schemas, printed data'
	@echo 'make site     build the documentation into build/site; a broken link fails'
	@echo 'make bench    time startup, conversion, folders and verification against their budgets; fails over one'
	@echo 'make clean    remove what was built, the environments too'

# --- Environments -----------------------------------------------------------------------------------------------------

$(BIN)/python:
	@python=$$(tools/find-python 3.13 3.12 3.11 3.10) || { \
	    echo 'No Python 3.10 to 3.13 with its venv module on PATH or among the pyenv versions.' >&2; exit 1; }; \
	echo "$$python -m venv $(VENV)"; "$$python" -m venv $(VENV)

# pip compiles what it installs, but an editable install leaves this package to Python, which may have been told
# (PYTHONDONTWRITEBYTECODE) not to: then every start would compile again.
COMPILE = $(BIN)/python -m compileall -q tf_multigpu converter rules

$(VENV)/.verify: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[verify,report]'
	$(COMPILE)
	@touch $@

$(VENV)/.dev: $(VENV)/.verify
	$(BIN)/python -m pip install --quiet --editable '.[verify,report,dev]'
	@touch $@

compiled: $(VENV)/.verify
	@$(COMPILE)

# Each makes .venv-tf1.X where its Python is found, and says loudly what is left out where it is not.
tf1.15 tf1.12 tf1.4: tf%:
	@tools/tensorflow $*

torch:
	@tools/tensorflow torch

# --- Targets ----------------------------------------------------------------------------------------------------------

demo: compiled
	@mkdir -p build/demo
	$(BIN)/tf-multigpu convert fixtures/slim_cnn/single.py --num-gpus 4 -o build/demo/multi.py
	@echo
	@diff -u fixtures/slim_cnn/single.py build/demo/multi.py || test $$? -eq 1
	@echo
	$(BIN)/tf-multigpu verify fixtures/slim_cnn/single.py build/demo/multi.py --gpus 4 --html build/demo/report.html
	@echo; echo 'The same as a page: build/demo/report.html'

# ruff and mypy run beside the tests: each leaves a processor waiting now and then.
BESIDE_LINT = @{ $(LINT); } & lint=$$!; status=0; $(1) || status=$$?; wait $$lint || status=$$?; exit $$status
QUICK := not left_by_quick and not matrix and not tf1 and not tf2 and not torch and not slow and not browser and not programs

quick: $(VENV)/.dev compiled
	$(call BESIDE_LINT,$(PYTEST) -m '$(QUICK)' --durations=10)

# Tests that run scripts wait for them now and then, and a processor with them: there is one worker more than processors.
test matrix product: WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

test: site compiled tf1.15
	$(call BESIDE_LINT,$(PYTEST) -m 'not matrix' --durations=10)

test-torch: $(VENV)/.dev compiled torch
	$(PYTEST) -m 'torch and not matrix' tests/test_ddp.py --durations=10

matrix: lint compiled tf1.15 tf1.4 tf1.12 torch
	$(PYTEST) -m 'not product' --durations=10

product: lint compiled tf1.15 tf1.4 tf1.12 torch
	$(PYTEST) --durations=10

N := 100
SEED := 0

# Host parts of programs at random, without TensorFlow: N of them from SEED on.
fuzz-host: $(VENV)/.dev
	$(BIN)/python -m tests.host_oracle $(N) $(SEED)

fuzz: compiled tf1.15
	$(BIN)/python -m tests.generator $(N) $(SEED) --python .venv-tf1.15/bin/python

# Of the tests that run in one process; watching the lines takes as long again as these tests.
coverage: $(VENV)/.dev
	$(PYTEST) -m 'not matrix and not tf1 and not tf2 and not torch' --cov --cov-report=term

lint: $(VENV)/.dev
	$(LINT)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

goldens: compiled
	@for single in $(FIXTURES); do \
	    $(BIN)/tf-multigpu convert --force "$$single" -o "$${single%single.py}multi.py" || exit 1; \
	done
	@for single in $(PYTHON2); do \
	    $(BIN)/tf-multigpu convert --force "$$single" -o "$${single%single.py}multi.py" || exit 1; \
	done
	@for single in $(PARTITIONED); do \
	    $(BIN)/tf-multigpu convert --force "$$single" --variables partitioned --num-gpus 4 \
	        -o "$${single%single.py}multi.py" || exit 1; \
	done
	@for single in $(GLOBAL_LOSS); do \
	    $(BIN)/tf-multigpu convert --force "$$single" --loss global -o "$${single%single.py}multi.py" || exit 1; \
	done
	@for single in $(NOTEBOOKS); do \
	    $(BIN)/tf-multigpu convert --force "$$single" -o "$${single%single.ipynb}multi.ipynb" || exit 1; \
	done
	@for single in $(LOOPS) $(INPUTS) $(MIRRORED) $(DDP); do \
	    $(BIN)/tf-multigpu convert --force "$$single" -o "$${single%single.py}multi.py" || exit 1; \
	done
	@for single in $(CLUSTER); do \
	    $(BIN)/tf-multigpu convert --force "$$single" --target cluster --helpers package \
	        -o "$${single%single.py}multi.py" || exit 1; \
	done
	@for single in $(PROJECTS); do \
	    rm -rf "$${single%single/train.py}multi"; \
	    $(BIN)/tf-multigpu convert "$$single" --output-dir "$${single%single/train.py}multi" || exit 1; \
	done
	@$(BIN)/python -m tests.goldens
	@rm -rf build/fixtures-*

docs: $(VENV)/.dev
	$(BIN)/python tools/schemas.py docs/schema
	$(BIN)/python tools/runtime_module.py
	$(BIN)/python tools/stops.py
	$(BIN)/python tools/command_docs.py

site: $(VENV)/.dev
	$(BIN)/python -m mkdocs build --quiet

bench: compiled
	$(BIN)/python benchmarks/all.py

clean:
	rm -rf .venv .venv-tf1.15 .venv-tf1.12 .venv-tf1.4 .venv-torch build dist htmlcov .coverage
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find tf_multigpu converter rules tests benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} +
