/* What the parts of the GPU benchmark share. Only the .cu files include CUDA's headers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- device.cu ---- */

struct bench_device {
    char name[64];
    int driver_version, runtime_version; /* 13000 is 13.0 */
};

/* Starts device 0 and brings its clocks up. False: there is none, and *why says why. */
bool bench_device_open(struct bench_device *device, const char **why);
const char *bench_error_text(int code);

void *bench_alloc(size_t size); /* device memory, NULL where there is none left */
void bench_free(void *memory);
bool bench_fill(void *memory, int byte, size_t size);
bool bench_copy_in(void *device, const void *host, size_t size);
bool bench_copy_out(void *host, const void *device, size_t size);
bool bench_pin(void *host, size_t size);
void bench_unpin(void *host);

/* Queues work on the stream and returns its launch status (cudaError_t). Turns alternate, so that a
 * call can take another pair of buffers each time: nothing that it reads is still in the cache. */
typedef int bench_call(void *context, int turn, void *stream);

enum { BENCH_TURNS = 2, BENCH_SAMPLES = 21 };

/* Whether the environment's BENCH_PROFILED says that a profiler counts what kernels do: then each
 * call runs once, and nothing is timed. */
bool bench_profiled(void);
/* Median milliseconds of one call by CUDA events, after a warm-up; negative when one fails, *code
 * says how. */
double bench_time(bench_call *call, void *context, int *code);
/* One call, finished. */
bool bench_once(bench_call *call, void *context, int *code);

/* A copy on the device by a kernel, 16 bytes a thread; by the runtime; over the bus; and both ways
 * at once (up from src to dst, down from back_src to back_dst). */
struct bench_copy {
    const void *src[BENCH_TURNS], *back_src[BENCH_TURNS];
    void *dst[BENCH_TURNS], *back_dst[BENCH_TURNS];
    size_t bytes;
};
bench_call bench_copy_kernel, bench_copy_device, bench_copy_up, bench_copy_down, bench_copy_both;

/* Keeps the stream busy for so long. */
void bench_delay(void *stream, unsigned long long nanoseconds);

/* ---- small.cu ---- */

/* Prints the table of small pictures. False: a chain failed. */
bool bench_small(void);

/* ---- frame.cu ---- */

/* What rows of device memory hold: a sum that depends on every byte and its place, and how many
 * bytes differ from the first. */
struct bench_digest {
    unsigned long long sum, differing;
};
bool bench_digest(const void *data, size_t pitch, size_t row_bytes, int rows,
                  struct bench_digest *digest);

/* Fills an RGB8 frame with something like a photograph: smooth shapes of every size, and grain. */
bool bench_make_frame(unsigned char *frame, int width, int height);
/* The RGB8 frame in another format of the same size, rows packed tightly. */
bool bench_convert_frame(const unsigned char *frame, unsigned char *out, struct gf_format format);

/* ---- npp.cu, or npp_none.c in a build without NPP ---- */

/* False: no NPP in this build, or it does not start. version: "13.0.1". */
bool npp_open(int width, int height, char *version, size_t size);
void npp_close(void);
/* The way'th way in which NPP can do `name` on the RGB8 frame, or NULL past the last. */
const char *npp_way(const char *name, int way);
struct npp_job {
    const char *name;
    int way;
    const unsigned char *in[BENCH_TURNS];
    unsigned char *out[BENCH_TURNS]; /* at least as large as the frame */
};
bench_call npp_run; /* context: a struct npp_job; the status is NPP's */

#ifdef __cplusplus
}
#endif
