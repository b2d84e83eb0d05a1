#include "codec/jpeg/jpeg_bits.h"

#include <string.h>

/* Makes the buffer empty. */
static void clear(struct gf_jpeg_bits *bits)
{
    bits->next = (struct gf_jpeg_cursor){.at = bits->buffer};
    bits->end = bits->limit = bits->buffer;
    bits->stuffed = bits->passed = 0;
    bits->ended = false;
}

void gf_jpeg_bits_open_memory(struct gf_jpeg_bits *bits, const unsigned char *data, size_t size)
{
    clear(bits);
    bits->input = NULL;
    bits->raw = data;
    bits->raw_end = data + size;
}

void gf_jpeg_bits_open(struct gf_jpeg_bits *bits, struct gf_input *input, int64_t bit, int64_t stop)
{
    clear(bits);
    bits->input = input;
    bits->offset = bits->begin = bit / 8;
    bits->stop = stop;
    bits->raw = bits->raw_end = bits->raw_buffer;
    if (bit % 8) {
        (void)gf_jpeg_bits_advance(bits);
        gf_jpeg_refill(&bits->next);
        gf_jpeg_skip(&bits->next, (int)(bit % 8));
    }
}

/* Returns the offset in the input of a byte in the buffer. Calls are fast if they ask for bytes in
 * ascending order. */
static int64_t offset_of(struct gf_jpeg_bits *bits, const unsigned char *at)
{
    const int index = (int)(at - bits->buffer);
    if (bits->passed && bits->stuffed_at[bits->passed - 1] >= index)
        bits->passed = 0;
    while (bits->passed < bits->stuffed && bits->stuffed_at[bits->passed] < index)
        bits->passed++;
    return bits->begin + index + bits->passed;
}

/* Reads until `least` raw bytes are available or the input ends. A read error counts as the end. */
static void read_raw(struct gf_jpeg_bits *bits, size_t least)
{
    const size_t kept = (size_t)(bits->raw_end - bits->raw);
    if (kept >= least || !bits->input || bits->offset == bits->stop)
        return;
    const int64_t rest = bits->stop - bits->offset;
    const size_t room = sizeof bits->raw_buffer - kept;
    size_t got;
    memmove(bits->raw_buffer, bits->raw, kept);
    if (gf_input_read_at(bits->input, bits->offset, bits->raw_buffer + kept,
                         rest < (int64_t)room ? (size_t)rest : room, &got, NULL))
        got = 0;
    bits->offset = got ? bits->offset + (int64_t)got : bits->stop;
    bits->raw = bits->raw_buffer;
    bits->raw_end = bits->raw_buffer + kept + got;
}

/* Moves the last bytes before `at` to the start of the buffer, so that new bytes can follow. */
static unsigned char *slide(struct gf_jpeg_bits *bits)
{
    const ptrdiff_t before = bits->next.at - bits->buffer;
    const ptrdiff_t gone = before > GF_JPEG_BEFORE_BYTES ? before - GF_JPEG_BEFORE_BYTES : 0;
    const ptrdiff_t kept = bits->end - bits->buffer - gone;
    int stuffed = 0;
    bits->begin = offset_of(bits, bits->buffer + gone);
    for (int i = 0; i < bits->stuffed; i++) {
        if (bits->stuffed_at[i] >= gone)
            bits->stuffed_at[stuffed++] = (uint16_t)(bits->stuffed_at[i] - gone);
    }
    bits->stuffed = stuffed;
    bits->passed = 0;
    memmove(bits->buffer, bits->buffer + gone, (size_t)kept);
    bits->next.at -= gone;
    return bits->buffer + kept;
}

/* Appends raw bytes to the data and leaves out the stuffed zeros. */
static unsigned char *unstuff(struct gf_jpeg_bits *bits, unsigned char *to,
                              const unsigned char *to_end)
{
    while (!bits->ended && to < to_end) {
        read_raw(bits, 2);
        const size_t there = (size_t)(bits->raw_end - bits->raw), room = (size_t)(to_end - to);
        const size_t most = there < room ? there : room;
        const unsigned char *const found = memchr(bits->raw, 0xff, most);
        const size_t run = found ? (size_t)(found - bits->raw) : most;
        memcpy(to, bits->raw, run);
        to += run;
        bits->raw += run;
        if (!there)
            bits->ended = true;
        if (!found)
            continue;
        read_raw(bits, 2);
        if (bits->raw_end - bits->raw < 2 || bits->raw[1]) {
            bits->ended = true;
            break;
        }
        bits->stuffed_at[bits->stuffed++] = (uint16_t)(to - bits->buffer);
        *to++ = 0xff;
        bits->raw += 2;
    }
    return to;
}

