/* Reading TIFF. */
#include "fuzz.h"

FUZZ_READING(GF_FILE_TIFF)
