/* Identifies an input: two inputs of one name have different identities, and so has an input after
 * a change. */
#ifndef GF_BATCH_LOG_INPUT_IDENTITY_H
#define GF_BATCH_LOG_INPUT_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct gf_input_identity {
    /* the input's size and time: "512 1763827100.500000000"; empty for a pipe, which has none */
    char text[128];
    struct timespec changed; /* valid where the text is not empty */
    bool is_gone;            /* stat() fails for the input */
};

struct gf_input_identity gf_identify_file(const char *path);
/* Identifies a member of an archive; the archive's identity is a part of the result. Where the
 * archive has no identity, as a pipe has none, the result is a hash of the member's bytes. */
struct gf_input_identity gf_identify_member(const void *bytes, size_t size, struct timespec time,
                                            const struct gf_input_identity *archive);

static inline bool gf_is_earlier(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

#endif
