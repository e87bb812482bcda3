# `make demo` and `make test` work on a fresh clone: they create .venv and install into it, the first
# what running needs, the second everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard cpp/*/*.cpp cpp/*/*.hpp cpp/*/*/*.cpp cpp/*/*/*.hpp)

.PHONY: demo test lint docs lists outputs stub sanitize clean FORCE

demo: $(VENV)/.runs
	@echo "demo: runs the commands on the bundled table"
	@$(BIN)/python -m bestdag.examples

test: $(VENV)/.installed lint
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_includes.py

docs: $(VENV)/.installed
	$(BIN)/python -m tools.write_pictures
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html

# The lists of scores, searches and estimators in the documentation; a test compares them.
lists: $(VENV)/.installed
	$(BIN)/python tools/write_lists.py

# What the code on the pages of the documentation prints; a test compares it.
outputs: $(VENV)/.installed
	$(BIN)/python -m tools.pages

# The type stub of the native module; a test compares it with the built module.
stub: $(VENV)/.installed
	$(BIN)/python -m nanobind.stubgen -m bestdag._core -o src/bestdag/_core.pyi

# The native kernels under AddressSanitizer + UBSan, then ThreadSanitizer.
sanitize:
	cmake -S cpp -B build/asan -DBESTDAG_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo
	cmake --build build/asan -j2 && ctest --test-dir build/asan -j2 --output-on-failure
	cmake -S cpp -B build/tsan -DBESTDAG_SANITIZE=thread -DCMAKE_BUILD_TYPE=RelWithDebInfo
	cmake --build build/tsan -j2 && ctest --test-dir build/tsan -j2 --output-on-failure

# An editable install knows the files it was made with: a new one means installing again.
$(VENV)/.files: FORCE
	@mkdir -p $(VENV)
	@find src -name '*.py' | sort > $@.new
	@cmp -s $@.new $@ || cp $@.new $@

define new-environment
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bestdag needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; try: make PYTHON=python3.12")'
@echo "making the environment $(VENV)"
@$(PYTHON) -m venv $(VENV)
endef

# What running needs, and no more.
$(VENV)/.runs: pyproject.toml $(NATIVE) $(VENV)/.files
	$(new-environment)
	@echo "installing dependencies and compiling (a few minutes)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# The same with what checks, tests and documentation need.
$(VENV)/.installed: pyproject.toml $(NATIVE) $(VENV)/.files
	$(new-environment)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(VENV)/.runs $@

clean:
	rm -rf $(VENV) build docs/_build
