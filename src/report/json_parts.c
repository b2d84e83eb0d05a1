#include "report/json_parts.h"

#include <math.h>

void gf_json_format(struct gf_json *json, const char *key, struct gf_format format)
{
    gf_json_object(json, key, GF_JSON_INLINE);
    gf_json_number(json, "width", format.width, 0);
    gf_json_number(json, "height", format.height, 0);
    gf_json_number(json, "channels", format.channels, 0);
    gf_json_number(json, "bits", format.bits, 0);
    gf_json_end(json);
}

static double gb_s(double bytes_s)
{
    return bytes_s > 0 ? bytes_s * 1e-9 : NAN;
}

void gf_json_peaks(struct gf_json *json, double device_copy, double upload, double download)
{
    gf_json_object(json, "peaks", GF_JSON_INLINE);
    gf_json_number(json, "device_copy_gb_s", gb_s(device_copy), 6);
    gf_json_number(json, "upload_gb_s", gb_s(upload), 6);
    gf_json_number(json, "download_gb_s", gb_s(download), 6);
    gf_json_end(json);
}
