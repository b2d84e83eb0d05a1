# The fuzz targets: one for each tests/fuzz/fuzz_NAME.c. tests/fuzz/README.md says how to use them.

FUZZ_CC ?= clang
# Of each target. FUZZ_RUNS ends a target earlier; FUZZ_JOBS targets run side by side.
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= -1
FUZZ_JOBS ?= 2
# None is faster, and serves the targets that compare.
FUZZ_SANITIZE ?= address,undefined
FUZZ_MAX_LEN ?= 4096
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_ONLY ?= $(FUZZ_NAMES)

FUZZ := $(BUILD)/fuzz
comma := ,
FUZZ_CPPFLAGS = $(filter-out -DGF_WITH_CUDA,$(CPPFLAGS)) -Itests/fuzz
FUZZ_CFLAGS = -std=c17 -Wall -Wextra -ffp-contract=off -fno-math-errno -fno-trapping-math -pthread \
  -O2 -gline-tables-only -fno-omit-frame-pointer -fno-sanitize-recover=all
FUZZ_LAB_CU := $(patsubst %,cuda/labs/%.cu,$(shell sed -n 's/^GF_LAB(\(.*\))$$/\1/p' src/labs/labs.def))
FUZZ_LIB_OBJ := $(patsubst %.c,$(FUZZ)/%.o,$(LIB_SRC) $(TOOL_SRC)) $(FUZZ_LAB_CU:%.cu=$(FUZZ)/%.o)
FUZZ_WITH := $(if $(FUZZ_SANITIZE),$(comma)$(FUZZ_SANITIZE))
FUZZ_LIBS = $(PKG_LIBS) -lm -pthread

fuzz: fuzz-build ## runs each fuzz target for FUZZ_SECONDS, with clang's libFuzzer
	@tests/fuzz/run.sh $(FUZZ) $(FUZZ_SECONDS) $(FUZZ_RUNS) $(FUZZ_MAX_LEN) $(FUZZ_JOBS) $(FUZZ_ONLY)

fuzz-build: $(FUZZ_NAMES:%=$(FUZZ)/fuzz_%) $(FUZZ)/seeds

$(FUZZ)/libfuzzed.a: $(FUZZ_LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(FUZZ)/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link$(FUZZ_WITH) -MMD -MP -c -o $@ $<

# The labs' declarations are C.
$(FUZZ)/cuda/labs/%.o: cuda/labs/%.cu
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link$(FUZZ_WITH) -MMD -MP -x c -c -o $@ $<

$(FUZZ)/fuzz_%: $(FUZZ)/tests/fuzz/fuzz_%.o $(FUZZ)/libfuzzed.a
	$(FUZZ_CC) -fsanitize=fuzzer$(FUZZ_WITH) -o $@ $^ $(FUZZ_LIBS)

$(FUZZ)/seeds: $(FUZZ)/tests/fuzz/seeds.o $(FUZZ)/tests/fuzz/seed_files.o $(FUZZ)/libfuzzed.a
	$(FUZZ_CC) -fsanitize=$(if $(FUZZ_SANITIZE),$(FUZZ_SANITIZE),fuzzer-no-link) -o $@ $^ $(FUZZ_LIBS)

.PHONY: fuzz fuzz-build
.PRECIOUS: $(FUZZ)/%.o
