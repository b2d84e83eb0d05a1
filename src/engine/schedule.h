/* One picture through one backend: a reader thread fills a ring of input bands, lanes filter them,
 * and the calling thread hands finished bands to the sink in order. */
#ifndef GF_ENGINE_SCHEDULE_H
#define GF_ENGINE_SCHEDULE_H

#include "chain/plan.h"
#include "codec/codec.h"
#include "codec/common/source.h"
#include "engine/backend.h"
#include "engine/store.h"

struct gf_run {
    struct gf_plan *plan;
    struct gf_backend *backend;
    struct gf_store *store; /* of that backend, kept by the caller; NULL: of this run alone */
    const struct gf_options *options;
    bool memory_is_limit; /* the user's; else memory_bytes is what is good to have */
    struct gf_spans *spans;
    int lanes;
    int band_rows; /* 0: chosen */
    bool serial;   /* one lane, and the calling thread does everything: pictures run side by side
                      instead */
    /* Where the picture comes from and goes to: a codec, or memory. */
    struct gf_source *source;
    const struct gf_image *image_in;
    struct gf_sink *sink;
    const struct gf_image *image_out;
    bool in_on_device, out_on_device; /* the images are in the backend's memory */
    int first_band_rows;              /* result: rows of a band of the first segment */
};

enum gf_status gf_schedule(struct gf_run *run, struct gf_error *error) GF_CHECKED;

#endif
