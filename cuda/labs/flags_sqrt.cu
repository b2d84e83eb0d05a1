#define FLAG_SET flags_sqrt
#define FLAGS_TEXT "-prec-sqrt=false"
#include "cuda/labs/flags.cuh"
