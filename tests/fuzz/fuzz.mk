# The fuzz targets: one for each tests/fuzz/fuzz_NAME.c. tests/fuzz/README.md says how to use them.

FUZZ_CC ?= clang
# FUZZ_SECONDS and FUZZ_RUNS end each target; FUZZ_JOBS targets run side by side.
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= -1
FUZZ_JOBS ?= 2
FUZZ_MAX_LEN ?= 4096
# Without any they are several times faster, and still compare.
FUZZ_SANITIZE ?= address,undefined
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_ONLY ?= $(FUZZ_NAMES)

# What the targets are compiled and linked with. OSS-Fuzz has its own (tests/fuzz/oss-fuzz).
FUZZ_WITH := $(addprefix $(comma),$(FUZZ_SANITIZE))
FUZZ_CFLAGS ?= -fsanitize=fuzzer-no-link$(FUZZ_WITH)
FUZZ_ENGINE ?= -fsanitize=fuzzer$(FUZZ_WITH)
FUZZ_LD ?= $(FUZZ_CC)

FUZZ := $(BUILD)/fuzz$(if $(FUZZ_SANITIZE),,-plain)
FUZZ_COMPILE = $(FUZZ_CC) $(filter-out -DGF_WITH_CUDA -DGF_WITH_NVDEC -DGF_WITH_LABS,$(GF_CPPFLAGS)) -Itests/fuzz -std=c17 -Wall -Wextra -Wno-unused-parameter \
  -O2 -gline-tables-only -fno-omit-frame-pointer -ffp-contract=off -fno-math-errno -fno-trapping-math -pthread \
  $(FUZZ_CFLAGS) -fno-sanitize-recover=all -MMD -MP
FUZZ_OBJ := $(patsubst %.c,$(FUZZ)/%.o,$(LIB_SRC) $(PROGRAM_SRC)) $(LAB_DECLARATIONS:%.cu=$(FUZZ)/%.o)
FUZZ_LIBS = $(PKG_LIBS) -lm -pthread

fuzz: fuzz-build ## runs each fuzz target for FUZZ_SECONDS, with clang's libFuzzer
	@tests/fuzz/run.sh $(FUZZ) $(FUZZ_SECONDS) $(FUZZ_RUNS) $(FUZZ_MAX_LEN) $(FUZZ_JOBS) $(FUZZ_ONLY)

fuzz-build: $(FUZZ_NAMES:%=$(FUZZ)/fuzz_%) $(FUZZ)/seeds

$(FUZZ)/libfuzzed.a: $(FUZZ_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(FUZZ)/%.o: %.c $(BUILD)/configured
	@mkdir -p $(@D)
	$(call say,CC,$@)$(FUZZ_COMPILE) -c -o $@ $<
$(STUDY_READERS:%.c=$(FUZZ)/%.o): $(BUILD)/study

# The labs' declarations are C.
$(FUZZ)/cuda/study/labs/%.o: cuda/study/labs/%.cu $(BUILD)/configured
	@mkdir -p $(@D)
	$(call say,CC,$@)$(FUZZ_COMPILE) -x c -c -o $@ $<

$(FUZZ)/fuzz_%: $(FUZZ)/tests/fuzz/fuzz_%.o $(FUZZ)/libfuzzed.a
	$(call say,LD,$@)$(FUZZ_LD) $(FUZZ_ENGINE) -o $@ $^ $(FUZZ_LIBS)

$(FUZZ)/seeds: $(FUZZ)/tests/fuzz/seeds.o $(FUZZ)/tests/fuzz/seed_files.o $(FUZZ)/tests/fuzz/seed_formats.o \
  $(FUZZ)/tests/fuzz/seed_profiles.o $(FUZZ)/libfuzzed.a
	$(call say,LD,$@)$(FUZZ_LD) $(FUZZ_CFLAGS) -o $@ $^ $(FUZZ_LIBS)

# On a machine with a GPU.
FUZZ_JPEGS ?= 1000000
fuzz-jpeg-device: $(BUILD)/tests/test_jpeg_device ## FUZZ_JPEGS damaged JPEGs on the GPU against libjpeg-turbo
	GF_JPEG_DAMAGED=$(FUZZ_JPEGS) $<

FUZZ_PNGS ?= 1000000
fuzz-png-device: $(BUILD)/tests/test_png_streams ## FUZZ_PNGS damaged PNGs on the GPU against the CPU's reader
	GF_PNG_DAMAGED=$(FUZZ_PNGS) $<

.PHONY: fuzz fuzz-build fuzz-jpeg-device fuzz-png-device
.PRECIOUS: $(FUZZ)/%.o
-include $(FUZZ_OBJ:.o=.d) $(wildcard $(FUZZ)/tests/fuzz/*.d)
