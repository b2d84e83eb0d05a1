/* Pipelines like another one, for pictures that are worked on at the same time. */
#pragma once

#include "pipeline/pipeline_state.h"

/* Opens `count` pipelines with the pipeline's chain and options, each of which uses one thread, and
 * keeps them until it closes. Returns how many there are: 0 if its pictures must follow each other,
 * or have one budget of memory. */
int gf_pipeline_gather_crew(struct gf_pipeline *pipeline, int count);
/* Returns pipeline number 0..count - 1 of these. */
struct gf_pipeline *gf_pipeline_of_crew(struct gf_pipeline *pipeline, int number);
