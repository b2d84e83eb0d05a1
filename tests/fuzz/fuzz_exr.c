/* Reading OpenEXR. */
#include "fuzz.h"

FUZZ_READING(GF_FILE_EXR)
