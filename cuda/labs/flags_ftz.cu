#define FLAGS_WAY flags_ftz
#define FLAGS_TEXT "-ftz=true"
#include "cuda/labs/flags.cuh"
