/* The figures from which a run's time is estimated. Each is declared with the value of an H200
 * machine with 16 processors; a value that was measured on this machine (calibrated) replaces
 * it. */
#pragma once

#include <stdbool.h>

#include "stage/filter.h"

/* A list with each figure's name, declared value, unit and meaning. "Pixels" are the file's;
 * "thread" means one thread while the others are idle. */
#define GF_FIGURE_LIST(X) \
    X(PROCESS, "process", 14, "ms", "the program's start and end") \
    X(FILE, "file", 0.15, "ms", "opening, naming and committing a file, a thread") \
    X(SHARE, "share", 0.9, "", "a thread's speed while all processors work, of its speed alone") \
    X(THREADS, "threads", 6, "ms", "threads that share one picture: their start and end") \
    X(STRIPS, "jpeg-strips", 1.35, "", "one JPEG by several threads, as times one thread's work") \
    X(JPEG_DECODE, "jpeg-decode", 5, "ns/pixel", "decoding JPEG, a thread") \
    X(JPEG_ENCODE, "jpeg-encode", 4.2, "ns/pixel", "encoding JPEG, a thread") \
    X(PNG_DECODE, "png-decode", 9, "ns/pixel", "decoding PNG, a thread") \
    X(PNG_ENCODE, "png-encode", 6.5, "ns/pixel", "encoding PNG at level 1 or 0, a thread") \
    X(PNG_DEFLATE, "png-deflate", 280, "ns/pixel", "encoding PNG at level 6, a thread") \
    X(PNM_DECODE, "pnm-decode", 0.5, "ns/pixel", "reading PNM or PAM, a thread") \
    X(PNM_ENCODE, "pnm-encode", 1, "ns/pixel", "writing PNM or PAM, a thread") \
    X(JPEG_ALONE, "jpeg-alone", 0.4, "ns/pixel", \
      "what threads that share one JPEG leave to one of them, decoding or encoding") \
    X(PNM_ALONE, "pnm-alone", 0.5, "ns/pixel", "the same of PNM or PAM") \
    X(WEBP_DECODE, "webp-decode", 10, "ns/pixel", "decoding WebP, a thread") \
    X(WEBP_ENCODE, "webp-encode", 85, "ns/pixel", "encoding WebP, a thread") \
    X(WEBP_LOSSLESS, "webp-lossless", 650, "ns/pixel", "encoding WebP without loss, a thread") \
    X(TIFF_DECODE, "tiff-decode", 3, "ns/pixel", "decoding TIFF, a thread") \
    X(TIFF_ENCODE, "tiff-encode", 5, "ns/pixel", "encoding TIFF, a thread") \
    X(AVIF_DECODE, "avif-decode", 30, "ns/pixel", "decoding AVIF, a thread") \
    X(AVIF_ENCODE, "avif-encode", 600, "ns/pixel", "encoding AVIF, a thread") \
    X(JXL_DECODE, "jxl-decode", 30, "ns/pixel", "decoding JPEG XL, a thread") \
    X(JXL_ENCODE, "jxl-encode", 300, "ns/pixel", "encoding JPEG XL, a thread") \
    X(HEIC_DECODE, "heic-decode", 65, "ns/pixel", "decoding HEIC, a thread") \
    X(JP2_DECODE, "jp2-decode", 100, "ns/pixel", "decoding JPEG 2000, a thread") \
    X(JP2_ENCODE, "jp2-encode", 250, "ns/pixel", "encoding JPEG 2000, a thread") \
    X(RAW_DECODE, "raw-decode", 110, "ns/pixel", "decoding camera raw, a thread") \
    X(GIF_DECODE, "gif-decode", 10, "ns/pixel", "decoding GIF, a thread") \
    X(GIF_ENCODE, "gif-encode", 150, "ns/pixel", "encoding GIF, a thread") \
    X(WHOLE, "whole", 0.8, "ns/pixel", "memory for a picture that a stage must see whole") \
    X(CUDA_START, "cuda-start", 165, "ms", "from opening the GPU to its first kernel") \
    X(CUDA_BESIDE, "cuda-beside", 85, "ms", "the same while a server keeps the GPU awake") \
    X(CUDA_END, "cuda-end", 10, "ms", "what a GPU adds to the end of the program") \
    X(CUDA_MORE, "cuda-more", 1500, "ms", "the rest of a run for which another GPU is started") \
    X(CUDA_FIRST, "cuda-first", 15, "ms", \
      "buffers and kernels that the first JPEG or PNG waits for") \
    X(CUDA_CROWD, "cuda-crowd", 40, "ms", "what the first JPEGs of a batch wait for") \
    X(CUDA_PNG_CROWD, "cuda-png-crowd", 60, "ms", "what the first PNGs of a batch wait for") \
    X(CUDA_GROUP, "cuda-group", 80, "ms", \
      "a picture's way through the GPU, if even a few take it long to decode") \
    X(CUDA_UPLOAD, "cuda-upload", 0.025, "ns/byte", "a copy to the GPU") \
    X(CUDA_DOWNLOAD, "cuda-download", 0.025, "ns/byte", "a copy from the GPU") \
    X(CUDA_DECODE, "cuda-jpeg-decode", 0.06, "ns/pixel", "decoding JPEG on the GPU") \
    X(CUDA_ENCODE, "cuda-jpeg-encode", 0.06, "ns/pixel", "encoding JPEG on the GPU") \
    X(CUDA_FILE, "cuda-jpeg-file", 0.12, "ns/pixel", \
      "a thread's part in a JPEG that the GPU codes") \
    X(CUDA_PNG_STREAM, "cuda-png-stream", 0.25, "ns/pixel", \
      "decoding a PNG of another program on the GPU") \
    X(CUDA_PNG_DECODE, "cuda-png-decode", 0.1, "ns/pixel", "decoding a marked PNG on the GPU") \
    X(CUDA_PNG_ENCODE, "cuda-png-encode", 0.08, "ns/pixel", "encoding PNG at level 1 on the GPU") \
    X(CUDA_PNG_FILE, "cuda-png-file", 0.5, "ns/pixel", \
      "a thread's part in a PNG that the GPU codes") \
    X(CUDA_HEIC_DECODE, "cuda-heic-decode", 0.3, "ns/pixel", "decoding HEIC by 7 engines") \
    X(CUDA_HEIC_FILE, "cuda-heic-file", 0.2, "ns/pixel", \
      "a thread's part in a HEIC that the GPU decodes") \
    X(SERVER, "server", 2, "ms", "the talk with a resident process about one picture")

