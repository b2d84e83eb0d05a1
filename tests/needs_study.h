/* What tests of variants and labs do in a build without them. Included behind cmocka.h. */
#ifndef GF_TEST_NEEDS_STUDY_H
#define GF_TEST_NEEDS_STUDY_H

/* Skips a test that names variants or labs where the build has none (STUDY=0). */
static inline void needs_study(void)
{
#ifndef GF_WITH_STUDY
    skip();
#endif
}

#endif
