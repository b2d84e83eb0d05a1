#ifndef GF_BASE_VERSION_H
#define GF_BASE_VERSION_H
#define GF_VERSION "0.1.0"
#endif
