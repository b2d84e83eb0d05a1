#include "base/time_limit.h"

#include <math.h>

#include "base/spans.h"

static _Thread_local double limit_s;

double gf_time_limit(void)
{
    return limit_s;
}

void gf_time_limit_set(double at_s)
{
    limit_s = at_s;
}

void gf_time_limit_excuse(double begin_s)
{
    if (limit_s > 0)
        limit_s += gf_now() - begin_s;
}

double gf_time_left(void)
{
    return limit_s > 0 ? limit_s - gf_now() : (double)INFINITY;
}

bool gf_time_is_up(void)
{
    return limit_s > 0 && gf_now() >= limit_s;
}

enum gf_status gf_time_check(struct gf_error *error)
{
    return gf_time_is_up() ? gf_fail(error, GF_ERROR_INPUT, "its time is up") : GF_OK;
}
