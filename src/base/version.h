/* The version of the library and the program. The Makefile reads it from here. */
#ifndef GF_BASE_VERSION_H
#define GF_BASE_VERSION_H
#define GF_VERSION "0.1.0"
#endif
