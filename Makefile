# gpufilter: `make` builds, `make demo` shows, `make test` tests, `make help` lists the rest.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=

# The settings of a build. What stands on the command line or in the environment counts first, then what the folder
# was built with (build/config.mk, until `make clean`), then what is found on this machine. So `make install` uses the
# program that is there, whoever runs it.
MAKEFLAGS += --no-builtin-rules
ifeq ($(origin CC),default)
undefine CC
endif
-include $(BUILD)/config.mk
unset = $(filter undefined,$(origin $1))

# What was found, and not chosen, is looked for again by a build where a header, a package or another way of looking has come since.
FOUND := ISAL LCMS NVDEC FORMATS PKG_CFLAGS PKG_LIBS
CHOSEN := $(sort $(CHOSEN) $(foreach s,$(FOUND),$(if $(filter command environment,$(origin $s)),$s)))
ifneq ($(and $(wildcard $(BUILD)/config.mk),$(filter all demo test test-only python wheel-folder,$(or $(MAKECMDGOALS),all))),)
LOOKED_AGAIN := $(shell find tests/formats.sh /usr/include $$(pkg-config --variable=pc_path pkg-config | tr : ' ') -maxdepth 0 -newer $(BUILD)/config.mk 2>/dev/null)
$(if $(LOOKED_AGAIN),$(foreach s,$(filter-out $(CHOSEN),$(FOUND)),$(eval undefine $s)))
endif

CC ?= cc
CFLAGS ?= -O3 -g
NVCCFLAGS ?= -O1
SANITIZE ?=
PYTHON ?= python3
# What stands before nvcc where it compiles, such as ccache.
NVCC_CACHE ?=
# 1: kernels carry their source lines, for Nsight and compute-sanitizer; the program is then twice as large.
LINEINFO ?=
ifneq ($(call unset,NVCC),)
NVCC := $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
endif
# 1: build the CUDA backend; 0: only the CPU backend. By default, if there is an nvcc. Toolkits from 11.8 on build it
# (tried: 11.8 with g++-11 on Debian 12, 12.0 with g++-12 on Ubuntu 24.04, 13.0).
CUDA ?= $(if $(NVCC),1,0)
# ISA-L is used where it is; ISAL=0 leaves it out.
ifneq ($(call unset,ISAL),)
ISAL := $(if $(shell pkg-config --exists libisal 2>/dev/null && echo 1),1,0)
endif
# HEIC is decoded on the GPU where the headers of ffnvcodec are (the driver's library is loaded when it is needed); NVDEC=0
# leaves it out.
ifneq ($(call unset,NVDEC),)
NVDEC := $(if $(shell pkg-config --exists ffnvcodec 2>/dev/null && echo 1),1,0)
endif
# The picture formats beyond PNG, JPEG, PNM and PAM whose libraries are here; WITHOUT="avif heif" leaves some out. Their
# libraries are loaded when such a picture is met, since starting with all of them would take longer than most pictures.
# The filter text (text), its fonts by name (fonts), archives (tar) and cells for decoders (seccomp) are asked for and left out in the same way.
ifneq ($(call unset,FORMATS),)
FORMATS := $(filter-out $(addsuffix :%,$(WITHOUT)),$(shell sh tests/formats.sh $(or $(CC),cc)))
endif
FORMAT_NAMES := $(foreach f,$(FORMATS),$(firstword $(subst :, ,$f)))
# So is Little CMS, without which no colours are converted; LCMS=0 leaves it out.
ifneq ($(call unset,LCMS),)
LCMS := $(if $(shell pkg-config --exists lcms2 2>/dev/null && echo 1),1,0)
# A folder that was configured before this was asked knows other packages.
ifeq ($(origin PKG_LIBS),file)
undefine PKG_CFLAGS
undefine PKG_LIBS
endif
endif
# 0 leaves out what people study CUDA with: labs, the variants of the kernels, comparisons, explanations, saved reports. The
# folder remembers it apart, since few files ask for it; no others are compiled again where it changes.
STUDY ?= $(or $(file <$(BUILD)/study),1)
STUDY_READERS := $(shell grep -rlE --include='*.c' 'GF_WITH_STUDY|"(cli/study/study|cuda/study/variants/variants)\.h"' src cuda tests)
# Flags that make errors harder to exploit, as far as the compiler knows them; HARDENING= leaves them out.
ifneq ($(call unset,HARDENING),)
HARDENING := $(shell sh tests/hardening.sh "$(SANITIZE)" $(CC) $(CFLAGS))
endif

# What the GPU's machine code is made for. By default this machine's GPUs; "90" or "80 90": these; all: every
# architecture that the toolkit knows; ptx: none, the driver compiles PTX that every supported GPU runs. The PTX that goes
# in is that of the newest architecture.
ifeq ($(CUDA),1)
# The C++ compiler that nvcc works with.
ifeq ($(CUDAHOSTCXX),)
CUDAHOSTCXX := $(shell sh tests/nvcc_host.sh $(NVCC))
endif
NVCC_ARCHS := $(filter $(shell $(NVCC) --list-gpu-code 2>/dev/null | sed 's/sm_//'),75 80 86 87 89 90 100 103 110 120 121)
ALL_ARCHS := $(filter 75 80 86 89 90 100 120,$(NVCC_ARCHS))
ifeq ($(CUDA_ARCHS),)
CUDA_ARCHS := $(or $(filter $(NVCC_ARCHS),$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | \
  sed -n 's/^\([0-9]*\)\.\([0-9]\)$$/\1\2/p' | sort -nu)),ptx)
