#define FLAG_SET flags_fast
#define FLAGS_TEXT "-use_fast_math"
#include "cuda/study/labs/flags.cuh"
