/* Reading JPEG 2000. */
#include "fuzz.h"

FUZZ_READING(GF_FILE_JP2)
