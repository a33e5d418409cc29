# Everything runs from .venv, which is made on first use. PYTHON names the interpreter to make it with (3.11–3.13).
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test check bench soak docs schema clean

# Two steps: hashed requirements first, then the program itself without looking anything up.
.venv/run: requirements/run.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --require-hashes -r requirements/run.txt
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

.venv/dev: .venv/run requirements/dev.txt
	$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@

# On a terminal: the chat. Without one: the bundled sample, played through the same program, and what was stored.
demo: .venv/run
	@$(BIN)/askfirst demo

test: .venv/dev
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/askfirst check config/packs config/phrases config/times config/commands

bench: .venv/dev
	$(BIN)/python -m bench

soak: .venv/dev
	$(BIN)/python -m pytest -m soak
	$(BIN)/python -m bench.growth 1
	$(BIN)/python -m bench.growth 1 postgresql

# docs/reference/, from the code that it describes.
docs: .venv/dev
	$(BIN)/python -m docs.generate

# storage/migrations/newest.sql, after a migration has been added.
schema: .venv/dev
	$(BIN)/python -m storage.migrations.write_newest

clean:
	rm -rf .venv dist .pytest_cache .mypy_cache .ruff_cache
