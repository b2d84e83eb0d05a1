/* Reading AVIF. */
#include "fuzz.h"

FUZZ_READING(GF_FILE_AVIF)
