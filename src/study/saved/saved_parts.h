/* What several kinds of saved reports have alike. */
#ifndef GF_STUDY_SAVED_SAVED_PARTS_H
#define GF_STUDY_SAVED_SAVED_PARTS_H

#include "base/json_read.h"
#include "gpufilter/image.h"

struct gf_format gf_saved_format(const struct gf_json_value *value, const char *key);
/* Bytes a second; 0 where it was not measured. */
double gf_saved_peak(const struct gf_json_value *root, const char *key);
/* Copies a text into an array of that size. */
void gf_saved_text(const struct gf_json_value *value, const char *key, char *text, size_t size);

#endif
