/* Reading GIF. */
#include "fuzz.h"

FUZZ_READING_FRAMES(GF_FILE_GIF)
