/* Reading TIFF. */
#include "fuzz.h"

FUZZ_READING_FRAMES(GF_FILE_TIFF)
