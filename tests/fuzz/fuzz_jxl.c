/* Reading JPEG XL. */
#include "fuzz.h"

FUZZ_READING(GF_FILE_JXL)
