/* Writes JSON that several reports have in common. */
#pragma once

#include "base/json.h"
#include "gpufilter/image.h"

/* Writes {"width": 640, "height": 420, "channels": 3, "bits": 8}. */
void gf_json_format(struct gf_json *json, const char *key, struct gf_format format);
/* Writes "peaks": the measured bandwidths, from bytes per second. 0 was not measured and becomes
 * null. */
void gf_json_peaks(struct gf_json *json, double device_copy, double upload, double download);
