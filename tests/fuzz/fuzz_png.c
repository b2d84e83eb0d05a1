/* Reading PNG. */
#include "fuzz.h"
#include "png_mutator.h"

FUZZ_READING(GF_FILE_PNG)
