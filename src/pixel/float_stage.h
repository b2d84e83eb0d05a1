/* Runs a stage on the CPU, whatever its samples are. Filters compute with floats of 32 bits; rows
 * of halves are converted before and after. */
#pragma once

#include "stage/stage.h"

/* Does what the filter's cpu() does, or floats() where the stage's input has floats. */
void gf_stage_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                  void *scratch);
/* Returns the bytes of scratch memory for `rows` rows of the result. */
size_t gf_stage_cpu_scratch(const struct gf_stage *stage, int rows);
