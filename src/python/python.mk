# The Python module: its folder, with the library and the program, as tests import it, and the wheel.
PYTHON_FOLDER := $(BUILD)/python/gpufilter

python: $(PROGRAM) $(LIB_SO) ## the Python module in build/python, which PYTHONPATH may name
	@mkdir -p $(PYTHON_FOLDER)
	@$(PYTHON) src/python/declarations.py include >$(PYTHON_FOLDER)/_abi.py
	@cp src/python/gpufilter/* $(PYTHON_FOLDER)
	@ln -sf $(abspath $(PROGRAM) $(LIB_SO)) $(PYTHON_FOLDER)
	@$(if $(SANITIZE),,$(PYTHON) -B src/python/stubs.py $(BUILD)/python) # python cannot load a library with a sanitizer

wheel: python ## a Python wheel of the module, the library and the program, in build/
	@$(PYTHON) src/python/wheel.py $(VERSION) $(BUILD)/python $(BUILD)

.PHONY: python wheel
