/* A zlib stream, unpacked piece by piece: by ISA-L where the build found it, which takes half of
 * zlib's time for photographs, else by zlib. */
#ifndef GF_CODEC_PNG_INFLATE_H
#define GF_CODEC_PNG_INFLATE_H

#include <stddef.h>
#include <stdint.h>

struct gf_inflate;

enum gf_inflate_result {
    GF_INFLATE_HUNGRY, /* all input is used up */
    GF_INFLATE_FULL,   /* the room is filled; there may be more */
    GF_INFLATE_END,    /* the stream has ended, and its checksum is right */
    GF_INFLATE_BAD
};

struct gf_inflate *gf_inflate_open(void); /* NULL: out of memory */
void gf_inflate_close(struct gf_inflate *inflate);
/* The next input, once the last one is used up. It must stay where it is. */
void gf_inflate_feed(struct gf_inflate *inflate, const uint8_t *data, size_t size);
/* Fills `out` as far as the input goes; `got` is what came. */
enum gf_inflate_result gf_inflate_run(struct gf_inflate *inflate, uint8_t *out, size_t room,
                                      size_t *got);
/* Input that is not used up. */
size_t gf_inflate_left(const struct gf_inflate *inflate);
/* What is bad, in zlib's words. */
const char *gf_inflate_message(const struct gf_inflate *inflate);

/* PNG's checksum of `size` bytes more. */
uint32_t gf_crc32(uint32_t crc, const uint8_t *data, size_t size);

/* "zlib" or "ISA-L". */
extern const char gf_inflate_name[];

#endif