bool gf_jpeg_bits_advance(struct gf_jpeg_bits *bits)
{
    if (bits->next.at < bits->limit)
        return true;
    if (bits->ended)
        return gf_jpeg_bits_left(bits) >= 0;
    unsigned char *const from = slide(bits);
    unsigned char *const end =
        unstuff(bits, from, bits->buffer + GF_JPEG_BEFORE_BYTES + GF_JPEG_RAW_BYTES);
    memset(end, 0, 2 * GF_JPEG_BLOCK_BYTES);
    bits->end = end;
    bits->limit = bits->ended ? end : end - GF_JPEG_BLOCK_BYTES;
    return true;
}

int64_t gf_jpeg_bits_place(struct gf_jpeg_bits *bits)
{
    const int whole = (bits->next.count + 7) / 8;
    return 8 * offset_of(bits, bits->next.at - whole) + 8 * whole - bits->next.count;
}

bool gf_jpeg_bits_take_marker(struct gf_jpeg_bits *bits, int marker)
{
    if (!bits->ended && !gf_jpeg_bits_advance(bits))
        return false;
    const int left = gf_jpeg_bits_left(bits);
    read_raw(bits, 2);
    if (!bits->ended || left < 0 || left > 7 || bits->raw_end - bits->raw < 2 ||
        bits->raw[0] != 0xff || bits->raw[1] != marker)
        return false;
    bits->raw += 2;
    clear(bits);
    bits->begin = bits->offset - (bits->raw_end - bits->raw);
    return true;
}

void gf_jpeg_writer_put_stuffed(struct gf_jpeg_writer *writer, uint32_t word)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        const unsigned char byte = (unsigned char)(word >> shift);
        *writer->at++ = byte;
        if (byte == 0xff)
            *writer->at++ = 0;
    }
}

void gf_jpeg_writer_pad(struct gf_jpeg_writer *writer)
{
    const int fill = (8 - writer->count % 8) % 8;
    const uint64_t value = writer->value << fill | ((1u << fill) - 1);
    for (int left = writer->count + fill; left > 0; left -= 8) {
        const unsigned char byte = (unsigned char)(value >> (left - 8));
        *writer->at++ = byte;
        if (byte == 0xff)
            *writer->at++ = 0;
    }
    writer->count = 0;
}

bool gf_jpeg_bits_copy(struct gf_jpeg_bits *bits, struct gf_jpeg_writer *all_writer,
                       const unsigned char *full, int skip)
{
    enum { STEP = 32, WORD = 8 };
    struct gf_jpeg_writer writer = *all_writer; /* a local copy stays in registers */
    int left = 1;
    while (writer.at < full && left > 0) {
        (void)gf_jpeg_bits_advance(bits);
        const ptrdiff_t rest = bits->ended ? WORD : 0;
        for (; bits->limit - bits->next.at > rest && writer.at < full;
             gf_jpeg_skip(&bits->next, STEP)) {
            gf_jpeg_refill(&bits->next);
            gf_jpeg_writer_put(&writer, (uint32_t)(bits->next.value >> (64 - STEP)), STEP);
        }
        if (!bits->ended || bits->limit - bits->next.at > rest)
            continue;
        left = gf_jpeg_bits_left(bits) - (skip ? 8 - skip : 0);
        for (int some; left > 0; left -= some) {
            some = left < STEP ? left : STEP;
            gf_jpeg_refill(&bits->next);
            gf_jpeg_writer_put(&writer, (uint32_t)(bits->next.value >> (64 - some)), some);
            gf_jpeg_skip(&bits->next, some);
        }
    }
    *all_writer = writer;
    return left <= 0;
}