enum gf_figure_id {
#define GF_FIGURE_ID(id, ...) GF_FIGURE_##id,
    GF_FIGURE_LIST(GF_FIGURE_ID)
#undef GF_FIGURE_ID
        GF_FIGURE_NAMED,
    GF_FIGURE_FILTERS_MAX = 128,
    GF_FIGURES_MAX = GF_FIGURE_NAMED + 2 * GF_FIGURE_FILTERS_MAX
};

/* The figures that were measured. All zeros: only the declared values are known. */
struct gf_figures {
    double calibrated[GF_FIGURES_MAX]; /* 0: the figure was not measured */
};

struct gf_figure_info {
    char name[48]; /* such as "jpeg-decode", "cpu.blur", "gpu.blur" */
    const char *unit, *what;
    double declared, least, greatest; /* a measured value must lie within least..greatest */
};

/* The number of figures: the figures of GF_FIGURE_LIST and two for each filter. */
int gf_figure_count(void);
struct gf_figure_info gf_figure_info(int figure);
/* Returns the index of a filter's figure on a thread of the CPU or, with `cuda`, on a GPU: a factor
 * of the cost that the filter declares. */
int gf_figure_of_filter(const struct gf_filter *filter, bool cuda);

/* Returns the figure's calibrated value, else its declared value. `figures` may be NULL. */
double gf_figure(const struct gf_figures *figures, int figure);

/* Replaces the figure by a measured value. Returns false, and changes nothing, if the value is
 * impossible. */
bool gf_figure_calibrate(struct gf_figures *figures, int figure, double value);

/* Keeps the figures of this machine from one run to the next: a small text file in
 * $XDG_CACHE_HOME/gpufilter, else in ~/.cache/gpufilter, named after the machine. No run depends on
 * the file: a file that is missing, damaged, somebody else's, or made by another build or for
 * another machine counts as missing. */

enum { GF_MACHINE_SIZE = 400 };

struct gf_figures_file {
    char path[4096];
    char machine[GF_MACHINE_SIZE]; /* describes the machine and the build: where the measured times
                                    * would differ, the text does */
};

/* Finds the file's name. Returns false if the environment names no place for it. */
bool gf_figures_file_find(struct gf_figures_file *file);
/* Loads the calibrated figures, or all zeros if none is known. Reads one file of some kilobytes. */
void gf_figures_load(struct gf_figures *figures);
/* Replaces the file by a rename, so that readers see the old or the new one. Returns false if that
 * failed, with the reason in *why; `why` may be NULL. */
bool gf_figures_keep(const struct gf_figures *figures, struct gf_error *why);
