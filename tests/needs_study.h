/* What tests of variants and labs do in a build without them. Included behind cmocka.h. */
#pragma once

/* Skips a test that names variants or labs where the build has none (STUDY=0). */
static inline void needs_study(void)
{
#ifndef GF_WITH_STUDY
    skip();
#endif
}
