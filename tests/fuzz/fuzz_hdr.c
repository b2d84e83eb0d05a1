/* Reading Radiance HDR. What was read is written, and is the same when it is read again. */
#include "fuzz.h"

FUZZ_READING_AND_WRITING(GF_FILE_HDR)
