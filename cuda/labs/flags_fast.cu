#define FLAGS_WAY flags_fast
#define FLAGS_TEXT "-use_fast_math"
#include "cuda/labs/flags.cuh"
