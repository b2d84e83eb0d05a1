# The test that lets calls fail: a driver, and the library that the program is run with. It tries some calls of
# each kind, and with FAULTS=all in the environment every one, in some minutes.
FAULTS := $(BUILD)/tests/faults/faults
FAULTS_LIBRARY := $(BUILD)/tests/faults/inject.so
FAULTS_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(filter-out %/inject.c,$(wildcard tests/faults/*.c)))
TESTS += $(call only,$(FAULTS))

$(FAULTS): $(FAULTS_OBJ) | $(FAULTS_LIBRARY)
	$(call say,LD,$@)$(CC) $(PIE) $(GF_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(FAULTS_OBJ): CPPFLAGS += -Itests

# No sanitizer and no hardening: its functions stand for the C library's.
$(FAULTS_LIBRARY): tests/faults/inject.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) -D_GNU_SOURCE -Itests -std=c17 -O2 -g -Wall -Wextra -fPIC -fvisibility=hidden \
	  -shared -MMD -MP -o $@ $< -ldl -pthread
