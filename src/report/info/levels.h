/* Statistics of the levels of a picture (--info=statistics), from histograms. */
#ifndef GF_REPORT_INFO_LEVELS_H
#define GF_REPORT_INFO_LEVELS_H

#include <stdio.h>

#include "base/json.h"
#include "pipeline/pipeline_internal.h"

/* Writes the statistics as a member of the object that is open. */
void gf_levels_json(const struct gf_levels *levels, struct gf_json *json);
/* Prints a line and a small plot for each channel. */
void gf_levels_plot(const struct gf_levels *levels, FILE *file);

/* The keys of the JSON, for the manual; {0} ends them. */
extern const struct gf_key_help gf_levels_keys[];

#endif
