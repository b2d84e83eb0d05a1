# gpufilter: `make` builds, `make demo` shows, `make test` tests, `make help` lists the rest.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
NVCC ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
# 1: build the CUDA backend; 0: only the CPU backend. By default, if there is an nvcc.
CUDA ?= $(if $(NVCC),1,0)
# Architectures to make cubins for; PTX goes in for the newest.
ifndef CUDA_ARCHS
CUDA_ARCHS := $(if $(NVCC),$(filter $(shell $(NVCC) --list-gpu-code 2>/dev/null | sed 's/sm_//'),75 80 86 89 90 100 120))
endif
SANITIZE ?=
# 1: kernels carry their source lines, for Nsight and compute-sanitizer; the program is then twice as large.
LINEINFO ?=
# demo and test build with a job for each processor, unless make was told how many.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

VERSION := $(shell sed -n 's/.*GF_VERSION "\(.*\)".*/\1/p' src/base/version.h)
PACKAGES := libpng libjpeg zlib
# Used where they are, done without where they are not; ISAL=0 leaves it out.
ISAL ?= $(if $(shell pkg-config --exists libisal 2>/dev/null && echo 1),1,0)
OPTIONAL_PACKAGES := $(if $(filter 1,$(ISAL)),libisal)

PKG_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) $(OPTIONAL_PACKAGES) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PACKAGES) $(OPTIONAL_PACKAGES) 2>/dev/null)
CMOCKA_CFLAGS := $(shell pkg-config --cflags cmocka 2>/dev/null)
CMOCKA_LIBS := $(shell pkg-config --libs cmocka 2>/dev/null)

INCLUDES := -Iinclude -Isrc -I.
CPPFLAGS += -D_GNU_SOURCE $(INCLUDES) $(PKG_CFLAGS)
ifeq ($(ISAL),1)
CPPFLAGS += -DGF_WITH_ISAL
endif
# Contraction off on both compilers: the picture must not depend on who rounds once and who twice.
CFLAGS ?= -O3 -g
GF_CFLAGS := -std=c17 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -fPIC \
  -fvisibility=hidden -ffp-contract=off -fno-math-errno -fno-trapping-math -pthread
NVCCFLAGS ?= -O3
GF_NVCCFLAGS := -std=c++17 -fmad=false -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra $(if $(LINEINFO),-lineinfo)

ifneq ($(SANITIZE),)
GF_CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS += -fsanitize=$(SANITIZE)
endif