endif
CUBIN_ARCHS := $(filter-out ptx,$(if $(filter all,$(CUDA_ARCHS)),$(ALL_ARCHS),$(CUDA_ARCHS)))
PTX_ARCH := $(or $(lastword $(CUBIN_ARCHS)),$(firstword $(NVCC_ARCHS)))
endif

# V=1 prints whole commands, V=0 how far the build is: on a terminal in one line, else a line for every 10 files.
say_ = @echo '$1 $2';
say_0 = $(eval said += x)@n=$(words $(said)); all=$(words $(if $(word $(words $(said)),$(missing)),$(missing),$(said))); \
  if [ -t 1 ]; then printf '\r\033[K[%s/%s] %s' $$n $$all '$1 $2'; elif [ $$((n % 10)) = 0 ]; then echo "[$$n/$$all] $1 $2"; fi;
say_1 =
say = $(say_$(V))
# demo and test build with a job for each processor, unless make was told how many.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

VERSION := $(shell sed -n 's/^#define GF_VERSION_[MP][A-Z]* //p' include/gpufilter/version.h | paste -sd.)
PACKAGES := libpng libjpeg zlib
OPTIONAL_PACKAGES := $(if $(filter 1,$(ISAL)),libisal) $(if $(filter 1,$(LCMS)),lcms2)
ifneq ($(call unset,PKG_CFLAGS),)
PKG_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) $(OPTIONAL_PACKAGES) 2>/dev/null)
endif
ifneq ($(call unset,PKG_LIBS),)
PKG_LIBS := $(shell pkg-config --libs $(PACKAGES) $(OPTIONAL_PACKAGES) 2>/dev/null)
endif
# cmocka 2 would have macros that its version 1 lacks.
CMOCKA_CFLAGS := $(shell pkg-config --cflags cmocka 2>/dev/null) -DCMOCKA_DISABLE_DEPRECATION_WARNINGS
CMOCKA_LIBS := $(shell pkg-config --libs cmocka 2>/dev/null)

comma := ,
space := $(subst ,, )
INCLUDES := -Iinclude -Isrc -I.
# The library that a format is loaded from, and its package: -DGF_LIBRARY_webp=libwebp.so.7=libwebp7. -DGF_WITH_webp=, is for
# the table of the formats (src/codec/formats.c).
FORMAT_FLAGS := $(FORMAT_NAMES:%=-DGF_WITH_%=$(comma)) $(foreach l,$(subst $(comma), ,$(foreach f,$(FORMATS),$(lastword $(subst :, ,$f)))),\
  -DGF_LIBRARY_$(patsubst lib%,%,$(firstword $(subst -, ,$(firstword $(subst .so, ,$l)))))=$l)
TEXT_CFLAGS := $(if $(filter text,$(FORMAT_NAMES)),$(shell pkg-config --cflags freetype2 harfbuzz $(if $(filter fonts,$(FORMAT_NAMES)),fontconfig)))
JP2_CFLAGS := $(if $(filter jp2,$(FORMAT_NAMES)),$(shell pkg-config --cflags libopenjp2))
EXR_CFLAGS := $(if $(filter exr,$(FORMAT_NAMES)),$(filter -I%,$(shell pkg-config --cflags OpenEXR)))
GF_CPPFLAGS = -D_GNU_SOURCE $(INCLUDES) $(PKG_CFLAGS) $(if $(filter 1,$(ISAL)),-DGF_WITH_ISAL) \
  $(if $(filter 1,$(LCMS)),-DGF_WITH_LCMS) $(and $(filter 1,$(STUDY)),$(filter $(STUDY_READERS),$<),-DGF_WITH_STUDY) \
  $(FORMAT_FLAGS) $(TEXT_CFLAGS) $(JP2_CFLAGS) $(EXR_CFLAGS)
# Contraction is off on both compilers: the picture must not depend on who rounds once and who twice.
GF_CFLAGS := -std=c17 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -fPIC \
  -fvisibility=hidden -ffp-contract=off -fno-math-errno -fno-trapping-math -pthread $(HARDENING)
# At -O1 gcc has vzeroupper behind code for AVX only with this flag; without it, code for SSE that follows took 18 times as long.
GF_CFLAGS += $(if $(findstring clang,$(shell $(CC) --version)),,-fexpensive-optimizations)
NVCC_HOST := $(addprefix -ccbin ,$(CUDAHOSTCXX))
# nvcc's C++ compiler may be older than the C compiler: level 2 of _FORTIFY_SOURCE is known to all.
GF_NVCCFLAGS := $(NVCC_HOST) -std=c++17 -fmad=false -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra \
  $(addprefix -Xcompiler=,$(subst SOURCE=3,SOURCE=2,$(HARDENING))) $(if $(LINEINFO),-lineinfo)
