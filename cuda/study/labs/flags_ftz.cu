#define FLAG_SET flags_ftz
#define FLAGS_TEXT "-ftz=true"
#include "cuda/study/labs/flags.cuh"
