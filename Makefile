# Everything runs from a fresh machine: each target sets up what it needs.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := .venv-peers

.PHONY: help setup peers demo smoke test lint type bench golden clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 10

setup: $(READY) ## make .venv with every extra, pinned by constraints.txt

$(READY): pyproject.toml constraints.txt tools/setup.sh
	PYTHON=$(PYTHON) tools/setup.sh $(VENV)
	@touch $@

peers: $(READY) ## make the environments of robomimic and lerobot, whose own readers judge what we write
	tools/setup_peers.sh $(VENV) $(PEERS)

demo: $(READY) ## the whole of it on Stack: static demonstrations, two policies, moving objects, demo/demo.html
	OMP_NUM_THREADS=1 $(BIN)/sido reproduce demo --scale demo -o demo --workers 2

smoke: $(READY) ## every table and figure of the paper, tiny: does all of it run? (smoke/*.html; the numbers mean nothing)
	OMP_NUM_THREADS=1 $(BIN)/sido reproduce all --scale smoke -o smoke

test: $(READY) peers ## every test
	$(BIN)/pytest -n 2

lint: $(READY) ## style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: $(READY) ## static types, strict on src
	$(BIN)/pyright

bench: $(READY) peers ## every benchmark; each prints ratios measured side by side in one run
	for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

golden: $(READY) ## rewrite the golden files; review the diff
	$(BIN)/pytest --golden-rewrite tests

clean: ## remove environments and everything that can be made again
	rm -rf $(VENV) $(PEERS) demo smoke build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
