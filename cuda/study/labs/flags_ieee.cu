#define FLAG_SET flags_ieee
#define FLAGS_TEXT "no flags"
#include "cuda/study/labs/flags.cuh"
