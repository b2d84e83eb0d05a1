#define FLAG_SET flags_div
#define FLAGS_TEXT "-prec-div=false"
#include "cuda/study/labs/flags.cuh"
