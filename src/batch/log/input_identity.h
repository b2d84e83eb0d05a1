/* Identifies an input. Two inputs of one name have different identities. An input that changes gets
 * another identity. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct gf_input_identity {
    /* The input's size and time, as in "512 1763827100.500000000"; empty for a pipe, which has no
     * identity. */
    char text[128];
    struct timespec changed; /* valid if the text is not empty */
    bool is_gone;            /* the input does not exist any more: stat() fails */
};

struct gf_input_identity gf_identify_file(const char *path);
/* Identifies a member of an archive; the archive's identity is a part of the result. If the archive
 * has no identity, because it is a pipe, the result is a hash of the member's bytes. */
struct gf_input_identity gf_identify_member(const void *bytes, size_t size, struct timespec time,
                                            const struct gf_input_identity *archive);

static inline bool gf_is_earlier(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}
