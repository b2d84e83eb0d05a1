/* Reads values that several kinds of saved reports contain. */
#ifndef GF_STUDY_SAVED_SAVED_PARTS_H
#define GF_STUDY_SAVED_SAVED_PARTS_H

#include "base/json_read.h"
#include "gpufilter/image.h"

struct gf_format gf_saved_format(const struct gf_json_value *value, const char *key);
/* Returns bytes per second; 0 if they were not measured. */
double gf_saved_peak(const struct gf_json_value *root, const char *key);
/* Copies a text into an array of that size. */
void gf_saved_text(const struct gf_json_value *value, const char *key, char *text, size_t size);

#endif
