/* Reading JPEG. */
#include "fuzz.h"
#include "jpeg_mutator.h"

FUZZ_READING(GF_FILE_JPEG)