GF_LDFLAGS := $(if $(HARDENING),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now)
PIE := $(if $(HARDENING),-pie)

ifneq ($(SANITIZE),)
GF_CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
GF_LDFLAGS += -fsanitize=$(SANITIZE)
# LibRaw throws exceptions, whose function the address sanitizer looks up when the program starts: libstdc++ must be there.
GF_LDFLAGS += $(if $(findstring address,$(SANITIZE)),$(if $(filter raw,$(FORMAT_NAMES)),-Wl$(comma)--no-as-needed -lstdc++ -Wl$(comma)--as-needed))
endif

# The library, from the lowest layer up; the rest of src/ is the program's alone. The tests link both archives. A layer's
# folder has files of its own and rooms, which may have rooms. Formats whose libraries are missing are left out.
LIB_DIRS := base icc stage pixel measure text filters chain codec engine pipeline selftest
FORMATS_MISSING := $(filter-out $(FORMAT_NAMES),$(shell sed -n 's/.*GF_BY_LIBRARY.\([a-z0-9]*\),.*/\1/p' src/codec/common/formats.def))
PROGRAM_DIRS := server batch bench report study cli
without_study = $(filter-out $(if $(filter 1,$(STUDY)),,src/study/% src/cli/study/% cuda/study/% tests/study/%),$1)
sources = $(wildcard $(foreach folder,$1,src/$(folder)/*.c src/$(folder)/*/*.c src/$(folder)/*/*/*.c))
LIB_SRC := $(filter-out $(FORMATS_MISSING:%=src/codec/%/%),$(call sources,$(LIB_DIRS))) $(call without_study,$(wildcard cuda/study/variants/*.c))
MAIN_SRC := src/cli/main.c
PROGRAM_SRC := $(call without_study,$(filter-out $(MAIN_SRC),$(call sources,$(PROGRAM_DIRS))))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
MAIN_OBJ := $(MAIN_SRC:%.c=$(BUILD)/%.o)
LIBS = $(PKG_LIBS) -lm -pthread

ifeq ($(CUDA),1)
CUDA_HOME := $(patsubst %/bin/,%,$(dir $(realpath $(NVCC))))
GF_CPPFLAGS += -DGF_WITH_CUDA $(if $(filter 1,$(NVDEC)),-DGF_WITH_NVDEC) $(addprefix -isystem ,$(addsuffix /include,$(filter-out /usr,$(CUDA_HOME))))
# Those that take longest to compile come first.
CUDA_OBJ := $(patsubst %.cu,$(BUILD)/%.o,$(call without_study,$(wildcard $(patsubst %,cuda/%/*.cu,\
  study/variants filters filters/* common $(if $(filter 1,$(NVDEC)),heic) jpeg png yuv measure backend))))
CUBINS := $(foreach a,$(CUBIN_ARCHS),-gencode arch=compute_$(a),code=sm_$(a))
GENCODE := $(CUBINS) -gencode arch=compute_$(PTX_ARCH),code=compute_$(PTX_ARCH)
CUDA_LIBDIR := $(patsubst %/,%,$(dir $(firstword $(wildcard $(addsuffix /libcudart_static.a,$(CUDA_HOME)/targets/x86_64-linux/lib \
  $(CUDA_HOME)/targets/sbsa-linux/lib $(CUDA_HOME)/lib64 /usr/lib/*-linux-gnu)))))
LIBS += -L$(CUDA_LIBDIR) -lcudart_static -ldl -lrt $(if $(filter g++,$(CUDAHOSTCXX)),-lstdc++,$(or $(filter /%,$(shell $(or $(CUDAHOSTCXX),c++) -print-file-name=libstdc++.so)),-lstdc++))
endif
# Labs measure machine code for the GPU that they run on. Without any they are their declarations, which are C.
LABS := $(strip $(CUBIN_ARCHS))
LAB_DECLARATIONS := $(filter-out %/lab.cu,$(wildcard cuda/study/labs/*.cu))
ifneq ($(LABS),)
# The lab of compiler flags is one file, compiled once for each set of them, too.
FLAG_SETS := ieee ftz div sqrt fast
FLAGS_ftz := -ftz=true
FLAGS_div := -prec-div=false
FLAGS_sqrt := -prec-sqrt=false
FLAGS_fast := -use_fast_math
LAB_STEMS := $(LAB_DECLARATIONS:%.cu=%) cuda/study/labs/lab $(FLAG_SETS:%=cuda/study/labs/flags_%)
GF_CPPFLAGS += -DGF_WITH_LABS
else
LAB_STEMS := $(LAB_DECLARATIONS:%.cu=%)
endif
PROGRAM_OBJ = $(PROGRAM_SRC:%.c=$(BUILD)/%.o) $(patsubst %,$(BUILD)/%.o,$(call without_study,$(LAB_STEMS)))

LIB_A := $(BUILD)/libgpufilter.a
PROGRAM_A := $(BUILD)/program.a
LIB_SO := $(BUILD)/libgpufilter.so
PROGRAM := $(BUILD)/gpufilter
# The tests of a folder are one program, to which a link leads for each test file; some say in their first line that they are
# a program of their own, since their functions stand for the library's or their main() has arguments. ONLY=tiff takes the
# tests alone whose file or folder has that in its name.
only = $(if $(ONLY),$(foreach t,$1,$(if $(findstring $(ONLY),$t),$t)),$1)
ALL_TEST_SRC := $(call without_study,$(wildcard tests/*/test_*.c))
TEST_SRC := $(call only,$(ALL_TEST_SRC))
TESTS := $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(TEST_SRC)))
$(if $(filter $(words $(TESTS)),$(words $(sort $(TESTS)))),,$(error two test files have one name))
TESTS_ALONE := $(shell grep -l '^/\* A program of its own' $(ALL_TEST_SRC))
TESTS_TOGETHER := $(filter-out $(TESTS_ALONE),$(ALL_TEST_SRC))
TEST_ROOMS := $(sort $(patsubst tests/%/,%,$(dir $(TESTS_TOGETHER))))
ifeq ($(V),0)
built := $(LIB_OBJ) $(MAIN_OBJ) $(PROGRAM_OBJ) $(CUDA_OBJ) $(LIB_A) $(PROGRAM_A) $(LIB_SO) $(PROGRAM)
missing := $(filter-out $(wildcard $(built)),$(built))
endif
include tests/faults/faults.mk

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

