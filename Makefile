# `make demo` and `make test` need Python 3.11 to 3.13, make and git; everything else is installed into .venv.
PYTHON ?= python3
CORES ?= all
BIN := .venv/bin
LOCK := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 --extra dev

CONFIG ?= config/demo.yaml
OUT ?= results/comparison
.PHONY: demo test estimate compare lint format lock docs clean

demo: .venv/installed ## run the study of config/demo.yaml and print what it found
	@$(BIN)/snakemake --cores $(CORES) $$(test -t 2 && echo --logger rich) # bars for a person, lines for a file
	@echo; cat results/report/finding.txt; echo
	@echo "The page: $(CURDIR)/results/report/index.html"

test: .venv/installed ## every test, the whole tiny run included
	$(BIN)/python -m pytest

estimate: .venv/installed ## what a run costs before it is started: make estimate CONFIG=config/paper.yaml
	@PYTHONPATH=workflow/lib $(BIN)/python -m whobenefits.estimate $(CONFIG)

compare: .venv/installed ## what moved between two runs: make compare A=results B=other/results OUT=results/comparison
	@PYTHONPATH=workflow/lib $(BIN)/python -m whobenefits.report.compare $(A) $(B) $(OUT)

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/rules

lock: .venv/installed ## pin anew what pyproject.toml asks for
	$(LOCK) --upgrade pyproject.toml --output-file requirements.lock

# The whole environment, or nothing: `installed` is written last. uv, itself pinned by the lock, installs the rest; it
# compiles the modules, because pyserini's import is four times slower where Python may not write them later.
.venv/installed: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info < (3, 14) else \
	  "Python 3.11, 3.12 or 3.13 is needed, this is " + sys.version.split()[0] + ": make PYTHON=python3.12 …")'
	@$(PYTHON) -m venv --clear .venv || { echo "Python's venv module is needed (Debian, Ubuntu: the package \
	python3-venv), or another Python: make PYTHON=…"; exit 1; }
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > .venv/uv.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r .venv/uv.txt
	@echo "Installing about 3 GB of packages into .venv …"
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --compile-bytecode -r requirements.lock
	@touch $@

clean: ## remove the environment and the downloads, keep the results
	rm -rf .venv resources .snakemake

docs: .venv/installed ## bring the tables of config/README.md up to date
	PYTHONPATH=workflow/lib $(BIN)/python -m whobenefits.config_docs
