# The benchmarks. NPP is only compared with: its headers and libraries, where the toolkit (or NPP_HOME) has them.
NPP_HOME ?= $(CUDA_HOME)
NPP_HEADER := $(firstword $(wildcard $(addsuffix /npp.h,$(NPP_HOME)/include $(NPP_HOME)/targets/*/include /usr/include)))
NPP_LIBDIR := $(firstword $(dir $(wildcard $(addsuffix /libnppif.so*,$(NPP_HOME)/targets/*/lib $(NPP_HOME)/lib64 \
  $(NPP_HOME)/lib /usr/lib/*-linux-gnu))))
NPP_LIBS := $(if $(NPP_HEADER),$(foreach l,if im ig ist itc ial idei icc c,$(firstword \
  $(wildcard $(NPP_LIBDIR)libnpp$(l).so $(NPP_LIBDIR)libnpp$(l).so.*))))
NPP_CU := $(wildcard tests/bench/npp*.cu)
BENCH_SRC := $(filter-out $(wildcard tests/bench/test_*.c) $(if $(NPP_LIBS),tests/bench/npp_none.c,$(NPP_CU)),\
  $(wildcard tests/bench/*.c tests/bench/*.cu))
BENCH_GPU := $(BUILD)/bench-gpu

$(NPP_CU:%.cu=$(BUILD)/%.o): GF_NVCCFLAGS += $(addprefix -I,$(filter-out /usr/include/,$(dir $(NPP_HEADER))))

$(BENCH_GPU): $(addprefix $(BUILD)/,$(addsuffix .o,$(basename $(BENCH_SRC)))) $(LIB_A)
	$(call say,LD,$@)$(CC) $(PIE) $(GF_LDFLAGS) $(LDFLAGS) -o $@ $^ $(NPP_LIBS) $(sort $(NPP_LIBS:%=-Wl,-rpath,$(NPP_LIBDIR))) $(LIBS)

bench: $(PROGRAM) $(LIB_SO) ## the CPU backend beside vips, ImageMagick, OpenCV and others: tables, and JSON in tests/bench/results
	@bash tests/bench/cpu.sh $(PROGRAM)
	@bash tests/bench/filters/filters.sh $(PROGRAM) $(LIB_SO) || [ $$? = 3 ]

bench-filters: $(PROGRAM) $(LIB_SO) ## filters on the CPU beside those of OpenCV and libvips that do the same: a table and JSON
	@bash tests/bench/filters/filters.sh $(PROGRAM) $(LIB_SO)

bench-thumbnail: $(PROGRAM) ## thumbnails of JPEGs beside vips, OpenCV, torchvision, Pillow and sharp: a table and JSON
	@bash tests/bench/thumbnail.sh $(PROGRAM)

# nvJPEG, too, where the toolkit (or NVJPEG_HOME) has it.
NVJPEG_HOME ?= $(CUDA_HOME)
NVJPEG_HEADER := $(firstword $(wildcard $(addsuffix /nvjpeg.h,$(NVJPEG_HOME)/include $(NVJPEG_HOME)/targets/*/include)))
NVJPEG_LIB := $(if $(NVJPEG_HEADER),$(firstword $(wildcard $(addsuffix /libnvjpeg.so*,$(NVJPEG_HOME)/targets/*/lib \
  $(NVJPEG_HOME)/lib64 $(NVJPEG_HOME)/lib $(NVJPEG_HOME)/lib/*-linux-gnu))))
BENCH_NVJPEG := $(if $(filter 1,$(CUDA)),$(if $(NVJPEG_LIB),$(BUILD)/bench-nvjpeg))
$(BUILD)/tests/bench/peers/nvjpeg.o: GF_NVCCFLAGS += -I$(dir $(NVJPEG_HEADER))
$(BUILD)/bench-nvjpeg: $(BUILD)/tests/bench/peers/nvjpeg.o
	$(call say,LD,$@)$(CC) $(PIE) $(GF_LDFLAGS) $(LDFLAGS) -o $@ $^ $(NVJPEG_LIB) -Wl,-rpath,$(dir $(NVJPEG_LIB)) $(LIBS)

bench-batch: $(PROGRAM) $(BENCH_NVJPEG) ## thousands of JPEGs by every device, codec and peer, single ones by auto: tables and JSON
	@bash tests/bench/batch.sh $(PROGRAM) $(BENCH_NVJPEG)

$(BUILD)/bench-floor: tests/bench/peers/floor.c
	$(call say,LD,$@)$(CC) -O2 -pthread -o $@ $<

bench-jobs: $(PROGRAM) $(BUILD)/bench-floor ## small and filtered copies of 16,000 JPEGs by one GPU and by several, beside the files alone: a table and JSON
	@python3 tests/bench/jobs.py $(PROGRAM) $(BUILD)/bench-floor

bench-gigapixels: $(PROGRAM) $(BUILD)/bench-floor ## pictures of gigapixels: tiles, pyramids, small copies and crops beside libvips: a table and JSON
	@python3 tests/bench/gigapixels.py $(PROGRAM) $(BUILD)/bench-floor

bench-serve: $(PROGRAM) ## single pictures by a server whose GPU is awake, and loops of them: a table and JSON
	@bash tests/bench/serve.sh $(PROGRAM)

bench-kills: $(PROGRAM) ## kills 200 servers under 8 clients each, then 500 clients at once, then little memory: what was lost
	@bash tests/bench/kills.sh $(PROGRAM)
	@bash tests/bench/faults.sh $(PROGRAM)

bench-start: $(PROGRAM) ## where the start of CUDA spends its time, for one picture and for a batch: a table
	@bash tests/bench/start.sh $(PROGRAM)

bench-auto: $(PROGRAM) ## whether --device=auto takes the device that is done sooner, case by case; calibrates and uses a server, too
	@bash tests/bench/auto.sh $(PROGRAM)

page: $(PROGRAM) ## a run, a comparison, the labs and a batch as one page, $(BUILD)/report.html, and a picture of it
	@bash tests/bench/page.sh $(PROGRAM) $(BUILD)/report.html

ifeq ($(CUDA),1)
bench-gpu: $(PROGRAM) $(BENCH_GPU) ## kernels beside NPP's, the pipeline and the start on a GPU: tables and JSON
	@sh tests/bench/gpu.sh $(BENCH_GPU) $(PROGRAM)
bench-formats: $(PROGRAM) $(BENCH_GPU) ## kernels of the main filters in gray8, RGB8, RGBA8, RGB16, RGBA16 and RGBA of floats beside copies of as many bytes: a table
	@BENCH_FORMATS=1 BENCH_NO_NPP=1 sh tests/bench/gpu.sh $(BENCH_GPU) $(PROGRAM)
bench-small: $(PROGRAM) $(BENCH_GPU) ## small pictures: the GPU's time for each by ways of launching, beside copies: a table
	@BENCH_SMALL=1 sh tests/bench/gpu.sh $(BENCH_GPU) $(PROGRAM)
bench-limits: $(PROGRAM) $(BENCH_GPU) ## what bounds each kernel, counted by Nsight Compute: a table
	@bash tests/bench/limits.sh $(BENCH_GPU) $(PROGRAM)
compare: $(PROGRAM) ## the variants of every filter side by side on a GPU: tests/bench/results/compare-DATE.txt
	@sh tests/bench/compare.sh $(PROGRAM) $(or $(RESULTS),tests/bench/results/compare-$(shell date -u +%Y-%m-%d).txt)

techniques: $(PROGRAM) ## every technique of the guides shown on a GPU: tests/bench/results/techniques.md
	@bash tests/bench/techniques.sh $(PROGRAM) $(or $(RESULTS_DIR),tests/bench/results)
else
bench-gpu bench-formats bench-small bench-limits compare techniques:
	@echo "$@: this build has no CUDA backend (no nvcc, or CUDA=0)" >&2; exit 3
endif

$(BUILD)/draw-page: $(BUILD)/tests/bench/jpeg/page.o
	$(call say,LD,$@)$(CC) $(PIE) $(GF_LDFLAGS) $(LDFLAGS) -o $@ $^

ifeq ($(CUDA),1)
BENCH_JPEG := $(BUILD)/bench-jpeg
$(BENCH_JPEG): $(BUILD)/tests/bench/jpeg/jpeg.o $(BUILD)/tests/bench/device.o $(LIB_A)
	$(call say,LD,$@)$(CC) $(PIE) $(GF_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

bench-jpeg: $(PROGRAM) $(BENCH_JPEG) $(BUILD)/draw-page ## the GPU's JPEG decoder and encoder alone: a table and JSON
	@bash tests/bench/jpeg/jpeg.sh $(BENCH_JPEG) $(BUILD)/draw-page $(PROGRAM)

bench-peers: $(PROGRAM) $(LIB_SO) $(BENCH_GPU) $(BENCH_JPEG) ## kernels and the JPEG codec beside CV-CUDA's, cuCIM's, kornia's, nvImageCodec's and NPP's: a table and JSON
	@bash tests/bench/peers/gpu/peers.sh $(BENCH_GPU) $(BENCH_JPEG) $(PROGRAM) $(LIB_SO)
else
bench-jpeg bench-peers:
	@echo "$@: this build has no CUDA backend (no nvcc, or CUDA=0)" >&2; exit 3
endif

BENCH_PNG := $(BUILD)/bench-png
$(BENCH_PNG): $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/bench/png/*.c)) $(LIB_A)
	$(call say,LD,$@)$(CC) $(PIE) $(GF_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

ifeq ($(CUDA),1)
BENCH_PNG_DEVICE := $(BUILD)/bench-png-device
$(BENCH_PNG_DEVICE): $(BUILD)/tests/bench/png/device/device.o $(BUILD)/tests/bench/device.o $(LIB_A)
	$(call say,LD,$@)$(CC) $(PIE) $(GF_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
endif

bench-palette: $(PROGRAM) ## sizes of PNGs with reduced colours beside pngquant's, at equal SSIM; PICTURES: a folder of PNGs
	@sh tests/bench/palette.sh $(PROGRAM) $(PICTURES)

bench-encoders: $(PROGRAM) ## bytes of JPEGs at equal SSIMULACRA2 by this program, cjpegli and mozjpeg; PICTURES_IN: folders of pictures
	@python3 tests/bench/encoders.py $(PROGRAM) $(PICTURES_IN)

bench-qualities: $(PROGRAM) ## SSIMULACRA2 and size of JPEG, WebP, AVIF and JPEG XL at their qualities; PICTURES_IN: a folder of pictures
	@python3 tests/bench/qualities.py $(PROGRAM) $(PICTURES_IN)

bench-pairs: $(PROGRAM) ## how long --compare of many pairs and of a large one takes, and --target; a GPU if there is one
	@python3 tests/bench/pairs.py $(PROGRAM)

bench-floats: $(PROGRAM) ## a half OpenEXR of 8K through filters beside oiiotool and vips; a GPU if there is one
	@python3 tests/bench/floats.py $(PROGRAM)

bench-device: python ## pictures in a GPU's memory by the Python module, and a film through pipes: a table; needs torch
	@PYTHONPATH=$(PYTHON_FOLDER:%/gpufilter=%) $(PYTHON) tests/bench/device.py $(PROGRAM)

bench-films: $(PROGRAM) ## a film through filters beside ffmpeg's, on the CPU; FILM: a Y4M
	@bash tests/bench/films.sh $(PROGRAM) $(FILM)

bench-corpora: $(PROGRAM) ## pictures of public test sets beside independent readers: a table; CORPORA: folders with the sets
	@python3 tests/bench/corpora.py $(PROGRAM) $(CORPORA)

bench-png: $(PROGRAM) $(BENCH_PNG) $(BUILD)/draw-page $(BENCH_PNG_DEVICE) ## PNG beside libpng and others, level by level, on the CPU and on the GPU, and in whole programs: tables and JSON
	@bash tests/bench/png/device.sh $(PROGRAM) $(BUILD)/draw-page $(BENCH_PNG_DEVICE)
	@bash tests/bench/png/png.sh $(BENCH_PNG) $(PROGRAM)
.PHONY: bench page bench-auto bench-start bench-serve bench-kills bench-batch bench-jobs bench-gigapixels bench-filters bench-thumbnail bench-gpu bench-formats bench-small bench-limits bench-jpeg bench-palette bench-encoders bench-qualities bench-pairs bench-floats bench-peers bench-png bench-corpora bench-films bench-device compare techniques

-include $(addprefix $(BUILD)/,$(addsuffix .d,$(basename $(BENCH_SRC) $(wildcard tests/bench/png/*.c tests/bench/png/device/*.c tests/bench/jpeg/*.c))))
