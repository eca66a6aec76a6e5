# The list of commands. Each sets up what it needs; nothing but Python 3.10+, make and pip must be present.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_DEMO := $(VENV)/.ready-demo
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

.PHONY: help setup demo test lint format bench fuzz faults pictures docs clean

help:
	@echo "make demo    set up, train one agent for many tasks from images, and write a report to out/demo/index.html"
	@echo "make test    set up and run the tests"
	@echo "make lint    check style and types"
	@echo "make format  apply the style"
	@echo "make bench   run the benchmarks; writes to out/bench"
	@echo "make fuzz    an hour of mutated inputs for every parser and loader; MINUTES=10 for less"
	@echo "make faults  200 kills of runs and sweeps, and full disks; KILLS=30 for less"
	@echo "make pictures  draw the machines that the documentation shows"
	@echo "make docs    build the documentation into site"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) ".[draw,bench,figures,minari,minigrid,notebook,onnx,parquet,sb3,studio,ray,render,tensorboard,docs,dev]"
	@touch $@ $(READY_DEMO)

# The demo needs few packages; where the tests have been set up, they are there.
$(READY_DEMO): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) ".[draw]"
	@touch $@

demo: $(READY_DEMO)
	$(BIN)/python examples/demo.py --out out/demo

test: $(READY)
	$(BIN)/python -m pytest --numprocesses 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m benchmarks.surface --check
	$(BIN)/python -m benchmarks.words --check

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks.translate --out out/bench
	$(BIN)/python -m benchmarks.shortcuts --out out/bench
	$(BIN)/python -m benchmarks.stepping --out out/bench
	$(BIN)/python -m benchmarks.neural_speed --out out/bench
	$(BIN)/python -m benchmarks.grounding --out out/bench --objectives em sequence
	$(BIN)/python -m benchmarks.pure --out out/bench --no-joint
	$(BIN)/python -m benchmarks.training_speed --out out/bench
	$(BIN)/python -m benchmarks.counterfactual --out out/bench
	$(BIN)/python -m benchmarks.hidden_symbols --out out/bench
	$(BIN)/python -m benchmarks.transfer --out out/bench
	$(BIN)/python -m benchmarks.sweep_speed --out out/bench
	$(BIN)/python -m benchmarks.monitoring --out out/bench
	$(BIN)/python -m benchmarks.robot --out out/bench
	$(BIN)/python -m benchmarks.minigrid --out out/minigrid

fuzz: $(READY)
	$(BIN)/python -m benchmarks.fuzz --minutes $(or $(MINUTES),60) --out out/reliability

faults: $(READY)
	$(BIN)/python -m benchmarks.faults --kills $(or $(KILLS),200) --sweeps 10 --ray 4 --out out/reliability

pictures: $(READY)
	for task in 1 2 3 4 5 6 7 8; do $(BIN)/nrm compile --task $$task --out docs/images/task-$$task.svg; done
	$(BIN)/nrm compile "visit(pickaxe, lava) & global_avoidance(door)" --symbols pickaxe,lava,door,gem,empty \
		--out docs/images/readme-machine.svg
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python examples/environments.py --out docs/images

docs: $(READY)
	$(BIN)/python docs/make_tables.py --check
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs site

clean:
	rm -rf $(VENV) out site .pytest_cache .mypy_cache .ruff_cache .hypothesis