# The library, from the lowest layer up; the rest of src/ is the program's alone. The tests link both archives.
LIB_DIRS := base stage pixel filters chain codec/io codec/common codec/png codec/jpeg codec/pnm codec engine pipeline selftest
TOOL_DIRS := batch bench labs report cli
LIB_SRC := $(wildcard $(patsubst %,src/%/*.c,$(LIB_DIRS)))
MAIN_SRC := src/cli/main.c
TOOL_SRC := $(filter-out $(MAIN_SRC),$(wildcard $(patsubst %,src/%/*.c,$(TOOL_DIRS))))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
MAIN_OBJ := $(MAIN_SRC:%.c=$(BUILD)/%.o)
LIBS = $(PKG_LIBS) -lm -pthread

ifeq ($(CUDA),1)
CPPFLAGS += -DGF_WITH_CUDA
CUDA_HOME := $(patsubst %/bin/,%,$(dir $(realpath $(NVCC))))
CPPFLAGS += -isystem $(CUDA_HOME)/include
CUDA_OBJ := $(patsubst %.cu,$(BUILD)/%.o,$(wildcard cuda/common/*.cu cuda/backend/*.cu cuda/codec/*.cu cuda/filters/*.cu cuda/filters/*/*.cu cuda/variants/*.cu))
LAB_CU := $(wildcard cuda/labs/*.cu)
comma := ,
space := $(subst ,, )
CUDA_NEWEST := $(lastword $(CUDA_ARCHS))
CUBINS := $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a))
GENCODE := $(CUBINS) -gencode arch=compute_$(CUDA_NEWEST),code=compute_$(CUDA_NEWEST)
CUDA_LIBDIR := $(firstword $(wildcard $(CUDA_HOME)/targets/x86_64-linux/lib $(CUDA_HOME)/targets/sbsa-linux/lib \
  $(CUDA_HOME)/lib64 /usr/lib/x86_64-linux-gnu))
LIBS += -L$(CUDA_LIBDIR) -lcudart_static -ldl -lrt -lstdc++
else
# Without CUDA the labs are their declarations, which are C.
LAB_CU := $(patsubst %,cuda/labs/%.cu,$(shell sed -n 's/^GF_LAB(\(.*\))$$/\1/p' src/labs/labs.def))
endif
TOOL_OBJ = $(TOOL_SRC:%.c=$(BUILD)/%.o) $(LAB_CU:%.cu=$(BUILD)/%.o)

LIB_A := $(BUILD)/libgpufilter.a
TOOL_A := $(BUILD)/libtool.a
LIB_SO := $(BUILD)/libgpufilter.so
PROGRAM := $(BUILD)/gpufilter
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

all: detected $(PROGRAM) $(LIB_SO) ## the program and the libraries, in build/

detected:
	@sh tests/detect.sh "$(CUDA)" "$(NVCC)" "$(CUDA_ARCHS)" "$(ISAL)" $(PACKAGES)

$(PROGRAM): $(MAIN_OBJ) $(TOOL_A) $(LIB_A)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$(LIB_A): $(LIB_OBJ) $(CUDA_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(TOOL_A): $(TOOL_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(LIB_SO): $(LIB_OBJ) $(CUDA_OBJ)
	$(CC) -shared -Wl,-soname,libgpufilter.so.0 -Wl,--exclude-libs,ALL $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(GF_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

ifeq ($(CUDA),1)
# Contracted, as the guides' examples are; declared as in C, where the members left out are zero.
$(BUILD)/cuda/labs/%.o: GF_NVCCFLAGS := $(filter-out -fmad=false,$(GF_NVCCFLAGS)) \
  -Xcompiler -Wno-missing-field-initializers
# The lab of compiler flags: one source under each of them.
$(BUILD)/cuda/labs/flags_ftz.o: GF_NVCCFLAGS += -ftz=true
$(BUILD)/cuda/labs/flags_div.o: GF_NVCCFLAGS += -prec-div=false
$(BUILD)/cuda/labs/flags_sqrt.o: GF_NVCCFLAGS += -prec-sqrt=false
$(BUILD)/cuda/labs/flags_fast.o: GF_NVCCFLAGS += -use_fast_math

# Device code that launches kernels is relocatable and linked with the device's runtime, which PTX cannot be. All
# of it in one object, so that nothing that is linked with it need know.
$(BUILD)/cuda/labs/dynamic_parallelism.o: cuda/labs/dynamic_parallelism.cu
	@mkdir -p $(@D)
	$(NVCC) -rdc=true $(GF_NVCCFLAGS) $(NVCCFLAGS) $(CUBINS) -DGF_WITH_CUDA $(INCLUDES) -MMD -MP -MF $(@:.o=.d) \
	  -MT $@ -c -o $(@:.o=.relocatable.o) $<
	$(NVCC) -dlink -Xcompiler -fPIC $(CUBINS) -o $(@:.o=.linked.o) $(@:.o=.relocatable.o) -lcudadevrt
	$(LD) -r -o $@ $(@:.o=.relocatable.o) $(@:.o=.linked.o) $(CUDA_LIBDIR)/libcudadevrt.a
else
$(BUILD)/cuda/labs/%.o: cuda/labs/%.cu
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(GF_CFLAGS) $(CFLAGS) -MMD -MP -x c -c -o $@ $<
endif

$(BUILD)/%.o: %.cu
	@mkdir -p $(@D)
	$(NVCC) $(GF_NVCCFLAGS) $(NVCCFLAGS) $(GENCODE) -DGF_WITH_CUDA '-DGF_ARCHITECTURES=$(subst $(space),\$(comma),$(strip $(CUDA_ARCHS)))' $(INCLUDES) -MMD -MP -c -o $@ $<

$(BUILD)/tests/%: tests/%.c $(TOOL_A) $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(CMOCKA_CFLAGS) $(GF_CFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $< $(TOOL_A) $(LIB_A) $(CMOCKA_LIBS) $(LIBS)

# A build folder belongs to one set of flags: start over instead of linking a mixture. Done before make looks
# at what is there.
FLAGS_NOW := CUDA=$(CUDA) LINEINFO=$(LINEINFO) ISAL=$(ISAL) ARCHS=$(CUDA_ARCHS) SANITIZE=$(SANITIZE) CFLAGS=$(GF_CFLAGS) $(CFLAGS)
ifneq ($(filter-out clean help format lint asan ubsan,$(or $(MAKECMDGOALS),all)),)
$(shell mkdir -p $(BUILD); echo '$(FLAGS_NOW)' | cmp -s - $(BUILD)/flags || { \
  find $(BUILD) -name '*.o' -delete; rm -f $(LIB_A) $(TOOL_A) $(LIB_SO) $(PROGRAM); echo '$(FLAGS_NOW)' > $(BUILD)/flags; })
endif

test: ## installs what is missing, builds, runs every test
	@tests/packages.sh test
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD) CUDA=$(CUDA) test-only

test-only: all $(TESTS)
	@GPUFILTER=$(abspath $(PROGRAM)) CC="$(CC)" CXX="$(CXX)" LINK_FLAGS="$(LDFLAGS) $(LIBS)" tests/run.sh $(TESTS) tests/run-cli.sh tests/selftest.sh tests/layers.sh \
	  tests/api.sh tests/readme.sh tests/example_filters.sh

demo: ## installs what is missing, builds, filters a sample picture
	@tests/packages.sh build
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD) CUDA=$(CUDA) all
	$(PROGRAM) --verbose -i samples/harbour.png -o $(BUILD)/demo.png blur,equalize
	@echo "before: samples/harbour.png"
	@echo "after:  $(BUILD)/demo.png"

bits: $(BUILD)/tests/test_bits ## writes the checksums of all results anew, after a deliberate change
	GF_BITS_WRITE=tests/bits.txt $<

selftest: $(PROGRAM) ## every filter on every device of this machine against the CPU backend
	$(PROGRAM) --selftest

# Memory, races, uninitialised reads and barriers of every kernel: a process for each filter and tool.
sanitize-gpu: $(PROGRAM) ## compute-sanitizer's four tools over the short self-test of every filter
	@sh tests/sanitize.sh $(PROGRAM) $(BUILD)/sanitize

# Leaks are looked for too; CUDA is left out, since its driver is not instrumented.
asan: ## the tests under the address sanitizer
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)-asan CUDA=0 SANITIZE=address CFLAGS='-O1 -g' test-only

ubsan: ## the tests under the undefined-behaviour sanitizer
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)-ubsan CUDA=0 SANITIZE=undefined CFLAGS='-O1 -g' test-only

FORMATTED = $(wildcard include/gpufilter/*.h samples/harbour/*.[ch] src/*/*.[ch] src/*/*/*.[ch] tests/*.[ch] cuda/*/*.cu cuda/*/*.cuh cuda/*/*/*.cu cuda/*/*/*.cuh)
format: ## clang-format over the tree
	clang-format -i $(FORMATTED)

lint: ## cppcheck and shellcheck, where they are
	-cppcheck --quiet --enable=warning,portability --inline-suppr --suppress=missingIncludeSystem \
	  -D_GNU_SOURCE $(INCLUDES) src
	-shellcheck tests/*.sh tests/cli/*.sh samples/*.sh

BINDIR = $(PREFIX)/bin
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
MANDIR = $(PREFIX)/share/man/man1
COMPLETIONDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR = $(PREFIX)/share/zsh/site-functions
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d
SONAME := libgpufilter.so.0
INSTALLED = $(BINDIR)/gpufilter $(LIBDIR)/libgpufilter.a $(LIBDIR)/libgpufilter.so $(LIBDIR)/$(SONAME) \
  $(LIBDIR)/libgpufilter.so.$(VERSION) $(LIBDIR)/pkgconfig/gpufilter.pc $(INCLUDEDIR)/gpufilter \
  $(MANDIR)/gpufilter.1 $(COMPLETIONDIR)/gpufilter $(ZSHDIR)/_gpufilter $(FISHDIR)/gpufilter.fish

# Requires.private and Libs.private: what a program needs besides that links libgpufilter.a.
define PKG_CONFIG_FILE
prefix=$(PREFIX)
libdir=$(LIBDIR)
includedir=$(INCLUDEDIR)

Name: gpufilter
Description: image filters on NVIDIA GPUs, and the same pictures without one
Version: $(VERSION)
Requires.private: $(PACKAGES) $(OPTIONAL_PACKAGES)
Cflags: -I$${includedir}
Libs: -L$${libdir} -lgpufilter
Libs.private: $(filter-out $(PKG_LIBS),$(LIBS))
endef

# The manual and the completion are the program's own words: written by it, so that they cannot disagree with it.
install: all ## program, libraries, headers, manual, completion, to DESTDIR and PREFIX
	install -d $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED))) $(INCLUDEDIR)/gpufilter)
	$(PROGRAM) --man > $(BUILD)/gpufilter.1
	for shell in bash zsh fish; do $(PROGRAM) --completion=$$shell > $(BUILD)/gpufilter.$$shell || exit 1; done
	$(file > $(BUILD)/gpufilter.pc,$(PKG_CONFIG_FILE))
	install -m 755 $(PROGRAM) $(DESTDIR)$(BINDIR)/gpufilter
	install -m 644 $(LIB_A) $(DESTDIR)$(LIBDIR)/libgpufilter.a
	install -m 755 $(LIB_SO) $(DESTDIR)$(LIBDIR)/libgpufilter.so.$(VERSION)
	ln -sf libgpufilter.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libgpufilter.so
	install -m 644 include/gpufilter/*.h $(DESTDIR)$(INCLUDEDIR)/gpufilter
	install -m 644 $(BUILD)/gpufilter.pc $(DESTDIR)$(LIBDIR)/pkgconfig/gpufilter.pc
	install -m 644 $(BUILD)/gpufilter.1 $(DESTDIR)$(MANDIR)/gpufilter.1
	install -m 644 $(BUILD)/gpufilter.bash $(DESTDIR)$(COMPLETIONDIR)/gpufilter
	install -m 644 $(BUILD)/gpufilter.zsh $(DESTDIR)$(ZSHDIR)/_gpufilter
	install -m 644 $(BUILD)/gpufilter.fish $(DESTDIR)$(FISHDIR)/gpufilter.fish

uninstall: ## removes what install put there
	rm -rf $(addprefix $(DESTDIR),$(INSTALLED))

.PHONY: install uninstall

clean: ## removes the build folder
	rm -rf $(BUILD)

# The benchmarks. NPP is only compared with: its headers and libraries, where the toolkit (or NPP_HOME) has them.
NPP_HOME ?= $(CUDA_HOME)
NPP_HEADER := $(firstword $(wildcard $(addsuffix /npp.h,$(NPP_HOME)/include $(NPP_HOME)/targets/*/include /usr/include)))
NPP_LIBDIR := $(firstword $(dir $(wildcard $(addsuffix /libnppif.so*,$(NPP_HOME)/targets/*/lib $(NPP_HOME)/lib64 \
  $(NPP_HOME)/lib /usr/lib/*-linux-gnu))))
NPP_LIBS := $(if $(NPP_HEADER),$(foreach l,if ig ist itc ial idei icc c,$(firstword \
  $(wildcard $(NPP_LIBDIR)libnpp$(l).so $(NPP_LIBDIR)libnpp$(l).so.*))))
NPP_CU := $(wildcard tests/bench/npp*.cu)
BENCH_SRC := $(filter-out $(if $(NPP_LIBS),tests/bench/npp_none.c,$(NPP_CU)),$(wildcard tests/bench/*.c tests/bench/*.cu))
BENCH_GPU := $(BUILD)/bench-gpu

$(NPP_CU:%.cu=$(BUILD)/%.o): GF_NVCCFLAGS += $(addprefix -I,$(filter-out /usr/include/,$(dir $(NPP_HEADER))))

$(BENCH_GPU): $(addprefix $(BUILD)/,$(addsuffix .o,$(basename $(BENCH_SRC)))) $(LIB_A)
	$(CC) $(LDFLAGS) -o $@ $^ $(NPP_LIBS) $(sort $(NPP_LIBS:%=-Wl,-rpath,$(NPP_LIBDIR))) $(LIBS)

bench: $(PROGRAM) ## the CPU backend beside vips, ImageMagick and others: tables, and JSON in tests/bench/results
	@bash tests/bench/cpu.sh $(PROGRAM)

bench-batch: $(PROGRAM) ## thousands of JPEGs by every device and codec, single ones by auto: tables and JSON
	@bash tests/bench/batch.sh $(PROGRAM)

ifeq ($(CUDA),1)
bench-gpu: $(PROGRAM) $(BENCH_GPU) ## kernels beside NPP's, the pipeline and the start on a GPU: tables and JSON
	@sh tests/bench/gpu.sh $(BENCH_GPU) $(PROGRAM)
compare: $(PROGRAM) ## the variants of every filter side by side on a GPU: tests/bench/results/compare-DATE.txt
	@sh tests/bench/compare.sh $(PROGRAM) $(or $(RESULTS),tests/bench/results/compare-$(shell date -u +%Y-%m-%d).txt)

techniques: $(PROGRAM) ## every technique of the guides shown on a GPU: tests/bench/results/techniques.md
	@bash tests/bench/techniques.sh $(PROGRAM) $(or $(RESULTS_DIR),tests/bench/results)
else
bench-gpu compare techniques:
	@echo "$@: this build has no CUDA backend (no nvcc, or CUDA=0)" >&2; exit 3
endif

BENCH_PNG := $(BUILD)/bench-png
$(BENCH_PNG): $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/bench/png/*.c)) $(LIB_A)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

bench-png: $(PROGRAM) $(BENCH_PNG) ## PNG written and read beside libpng, level by level: tables and JSON
	@bash tests/bench/png/png.sh $(BENCH_PNG) $(PROGRAM)
.PHONY: bench bench-batch bench-gpu bench-png compare techniques

# What stands between the README's marks is the declarations' own, and the newest results'.
readme: $(PROGRAM) ## brings the generated parts up to date: the README's, the gallery, the page of results
	@tests/bench/readme.sh $(PROGRAM) .

gallery: $(PROGRAM) ## a picture for each filter, in samples/gallery
	@samples/gallery.sh $(PROGRAM)

# Rows are rendered side by side where the compiler has OpenMP.
picture: $(PROGRAM) ## renders samples/harbour.png anew, in a minute or two
	$(CC) -std=c17 -D_GNU_SOURCE -O3 -fopenmp -ffp-contract=off -o $(BUILD)/harbour samples/harbour/*.c -lm
	$(BUILD)/harbour $(BUILD)/harbour.ppm
	$(PROGRAM) --png-level=9 -i $(BUILD)/harbour.ppm -o samples/harbour.png

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 14

.PHONY: all detected bits test test-only demo selftest sanitize-gpu asan ubsan format lint readme gallery picture clean help

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
