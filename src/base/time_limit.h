/* The time at which the picture of the calling thread must be done. The function that begins a
 * picture sets the limit, and so does each thread that works on a part of the picture. Code that
 * may take long asks in between whether the time is up, and stops. */
#pragma once

#include <stdbool.h>

#include "gpufilter/status.h"

/* Returns the limit as a time of gf_now(); 0: there is none. */
double gf_time_limit(void);
void gf_time_limit_set(double at_s);
/* Moves the limit, if there is one, by the time since begin_s, in which the thread has waited for
 * something that does not belong to the picture, such as the start of a device. */
void gf_time_limit_excuse(double begin_s);
/* Returns the seconds that are left; INFINITY if there is no limit. */
double gf_time_left(void);
bool gf_time_is_up(void);
/* Returns GF_ERROR_INPUT if the time is up. The pipeline replaces the text by one that names the
 * picture and the option. */
enum gf_status gf_time_check(struct gf_error *error) GF_CHECKED;
