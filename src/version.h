#ifndef GF_VERSION_H
#define GF_VERSION_H
#define GF_VERSION "0.1.0"
#endif
