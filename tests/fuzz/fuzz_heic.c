/* Reading HEIC. */
#include "fuzz.h"

FUZZ_READING(GF_FILE_HEIC)
