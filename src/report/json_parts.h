/* JSON that several reports write in the same way. */
#ifndef GF_REPORT_JSON_PARTS_H
#define GF_REPORT_JSON_PARTS_H

#include "base/json.h"
#include "gpufilter/image.h"

/* {"width": 640, "height": 420, "channels": 3, "bits": 8} */
void gf_json_format(struct gf_json *json, const char *key, struct gf_format format);
/* "peaks": measured bandwidths, given in bytes/s; 0 was not measured and is null. */
void gf_json_peaks(struct gf_json *json, double device_copy, double upload, double download);

#endif
