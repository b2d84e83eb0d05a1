/* Reading GIF. */
#include "fuzz.h"

FUZZ_READING(GF_FILE_GIF)
