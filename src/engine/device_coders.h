/* The coders of a CUDA device (cuda/jpeg, cuda/png), which all pipelines of the process share. A
 * GPU is fast with many pictures at once and slow with one: the coders' threads take the pictures
 * that wait as a group. What is decoded has the CPU's pixels, and what is encoded the CPU's bytes.
 */
#ifndef GF_ENGINE_DEVICE_CODERS_H
#define GF_ENGINE_DEVICE_CODERS_H

#include "engine/coder_kinds.h"
#include "gpufilter/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_device_coders;

/* Starts the coders' threads, unless they run already. The coders may use all bytes of device
 * memory that their users lend them; where they set no limit (0), a quarter of the device's. */
enum gf_status gf_device_coders_open(int device, uint64_t bytes, struct gf_device_coders **coders,
                                     struct gf_error *error) GF_CHECKED;
void gf_device_coders_close(struct gf_device_coders *coders,
                            uint64_t bytes); /* those that were lent */

/* Pictures of that kind are about to come: its coders are created meanwhile. */
void gf_device_coders_prepare(struct gf_device_coders *coders, enum gf_coder_kind kind);

/* Codes the picture, and returns when it is there. Its pixels lie in device memory, a file's bytes
 * should be pinned. Not picture->done: a decoder leaves it to the CPU, for an encoder there is not
 * enough memory for it. What an encoder gives is the coders', which go on with other pictures when
 * it has been returned. */
enum gf_status gf_device_coders_run(struct gf_device_coders *coders,
                                    struct gf_coder_picture *picture,
                                    struct gf_error *error) GF_CHECKED;
void gf_coder_picture_return(struct gf_coder_picture *picture);

#ifdef __cplusplus
}
#endif
#endif
