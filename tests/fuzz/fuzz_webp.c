/* Reading WebP. */
#include "fuzz.h"

FUZZ_READING(GF_FILE_WEBP)
