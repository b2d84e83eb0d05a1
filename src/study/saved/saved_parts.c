#include "study/saved/saved.h"

#include <stdint.h>
#include <stdio.h>

struct gf_format gf_saved_format(const struct gf_json_value *value, const char *key)
{
    const struct gf_json_value *const format = gf_json_member(value, key);
    return (struct gf_format){.width = gf_json_int_of(format, "width", 0, INT32_MAX, 0),
                              .height = gf_json_int_of(format, "height", 0, INT32_MAX, 0),
                              .channels = gf_json_int_of(format, "channels", 1, 4, 0),
                              .bits = gf_json_int_of(format, "bits", 1, 16, 0)};
}

double gf_saved_peak(const struct gf_json_value *root, const char *key)
{
    const double gb_s = gf_json_number_of(gf_json_member(root, "peaks"), key);
    return gb_s > 0 ? gb_s * 1e9 : 0;
}

void gf_saved_text(const struct gf_json_value *value, const char *key, char *text, size_t size)
{
    snprintf(text, size, "%s", gf_json_text_of(value, key));
}
