# Two commands: `make demo` (score a file, then train until the reward rises) and `make test`.
# Both make their own virtual environment in .venv and install under constraints.txt.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint clean

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt torch==2.13.0
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[train,docker,dev]"
	touch $@

demo: $(VENV)/installed
	$(BIN)/rewards score datasets_cards/samples/completions.jsonl --reward math+format -o demo/scored.jsonl
	$(BIN)/grpo-run --reward math+format --out demo/run

# A file's tests share a process: one runs the hostile catalogue on all backends, one after the other. Two at once on two
# CPUs, most of their programs spinning until a limit, take longer than that. (loadgroup does nothing under pytest 9.)
test: $(VENV)/installed
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) demo runs
