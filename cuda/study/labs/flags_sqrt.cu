#define FLAG_SET flags_sqrt
#define FLAGS_TEXT "-prec-sqrt=false"
#include "cuda/study/labs/flags.cuh"
