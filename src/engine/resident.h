/* Plans that stay ready for pictures which a caller has in the device's memory. A call finds the
 * constants, the buffers and the bands of an earlier one, and only queues the kernels on the
 * caller's stream. The calls of one struct gf_resident follow each other on the device, whatever
 * their streams are, since they share these buffers. */
#pragma once

#include "chain/plan.h"
#include "engine/backend.h"

struct gf_resident;
struct gf_ready_plan;

/* Opens the plans of a backend, whose device must have started; gf_resident_close() waits for the
 * work of all calls. */
enum gf_status gf_resident_open(struct gf_backend *backend, const struct gf_options *options,
                                struct gf_resident **resident, struct gf_error *error) GF_CHECKED;
void gf_resident_close(struct gf_resident *resident);

/* Returns the plan for pictures of that format, or NULL. */
struct gf_ready_plan *gf_resident_find(struct gf_resident *resident, struct gf_format in);
/* Makes a plan ready, and takes it over even if that fails. The oldest one may make room. Returns
 * GF_ERROR_UNFIT if the plan cannot be kept, since its second pictures belong to one picture. */
enum gf_status gf_resident_add(struct gf_resident *resident, struct gf_plan *plan,
                               struct gf_ready_plan **ready, struct gf_error *error) GF_CHECKED;
const struct gf_plan *gf_ready_plan_of(const struct gf_ready_plan *ready);

/* Fails if the picture's memory is not the device's. known: see owns() in backend.h */
enum gf_status gf_resident_check(const struct gf_resident *resident, const struct gf_image *image,
                                 struct gf_memory_range *known, struct gf_error *error) GF_CHECKED;
/* Waits for what the stream holds, and for all calls before. */
enum gf_status gf_resident_wait(struct gf_resident *resident, void *stream,
                                struct gf_error *error) GF_CHECKED;
/* Queues the plan on the stream for `count` pictures of its format, in shared launches where
 * kernels take several pictures. Where a stage needs a histogram, the call waits for it. */
enum gf_status gf_resident_run(struct gf_resident *resident, struct gf_ready_plan *ready,
                               const struct gf_image *in, const struct gf_image *out, int count,
                               void *stream, struct gf_error *error) GF_CHECKED;
