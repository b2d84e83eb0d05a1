# The CUDA kernels on the processor: tests/emulator/README.md.

# The compute capability whose code is run, 75 or 90.
EMULATED_ARCH ?= 90
# address,alignment: finds accesses outside of memory; kernel-address: reads of what nothing has written, too.
EMULATOR_SANITIZE ?= address,alignment
EMULATOR := $(BUILD)-emulator$(filter-out 90,$(EMULATED_ARCH))$(if $(findstring kernel,$(EMULATOR_SANITIZE)),-written)
EMULATOR_TESTS ?= full_device run_device device_batch device_floats jpeg_device tiles_device jpeg_encoder png_decoder png_streams png_encoder heic_device yuv_device pyramid_device ssimulacra2_device
# libde265 decodes for NVDEC, where its headers and those of ffnvcodec are, and dav1d AV1, where its headers are.
EMULATED_NVDEC = $(if $(filter 1,$(NVDEC)),$(if $(wildcard /usr/include/libde265/de265.h),$(EMULATOR)/libnvcuvid.so.1))
EMULATOR_OBJ := $(patsubst tests/emulator/%.cpp,$(EMULATOR)/cudart/%.o,$(wildcard tests/emulator/*.cpp))
ifeq ($(EMULATOR_SANITIZE),kernel-address)
EMULATOR_FLAGS :=
EMULATOR_DEFINED := -DEMULATED_WRITTEN
EMULATOR_CALLS := -fsanitize=kernel-address \
  $(addprefix --param asan-,instrumentation-with-call-threshold=0 stack=0 globals=0)
else
EMULATOR_FLAGS := $(if $(EMULATOR_SANITIZE),-fsanitize=$(EMULATOR_SANITIZE) -fno-sanitize-recover=all)
EMULATOR_DEFINED := $(if $(findstring address,$(EMULATOR_SANITIZE)),-DEMULATED_ASAN)
EMULATOR_CALLS := $(EMULATOR_FLAGS)
endif
EMULATOR_MAKE = EMULATED_ARCH=$(EMULATED_ARCH) $(MAKE) --no-print-directory BUILD=$(EMULATOR) CUDA=1 CUDAHOSTCXX=g++ \
  NVCC=$(abspath tests/emulator/bin/nvcc) NVCC_CACHE= CUDA_ARCHS=ptx NVCCFLAGS='-O1 -g1 -march=native -fno-math-errno $(EMULATOR_CALLS)' \
  CUDA_LIBDIR=$(abspath $(EMULATOR)) CFLAGS='-O1 -g1' LDFLAGS='$(EMULATOR_FLAGS)' HARDENING=

test-emulator: emulator ## every CUDA kernel on the processor, thread by thread, against the CPU backend
	@tests/emulator/run.sh $(EMULATOR) $(EMULATOR_TESTS)

# A build whose nvcc and CUDA runtime are the emulator's.
emulator: $(EMULATOR)/libcudart_static.a $(EMULATED_NVDEC)
	+@$(EMULATOR_MAKE) $(EMULATOR)/gpufilter $(EMULATOR_TESTS:%=$(EMULATOR)/tests/test_%)

$(EMULATOR)/libcudart_static.a: $(EMULATOR_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(EMULATOR)/libnvcuvid.so.1: tests/emulator/nvcuvid.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) -std=gnu17 -O2 -g -Wall -Wextra -fPIC -shared -o $@ $< -lde265 $(if $(wildcard /usr/include/dav1d/dav1d.h),-ldav1d) -pthread

$(EMULATOR)/cudart/%.o: tests/emulator/%.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$@)g++ -std=c++17 -O2 -g -fno-math-errno -Wall -Wextra -fPIC -Itests/emulator/include \
	  -D__CUDA_ARCH__=$(EMULATED_ARCH)0 $(EMULATOR_DEFINED) -MMD -MP -c -o $@ $<

.PHONY: test-emulator emulator
-include $(EMULATOR_OBJ:.o=.d)
