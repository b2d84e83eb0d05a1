/* Reading PNG. */
#include "fuzz.h"
#include "png_mutator.h"

FUZZ_READING_FRAMES(GF_FILE_PNG)
