/* The time at which the picture of the calling thread must be done. Whoever begins a picture sets
 * the limit, and whoever starts a thread for a part of that picture sets it there, too. Everything
 * that may take long asks in between whether the time is up, and stops. */
#ifndef GF_BASE_TIME_LIMIT_H
#define GF_BASE_TIME_LIMIT_H

#include <stdbool.h>

#include "gpufilter/status.h"

/* A time of gf_now(); 0: there is no limit. */
double gf_time_limit(void);
void gf_time_limit_set(double at_s);
/* How many seconds are left; INFINITY where there is no limit. */
double gf_time_left(void);
bool gf_time_is_up(void);
/* GF_ERROR_INPUT where the time is up. The pipeline replaces the text by one that names the picture
 * and the option. */
enum gf_status gf_time_check(struct gf_error *error) GF_CHECKED;

#endif
