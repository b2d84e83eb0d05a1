#define FLAGS_WAY flags_ieee
#define FLAGS_TEXT "no flags"
#include "cuda/labs/flags.cuh"
