/* The version of these headers, by Semantic Versioning; the heading of .github/CHANGELOG.md is its
 * tag. gf_version() returns the version of the library that runs. */
#ifndef GPUFILTER_VERSION_H
#define GPUFILTER_VERSION_H

#define GF_VERSION_MAJOR 0
#define GF_VERSION_MINOR 3
#define GF_VERSION_PATCH 0

/* The version as text: "1.2.3". */
#define GF_VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
#define GF_VERSION_TEXT(major, minor, patch) GF_VERSION_TEXT_(major, minor, patch)
#define GF_VERSION GF_VERSION_TEXT(GF_VERSION_MAJOR, GF_VERSION_MINOR, GF_VERSION_PATCH)

#endif
