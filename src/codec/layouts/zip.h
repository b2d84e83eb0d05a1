/* Writes a zip of files that are stored as they are, in one pass, with ZIP64 where it is needed. */
#pragma once

#include "codec/io/output.h"

struct gf_zip {
    struct gf_output *output;
    unsigned char *directory; /* the entries so far */
    size_t size, room;
    uint64_t files;
};

enum gf_status gf_zip_put(struct gf_zip *zip, const char *name, const void *data, size_t size,
                          struct gf_error *error) GF_CHECKED;
/* Writes the directory, after the last file. */
enum gf_status gf_zip_finish(struct gf_zip *zip, struct gf_error *error) GF_CHECKED;