all: $(CUDA_OBJ) $(PROGRAM) $(LIB_SO) ## the program and the libraries, in build/
	$(if $(LOOKED_AGAIN),@touch $(BUILD)/config.mk)

$(PROGRAM): $(MAIN_OBJ) $(PROGRAM_A) $(LIB_A)
	$(call say,LD,$@)$(CC) $(PIE) $(GF_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(LIB_A): $(LIB_OBJ) $(CUDA_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(PROGRAM_A): $(PROGRAM_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(LIB_SO): $(LIB_OBJ) $(CUDA_OBJ)
	$(call say,LD,$@)$(CC) -shared -Wl,-soname,libgpufilter.so.1 -Wl,--exclude-libs,ALL $(GF_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c $(BUILD)/configured
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(GF_CPPFLAGS) $(CPPFLAGS) $(GF_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The page's frame, style and script are part of the program, and so are the cookbook, the manual and the
# functions of the shells.
$(BUILD)/src/report/page/page.o: $(addprefix src/report/page/page.,html css js)
$(BUILD)/src/cli/help/help.o: samples/README.md
$(BUILD)/src/cli/help/man.o: src/cli/help/manual.txt
$(BUILD)/src/cli/help/topics.o: $(wildcard src/cli/help/topics/*.txt)
$(BUILD)/src/cli/help/completion.o: $(addprefix src/cli/help/completion.,bash zsh fish)
$(BUILD)/src/cli/study/study_help.o: src/cli/study/manual.txt

ifneq ($(LABS),)
# Contracted, as the guides' examples are; declared as in C, where the members left out are zero.
$(BUILD)/cuda/study/labs/%.o: GF_NVCCFLAGS := $(filter-out -fmad=false,$(GF_NVCCFLAGS)) -DGF_WITH_LABS \
  -Xcompiler -Wno-missing-field-initializers

$(BUILD)/cuda/study/labs/flags_%.o: cuda/study/labs/flags.cu $(BUILD)/configured
	@mkdir -p $(@D)
	$(call say,NVCC,$@)$(NVCC_CACHE) $(NVCC) $(GF_NVCCFLAGS) $(FLAGS_$*) -DFLAG_SET=flags_$* $(NVCCFLAGS) $(GENCODE) \
	  -DGF_WITH_CUDA $(INCLUDES) -MMD -MP -MF $(@:.o=.d) -MT $@ -c -o $@ $<

# Device code that launches kernels is relocatable and linked with the device's runtime, which PTX cannot be. All
# of it in one object, so that nothing that is linked with it need know.
$(BUILD)/cuda/study/labs/dynamic_parallelism.o: cuda/study/labs/dynamic_parallelism.cu $(BUILD)/configured
	@mkdir -p $(@D)
	$(call say,NVCC,$<)$(NVCC) -rdc=true $(GF_NVCCFLAGS) $(NVCCFLAGS) $(CUBINS) -DGF_WITH_CUDA $(INCLUDES) \
	  -MMD -MP -MF $(@:.o=.d) -MT $@ -c -o $(@:.o=.relocatable.o) $< && \
	$(NVCC) $(NVCC_HOST) -dlink -Xcompiler -fPIC $(CUBINS) -o $(@:.o=.linked.o) $(@:.o=.relocatable.o) -lcudadevrt && \
	$(LD) -r -o $@ $(@:.o=.relocatable.o) $(@:.o=.linked.o) $(CUDA_LIBDIR)/libcudadevrt.a
else
$(BUILD)/cuda/study/labs/%.o: cuda/study/labs/%.cu $(BUILD)/configured
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(GF_CPPFLAGS) $(CPPFLAGS) $(GF_CFLAGS) $(CFLAGS) -MMD -MP -x c -c -o $@ $<
endif

$(BUILD)/cuda/backend/device.o $(BUILD)/archs/cuda/backend/device.log: GF_NVCCFLAGS += -DGF_PTX_ARCHITECTURE=$(PTX_ARCH) \
  '-DGF_ARCHITECTURES=$(subst $(space),\$(comma),$(or $(strip $(CUBIN_ARCHS)),0))'

$(BUILD)/%.o: %.cu $(BUILD)/configured
	@mkdir -p $(@D)
	$(call say,NVCC,$<)$(NVCC_CACHE) $(NVCC) $(GF_NVCCFLAGS) $(NVCCFLAGS) $(GENCODE) -DGF_WITH_CUDA $(INCLUDES) -MMD -MP -c -o $@ $<

# Few filters and codecs need all that the functions of a declaration are given.
$(BUILD)/src/filters/%.o $(BUILD)/src/pixel/%.o $(BUILD)/src/codec/%.o: GF_CFLAGS += -Wno-unused-parameter

# Few tests use the state that cmocka hands to each, and few fakes all that they are given. The main() of a test file that is
# one of several is called by tests/suites.c.
COMPILE_TEST = $(CC) $(GF_CPPFLAGS) $(CPPFLAGS) -Itests $(CMOCKA_CFLAGS) $(GF_CFLAGS) -Wno-unused-parameter $(CFLAGS) -MMD -MP
LINK_TEST = $(CC) $(PIE) $(GF_LDFLAGS) $(LDFLAGS) -o $@ $^ $(CMOCKA_LIBS) $(LIBS)
TEST_OBJ := $(ALL_TEST_SRC:%.c=$(BUILD)/%.o)
$(TESTS_TOGETHER:%.c=$(BUILD)/%.o): COMPILE_TEST += -Wno-missing-prototypes -Dmain=main_of_$(*F)
$(TEST_OBJ): $(BUILD)/%.o: %.c $(BUILD)/configured
	@mkdir -p $(@D)
	$(call say,CC,$<)$(COMPILE_TEST) -c -o $@ $<

# suites.def has a line for each test file of the folder, and is written anew when these have changed.
define TEST_ROOM
$1_TESTS := $(filter tests/$1/%,$(TESTS_TOGETHER))
$1_SUITES := $$(patsubst tests/$1/%.c,SUITE(%),$$($1_TESTS))
$1_WRITTEN := $$(file <$(BUILD)/tests/$1/suites.def)
$(BUILD)/tests/$1/suites.def: $$(if $$(filter-out $$($1_SUITES),$$($1_WRITTEN))$$(filter-out $$($1_WRITTEN),$$($1_SUITES)),FORCE)
	@mkdir -p $$(@D) && echo '$$($1_SUITES)' >$$@
$(BUILD)/tests/$1/suites.o: tests/suites.c $(BUILD)/tests/$1/suites.def $(BUILD)/configured
	$$(call say,CC,$$@)$$(COMPILE_TEST) -I$$(@D) -c -o $$@ $$<
$(BUILD)/tests/$1/suites: $$($1_TESTS:%.c=$(BUILD)/%.o) $(BUILD)/tests/$1/suites.o $(PROGRAM_A) $(LIB_A)
	$$(call say,LD,$$@)$$(LINK_TEST)
$$($1_TESTS:tests/$1/%.c=$(BUILD)/tests/%): $(BUILD)/tests/$1/suites
	@ln -sf $1/suites $$@
endef
$(foreach room,$(TEST_ROOMS),$(eval $(call TEST_ROOM,$(room))))

define TEST_ALONE
$(BUILD)/tests/$(basename $(notdir $1)): $(1:%.c=$(BUILD)/%.o) $(PROGRAM_A) $(LIB_A)
	$$(call say,LD,$$@)$$(LINK_TEST)
endef
$(foreach test,$(TESTS_ALONE),$(eval $(call TEST_ALONE,$(test))))

# A build folder belongs to one set of settings: with others everything is compiled again. Reading the Makefile
# changes nothing; the recipe below writes down what the folder is built with.
define CONFIG
# The settings of this folder; `make clean` forgets them. Compiled with $(GF_CPPFLAGS) $(GF_CFLAGS) \
$(if $(filter 1,$(CUDA)),$(GENCODE) $(GF_NVCCFLAGS))
$(foreach name,CHOSEN WITHOUT CC CUDA $(if $(filter 1,$(CUDA)),NVCC CUDAHOSTCXX CUDA_ARCHS NVCCFLAGS LINEINFO NVDEC) ISAL LCMS FORMATS SANITIZE HARDENING CFLAGS \
  CPPFLAGS LDFLAGS PKG_CFLAGS PKG_LIBS,$(name) ?= $(strip $($(name)))$(newline))
endef
define newline


endef
ifneq ($(strip $(file <$(BUILD)/config.mk)),$(strip $(CONFIG)))
$(BUILD)/configured: FORCE
endif
$(BUILD)/configured: export CONFIG := $(CONFIG)
$(BUILD)/configured:
	@CC="$(CC)" sh tests/detect.sh "$(CUDA)" "$(NVCC)" "$(CUDAHOSTCXX)" "$(CUBIN_ARCHS)" "$(PTX_ARCH)" "$(ISAL)" "$(LCMS)" "$(FORMATS)" $(PACKAGES)
	@mkdir -p $(@D) && printf '%s\n' "$$CONFIG" >$(@D)/config.mk && touch $@
ifneq ($(file <$(BUILD)/study),$(STUDY))
$(BUILD)/study: FORCE
endif
$(BUILD)/study:
	@mkdir -p $(@D) && echo '$(STUDY)' >$@
$(STUDY_READERS:%.c=$(BUILD)/%.o): $(BUILD)/study
FORCE:

test: ## installs what is missing, builds, runs every test, or with ONLY=tiff those of that name
	@BUILD=$(BUILD) tests/packages.sh test
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD) test-only

# What reads sources, or builds with settings of its own, says the same of a build with sanitizers.
SCRIPTS := $(call only,$(wildcard tests/cli/*.sh) tests/selftest.sh tests/readme.sh tests/page.sh $(if $(SANITIZE),,tests/layers.sh tests/calls.sh))
SCRIPTS_ALONE := $(call only,tests/python.sh $(if $(SANITIZE),,tests/build.sh tests/package.sh tests/api.sh tests/cmake.sh tests/example_filters.sh))
test-only: all $(TESTS) $(if $(shell command -v $(PYTHON)),python)
	@$(if $(SANITIZE),GF_TEST_SMALL=1) GPUFILTER=$(abspath $(PROGRAM)) CC="$(CC)" CXX="$(CXX)" LINK_FLAGS="$(GF_LDFLAGS) $(LDFLAGS) $(LIBS)" \
	  tests/run.sh $(TESTS) $(SCRIPTS) -- $(SCRIPTS_ALONE)

test-server: $(BUILD)/tests/test_server_faults ## kills 200 servers, starts 500 clients at once, stops one for a minute
	@GF_SERVER_KILLS=200 GF_SERVER_CROWD=500 GF_SERVER_STOPPED=60 GF_SERVER_SECONDS=1000 tests/run.sh $<

demo: ## installs what is missing (MINIMAL=1: no optional libraries), builds, filters a sample picture
	@BUILD=$(BUILD) tests/packages.sh build
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD) V=$(or $(V),0) all
	@[ ! -t 1 ] || echo
	$(PROGRAM) --verbose -i samples/harbour.png -o $(BUILD)/demo.png blur,equalize
	@echo "before: samples/harbour.png"
	@echo "after:  $(BUILD)/demo.png"
	@tests/packages.sh left-out

bits: $(BUILD)/tests/test_bits ## writes the checksums of all results anew, after a deliberate change
	GF_BITS_WRITE=tests/bits.txt $<

moves: ## BASE=REVISION: proves that the change since then only moves code
	@tests/moves.sh $(BASE)

abi: ## writes the list of the library's binary interface anew, after a deliberate change
	@$(PYTHON) tests/abi.py write

selftest: $(PROGRAM) ## every filter on every device of this machine against the CPU backend
	$(PROGRAM) --selftest

# Memory, races, uninitialised reads and barriers of every kernel: a process for each filter and tool.
SANITIZED_TESTS := $(patsubst %,$(BUILD)/tests/test_%,device_batch jpeg_device jpeg_encoder png_decoder png_streams png_encoder yuv_device ssimulacra2_device)
sanitize-gpu: $(PROGRAM) $(SANITIZED_TESTS) ## compute-sanitizer's four tools over the short self-test of every filter
	@sh tests/sanitize.sh $(PROGRAM) $(BUILD)/sanitize $(SANITIZED_TESTS)

# Nothing runs, so that no GPU is needed. A file's log is kept until the file changes.
ARCH_LOGS := $(patsubst %.cu,$(BUILD)/archs/%.log,$(wildcard cuda/*/*.cu cuda/*/*/*.cu))
check-archs: $(ARCH_LOGS) ## compiles the kernels for every architecture, lists spills and too much shared memory
	@awk -f tests/check_archs.awk $^

$(BUILD)/archs/cuda/study/labs/dynamic_parallelism.log: GF_NVCCFLAGS += -rdc=true
$(BUILD)/archs/cuda/study/labs/flags.log: GF_NVCCFLAGS += -DFLAG_SET=flags_ieee
$(BUILD)/archs/%.log: %.cu
	@mkdir -p $(@D)
	$(call say,NVCC,$<)$(NVCC) $(GF_NVCCFLAGS) $(NVCCFLAGS) $(foreach a,$(ALL_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
	  -Xptxas -v -DGF_WITH_CUDA -DGF_WITH_LABS $(INCLUDES) -MMD -MP -MF $(@:.log=.d) -MT $@ -c -o $(@:.log=.o) $< >$@ 2>&1 && \
	  rm $(@:.log=.o) || { cat $@; false; }

# Leaks are looked for too; CUDA is left out, since its driver is not instrumented.
asan: ## the tests under the address sanitizer
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)-asan CUDA=0 SANITIZE=address CFLAGS='-O1 -g1' test-only

ubsan: ## the tests under the undefined-behaviour sanitizer
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)-ubsan CUDA=0 SANITIZE=undefined CFLAGS='-O1 -g1' test-only

format: ## clang-format over the tree
	@tests/format.sh

# cppcheck 2.10 does not see what a function fills for its caller, and trips over some conditional expressions; the
# sanitizers look for uninitialised reads instead.
lint: ## the format, cppcheck and shellcheck, where the tools are
	@tests/format.sh check
	@! command -v cppcheck >/dev/null || cppcheck --quiet --error-exitcode=1 --enable=warning,portability --inline-suppr \
	  --suppress=missingIncludeSystem --suppress=invalidPointerCast --suppress=uninitvar --suppress=internalAstError \
	  -D_GNU_SOURCE $(INCLUDES) src
	@! command -v shellcheck >/dev/null || shellcheck -S warning tests/*.sh tests/*/*.sh samples/*.sh samples/*/*.sh

tsan: ## the tests of what runs on several threads, under the thread sanitizer
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)-tsan CUDA=0 SANITIZE=thread CFLAGS='-O1 -g1' \
	  TESTS='$(patsubst %,$(BUILD)-tsan/tests/test_%,png helpers server_compare server_faults jpeg_strips ssimulacra2 server device_codec batch_fallbacks device_start threads batch failures ordered smooth)' test-threads

test-threads: $(TESTS)
	@tests/run.sh $(TESTS)

BINDIR = $(PREFIX)/bin
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
CMAKEDIR = $(LIBDIR)/cmake/gpufilter
MANDIR = $(PREFIX)/share/man
TOPICS := $(basename $(notdir $(wildcard src/cli/help/topics/*.txt))) $(if $(filter 0,$(STUDY)),,study)
MANUALS = $(MANDIR)/man1/gpufilter.1 $(TOPICS:%=$(MANDIR)/man7/gpufilter-%.7)
COMPLETIONDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR = $(PREFIX)/share/zsh/site-functions
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d
SONAME := libgpufilter.so.1
INSTALLED = $(BINDIR)/gpufilter $(LIBDIR)/libgpufilter.a $(LIBDIR)/libgpufilter.so $(LIBDIR)/$(SONAME) \
  $(LIBDIR)/libgpufilter.so.$(VERSION) $(LIBDIR)/pkgconfig/gpufilter.pc $(CMAKEDIR) $(INCLUDEDIR)/gpufilter \
  $(MANUALS) $(COMPLETIONDIR)/gpufilter $(ZSHDIR)/_gpufilter $(FISHDIR)/gpufilter.fish

# The files for pkg-config and CMake find the folders from where they lie themselves, so that an installation can be moved;
# the system's own folders keep their names, which compilers know, and so do folders elsewhere. from_prefix: a folder under PREFIX; up: from it to PREFIX.
from_prefix = $(patsubst $(PREFIX)/%,$(if $2,$2/)%,$1)
up = $(subst $(space),/,$(patsubst %,..,$(subst /, ,$(call from_prefix,$1))))
MOVABLE = $(and $(filter-out /usr,$(PREFIX)),$(filter $(PREFIX)/%,$(LIBDIR)),$(filter $(PREFIX)/%,$(CMAKEDIR)))

# Requires.private and Libs.private: what a program needs besides that links libgpufilter.a.
define PKG_CONFIG_FILE
prefix=$(if $(MOVABLE),$${pcfiledir}/$(call up,$(LIBDIR)/pkgconfig),$(PREFIX))
libdir=$(call from_prefix,$(LIBDIR),$${prefix})
includedir=$(call from_prefix,$(INCLUDEDIR),$${prefix})

Name: gpufilter
Description: image filters on NVIDIA GPUs, and the same pictures without one
Version: $(VERSION)
Requires.private: $(PACKAGES) $(OPTIONAL_PACKAGES)
Cflags: -I$${includedir}
Libs: -L$${libdir} -lgpufilter
Libs.private: $(filter-out $(PKG_LIBS),$(LIBS))
endef

# find_package(gpufilter) gives the targets gpufilter::gpufilter and gpufilter::gpufilter_static.
define CMAKE_CONFIG_FILE
get_filename_component(gpufilter_prefix "$(if $(MOVABLE),$${CMAKE_CURRENT_LIST_DIR}/$(call up,$(CMAKEDIR)),$(PREFIX))" ABSOLUTE)
if(NOT TARGET gpufilter::gpufilter)
  add_library(gpufilter::gpufilter SHARED IMPORTED)
  set_target_properties(gpufilter::gpufilter PROPERTIES IMPORTED_LOCATION "$(call from_prefix,$(LIBDIR),$${gpufilter_prefix})/libgpufilter.so"
    IMPORTED_SONAME $(SONAME) INTERFACE_INCLUDE_DIRECTORIES "$(call from_prefix,$(INCLUDEDIR),$${gpufilter_prefix})")
  add_library(gpufilter::gpufilter_static STATIC IMPORTED)
  set_target_properties(gpufilter::gpufilter_static PROPERTIES IMPORTED_LOCATION "$(call from_prefix,$(LIBDIR),$${gpufilter_prefix})/libgpufilter.a"
    INTERFACE_LINK_LIBRARIES "$(subst $(space),;,$(strip $(LIBS)))" INTERFACE_INCLUDE_DIRECTORIES "$(call from_prefix,$(INCLUDEDIR),$${gpufilter_prefix})")
endif()
endef
# A version suits whoever asks for it or for an older one of the same major number.
define CMAKE_VERSION_FILE
set(PACKAGE_VERSION $(VERSION))
if(PACKAGE_FIND_VERSION_MAJOR EQUAL $(firstword $(subst ., ,$(VERSION))) AND PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
endef

# What was built is installed as it is, and never built again here: a superuser's make would leave files of its own in the
# folder. Only where nothing was built yet, it is.
install: $(if $(and $(wildcard $(PROGRAM)),$(wildcard $(LIB_SO))),fresh,all) ## program, libraries, headers, manual, completion, to DESTDIR and PREFIX
	install -d $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED))) $(CMAKEDIR) $(INCLUDEDIR)/gpufilter)
	install -m 755 $(PROGRAM) $(DESTDIR)$(BINDIR)/gpufilter
	install -m 644 $(LIB_A) $(DESTDIR)$(LIBDIR)/libgpufilter.a
	install -m 755 $(LIB_SO) $(DESTDIR)$(LIBDIR)/libgpufilter.so.$(VERSION)
	ln -sf libgpufilter.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libgpufilter.so
	install -m 644 include/gpufilter/*.h $(DESTDIR)$(INCLUDEDIR)/gpufilter
	@printf '%s\n' "$$PKG_CONFIG_FILE" >$(DESTDIR)$(LIBDIR)/pkgconfig/gpufilter.pc
	@printf '%s\n' "$$CMAKE_CONFIG_FILE" >$(DESTDIR)$(CMAKEDIR)/gpufilter-config.cmake
	@printf '%s\n' "$$CMAKE_VERSION_FILE" >$(DESTDIR)$(CMAKEDIR)/gpufilter-config-version.cmake
	$(PROGRAM) --man >$(DESTDIR)$(MANDIR)/man1/gpufilter.1
	for topic in $(TOPICS); do $(PROGRAM) --man=$$topic >$(DESTDIR)$(MANDIR)/man7/gpufilter-$$topic.7 || exit 1; done
	$(PROGRAM) --completion=bash >$(DESTDIR)$(COMPLETIONDIR)/gpufilter
	$(PROGRAM) --completion=zsh >$(DESTDIR)$(ZSHDIR)/_gpufilter
	$(PROGRAM) --completion=fish >$(DESTDIR)$(FISHDIR)/gpufilter.fish
	cd $(DESTDIR)/ && chmod 644 $(patsubst /%,./%,$(LIBDIR)/pkgconfig/gpufilter.pc $(CMAKEDIR)/*.cmake $(MANUALS) $(COMPLETIONDIR)/gpufilter \
	  $(ZSHDIR)/_gpufilter $(FISHDIR)/gpufilter.fish)
	@[ -n "$(DESTDIR)" ] || ldconfig 2>/dev/null || true # else programs find the library only after the next one

install: export PKG_CONFIG_FILE := $(PKG_CONFIG_FILE)
install: export CMAKE_CONFIG_FILE := $(CMAKE_CONFIG_FILE)
install: export CMAKE_VERSION_FILE := $(CMAKE_VERSION_FILE)

fresh:
	@$(MAKE) --no-print-directory -q $(PROGRAM) $(LIB_SO) || { echo "install: sources or settings are not those that \
	$(BUILD)/ was built with; run make first" >&2; exit 1; }

uninstall: ## removes what install put there
	rm -rf $(addprefix $(DESTDIR),$(INSTALLED))

# CUDA code for every architecture, in folders of its own. tests/package/bare.sh tries them in bare distributions.
deb: ## Debian packages of the program and of the library's headers, in build/
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)-deb CUDA_ARCHS=all all
	@BUILD=$(BUILD) VERSION=$(VERSION) tests/package/deb.sh $(PACKAGES) $(OPTIONAL_PACKAGES)

.PHONY: install fresh uninstall deb

clean: ## removes the build folder
	rm -rf $(BUILD)

include src/python/python.mk tests/bench/bench.mk tests/fuzz/fuzz.mk tests/emulator/emulator.mk

# NAME: of the filter; KIND: point or stencil.
new-filter: ## begins a filter: make new-filter NAME=glow KIND=point (or stencil)
	@CC="$(CC)" sh tests/new_filter/new_filter.sh "$(NAME)" "$(KIND)"

filter-pages: bits readme ## the checksums, the gallery and the README, after a filter was added or has changed

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
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile tests/bench/bench.mk tests/fuzz/fuzz.mk tests/emulator/emulator.mk | expand -t 16

.PHONY: FORCE all abi bits test test-only test-server demo selftest sanitize-gpu asan ubsan tsan test-threads format lint new-filter filter-pages readme gallery picture clean help

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(MAIN_OBJ) $(PROGRAM_OBJ) $(CUDA_OBJ) $(TEST_OBJ))
