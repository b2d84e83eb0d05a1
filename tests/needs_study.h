/* What tests of variants and labs do in a build without them. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpufilter/filter.h"

/* Skips a test that names variants or labs where the build has none (STUDY=0). */
static inline void needs_study(void)
{
    if (!gf_filter_variant(gf_filter_find("blur"), 1, NULL))
        skip();
}
