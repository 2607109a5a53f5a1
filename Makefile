# Everything here sets itself up; it needs python3 (3.11 or newer), pip and make.
PYTHON ?= python3
UV = UV_PYTHON_DOWNLOADS=never .tools/bin/uv
PY = .venv/bin/python
export PYDANTIC_ERRORS_INCLUDE_URL = 0

.PHONY: help demo test spark lint bench lock clean

help: ## say what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 10

demo: .venv/.demo ## set up and run the main job on the Harbour example
	@$(PY) examples/harbour/demo.py

test: export FINDBACK_MODELS ?= $(CURDIR)/.venv/models
test: .venv/.test ## set up and run the tests (CI=true: against the built wheel, no skip allowed)
	@sh tests/prepare.sh
	@if [ -n "$(CI)" ]; then \
	  rm -rf dist && $(UV) build --quiet --wheel --no-build-isolation --python $(PY) && \
	  $(UV) pip install --quiet --python $(PY) --no-deps --force-reinstall dist/*.whl; fi
	@if command -v java >/dev/null; then $(MAKE) --no-print-directory spark; \
	  elif [ -n "$(CI)" ]; then echo "java is not there, and CI skips nothing"; exit 1; \
	  else echo "java is not there: the Spark tests are skipped"; fi
	@$(PY) -m pytest --doctest-modules --pyargs findback tests --ignore tests/spark --ignore-glob '*/workbench/migrations/*' $(ARGS)

spark: .venv-spark/.made ## run the search-log rules on PySpark
	@.venv-spark/bin/python -m pytest tests/spark

lint: .venv/.test ## check style, types and floors
	@$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy && .venv/bin/lint-imports

bench: .venv/.bench ## run the benchmarks and print their table
	@$(PY) benchmarks/run.py

COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --upgrade

lock: .tools/bin/uv ## compile the locked requirements again
	@$(COMPILE) pyproject.toml -o requirements/core.txt
	@$(COMPILE) pyproject.toml requirements/build.in --extra charts --extra dense --extra faster --extra searchlog --extra web -o requirements/demo.txt
	@$(COMPILE) pyproject.toml requirements/build.in --extra all --extra engines --extra local-llm --group lint --group test -o requirements/test.txt
	@$(COMPILE) -c requirements/test.txt pyproject.toml requirements/build.in --extra age --extra charts --extra faster --extra mcp --extra ner --extra parquet --extra postgres --extra secrets --extra slack --extra web -o requirements/server.txt
	@$(COMPILE) pyproject.toml requirements/build.in --extra all --group bench --group test -o requirements/bench.txt
	@$(COMPILE) pyproject.toml requirements/build.in --extra spark --extra searchlog -o requirements/spark.txt --group spark-test
	@$(COMPILE) requirements/uv.in -o requirements/uv.txt

clean: ## remove what make made
	@rm -rf .venv .venv-spark .tools dist build

.tools/bin/uv: requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "findback needs Python 3.11 or newer")'
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --root-user-action=ignore \
	  --upgrade --target .tools --require-hashes -r requirements/uv.txt
	@touch $@

.venv/.made: .tools/bin/uv
	@$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv
	@touch $@

.venv/.demo: .venv/.made requirements/demo.txt pyproject.toml
	@echo "installing what the demo needs" && \
	$(UV) pip install --quiet --compile-bytecode --python $(PY) --require-hashes -r requirements/demo.txt && \
	$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.test: .venv/.made requirements/test.txt pyproject.toml
	@echo "installing what the tests need" && \
	$(UV) pip install --quiet --compile-bytecode --python $(PY) --require-hashes -r requirements/test.txt && \
	$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $@ .venv/.demo

.venv-spark/.made: .tools/bin/uv requirements/spark.txt pyproject.toml
	@echo "installing PySpark in an environment of its own" && \
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv-spark && \
	$(UV) pip install --quiet --python .venv-spark/bin/python --require-hashes -r requirements/spark.txt && \
	$(UV) pip install --quiet --python .venv-spark/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.bench: .venv/.test requirements/bench.txt
	@echo "installing what the benchmarks compare with" && \
	$(UV) pip install --quiet --compile-bytecode --python $(PY) --require-hashes -r requirements/bench.txt
	@touch $@
