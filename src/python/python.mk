# The Python module: its folder, with the library and the program, as tests import it, and the wheel.
PYTHON_FOLDER := $(BUILD)/python/gpufilter

python: $(PROGRAM) $(LIB_SO) ## the Python module in build/python, which PYTHONPATH may name
	@mkdir -p $(PYTHON_FOLDER)
	@$(PYTHON) src/python/declarations.py include >$(PYTHON_FOLDER)/_abi.py
	@cp src/python/gpufilter/* $(PYTHON_FOLDER)
	@rm -f $(PYTHON_FOLDER)/*.so # of an earlier build: Python took a library of that name for a module
	@ln -sf $(abspath $(PROGRAM)) $(PYTHON_FOLDER) && ln -sf $(abspath $(LIB_SO)) $(PYTHON_FOLDER)/$(SONAME)
	@$(if $(SANITIZE),,$(PYTHON) -B src/python/stubs.py $(BUILD)/python) # python cannot load a library with a sanitizer

# What a wheel has in place of the module's library and program: a library that holds the program, too, so that the code for
# GPUs is there once, and a program that calls it.
IN_WHEEL := $(BUILD)/wheel
WHEEL_LINK = $(CC) $(GF_LDFLAGS) $(LDFLAGS) '-Wl,-rpath,$$ORIGIN' -o $@

$(IN_WHEEL)/main.o: src/cli/main.c $(BUILD)/configured $(BUILD)/study
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(GF_CPPFLAGS) $(CPPFLAGS) $(GF_CFLAGS) -fvisibility=default -Dmain=gf_program -Wno-missing-prototypes $(CFLAGS) -MMD -MP -c -o $@ $<

$(IN_WHEEL)/$(SONAME): $(IN_WHEEL)/main.o $(PROGRAM_OBJ) $(LIB_OBJ) $(CUDA_OBJ)
	$(call say,LD,$@)$(WHEEL_LINK) -shared -Wl,-soname,$(SONAME) -Wl,--exclude-libs,ALL $^ $(LIBS)

$(IN_WHEEL)/gpufilter: src/python/program.c $(IN_WHEEL)/$(SONAME)
	$(call say,LD,$@)$(WHEEL_LINK) $(GF_CFLAGS) $(CFLAGS) $(PIE) $^

# The formats whose libraries a wheel has inside, for auditwheel to find: for each library one that needs it, under a name
# of its own (base/process/library.c). It has no object, which would say that it needs no executable stack.
WHEEL_FORMATS := webp tiff avif jxl jp2 gif raw
WHEEL_LIBRARIES := $(foreach l,$(subst $(comma), ,$(foreach f,$(WHEEL_FORMATS),$(patsubst $f:%,%,$(filter $f:%,$(FORMATS))))),\
  $(IN_WHEEL)/gf_$(firstword $(subst =, ,$l)))
$(WHEEL_LIBRARIES): $(IN_WHEEL)/gf_%: src/python/python.mk $(BUILD)/configured
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) -shared -nostdlib -Wl,-z,noexecstack -Wl,--no-as-needed -o $@ -l:$*

# libtiff needs it, the program does not, and a wheel with JBIG-KIT inside would be under the GNU General Public License.
$(IN_WHEEL)/replaced/libjbig.so.0: src/python/jbig.c $(BUILD)/configured
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(GF_CFLAGS) $(CFLAGS) -fvisibility=default -Wno-missing-prototypes -shared -Wl,-soname,$(@F) -o $@ $<

wheel-folder: python $(IN_WHEEL)/gpufilter $(WHEEL_LIBRARIES) $(IN_WHEEL)/replaced/libjbig.so.0
	@rm -f $(filter-out $(WHEEL_LIBRARIES),$(wildcard $(IN_WHEEL)/gf_* $(IN_WHEEL)/*.so)) # of another list of formats, and as above
	$(if $(LOOKED_AGAIN),@touch $(BUILD)/config.mk)

wheel-here: wheel-folder
	@$(PYTHON) src/python/wheel.py $(BUILD) $(or $(WHEEL_TO),$(BUILD))

# The chips that CUDA 13 knows have machine code, where need be that of the oldest one of their kind; later ones compile PTX of
# the oldest architecture that has all that the kernels use. The names of Debian's packages are of no use elsewhere.
WHEEL_ARCHS ?= $(filter 75 80 90 100 120,$(NVCC_ARCHS))
wheel: ## a Python wheel of the module, the library and the program, for CPUs and GPUs, in build/
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)-wheel WHEEL_TO=$(BUILD) CUDA=$(CUDA) STUDY=0 FORMATS="$(shell echo '$(FORMATS)' | sed 's/=[^, ]*//g')" \
	  $(if $(filter 1,$(CUDA)),CUDA_ARCHS="$(WHEEL_ARCHS)" PTX_ARCH=90 NVCCFLAGS="$(NVCCFLAGS) $(shell $(NVCC) --help | grep -q compress-mode && echo --compress-mode=size)") \
	  wheel-here

.PHONY: python wheel wheel-folder wheel-here

-include $(IN_WHEEL)/main.d
