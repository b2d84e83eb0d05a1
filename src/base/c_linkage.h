/* Linkage of C functions that kernels' files, which are C++, call, too. A header declares them
 * between GF_C_BEGIN and GF_C_END. */
#pragma once

#ifdef __cplusplus
#define GF_C_BEGIN extern "C" {
#define GF_C_END }
#else
#define GF_C_BEGIN
#define GF_C_END
#endif
