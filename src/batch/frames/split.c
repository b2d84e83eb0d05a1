#include "batch/frames/split.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"

enum { STEP = 64 << 10, PNG_SIGNATURE = 8, PNG_CHUNK = 12 };

static enum gf_status fail(struct gf_input *input, const char *what, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_INPUT, "%s: %s", gf_input_name(input), what);
}

/* Makes room for `more` bytes behind those that are there. */
static enum gf_status grow(struct gf_input *input, struct gf_split *split, size_t more,
                           struct gf_error *error)
{
    if (more > split->most - split->size)
        return fail(input, "a picture of the stream takes more memory than --memory allows", error);
    return GF_RESERVE(split->data, split->room, split->size + more) ? GF_OK : gf_fail_memory(error);
}

/* Appends so many bytes, in steps: a size in a header takes no memory before the bytes are there.
 */
static enum gf_status append(struct gf_input *input, struct gf_split *split, uint64_t size,
                             struct gf_error *error)
{
    while (size) {
        const size_t step = size < (1 << 20) ? (size_t)size : 1 << 20;
        size_t got;
        GF_TRY(grow(input, split, step, error));
        GF_TRY(gf_input_read(input, split->data + split->size, step, &got, error));
        if (got < step)
            return fail(input, "truncated: the last picture is left out", error);
        split->size += got;
        size -= got;
    }
    return GF_OK;
}

static enum gf_status split_png(struct gf_input *input, struct gf_split *split,
                                struct gf_error *error)
{
    GF_TRY(append(input, split, PNG_SIGNATURE, error));
    for (bool at_end = false; !at_end;) {
        GF_TRY(append(input, split, PNG_CHUNK, error)); /* with four bytes of data or checksum */
        const unsigned char *const chunk = split->data + split->size - PNG_CHUNK;
        const uint32_t length = (uint32_t)chunk[0] << 24 | (uint32_t)chunk[1] << 16 |
                                (uint32_t)chunk[2] << 8 | chunk[3];
        at_end = !memcmp(chunk + 4, "IEND", 4);
        GF_TRY(append(input, split, length, error));
    }
    return GF_OK;
}

/* Returns the end of a JPEG's last scan in the bytes from `at` on: after the end marker. Returns 0
 * if it is not there yet; *at moves on. Segments between the markers are passed over. */
static size_t end_of_jpeg(const struct gf_split *split, size_t *at)
{
    const unsigned char *const data = split->data;
    while (*at + 2 <= split->size) {
        const unsigned char marker = data[*at + 1];
        if (data[*at] != 0xff || marker == 0 || marker == 0xff || marker == 1 ||
            (marker >= 0xd0 && marker <= 0xd8)) {
            const size_t step = data[*at] == 0xff && marker != 0xff ? 2 : 1;
            *at += step;
        } else if (marker == 0xd9) {
            return *at + 2;
        } else if (*at + 4 > split->size) {
            break;
        } else {
            *at += 2 + (size_t)(data[*at + 2] << 8 | data[*at + 3]);
        }
    }
    return 0;
}

static enum gf_status split_jpeg(struct gf_input *input, struct gf_split *split,
                                 struct gf_error *error)
{
    size_t end = 0, at = 2, got;
    GF_TRY(append(input, split, 2, error));
    while (!end) {
        GF_TRY(grow(input, split, STEP, error));
        GF_TRY(gf_input_read_some(input, split->data + split->size, STEP, &got, error));
        if (!got)
            return fail(input, "truncated: the last picture is left out", error);
        split->size += got;
        end = end_of_jpeg(split, &at);
    }
    const size_t left = split->size - end;
    split->size = end;
    return gf_input_give_back(input, split->data + end, left, error);
}

/* Appends a line of a PAM's header, or a word of a PNM's and the byte after it. Comments are
 * passed over. */
static enum gf_status append_text(struct gf_input *input, struct gf_split *split, bool line,
                                  char text[32], struct gf_error *error)
{
    size_t length = 0;
    bool comment = false;
    for (;;) {
        GF_TRY(append(input, split, 1, error));
        const unsigned char byte = split->data[split->size - 1];
        comment |= byte == '#';
        const bool ends = line || comment ? byte == '\n' : isspace(byte);
        if (ends && length)
            break;
        comment &= !ends;
        if (!ends && !comment && length < 31)
            text[length++] = (char)byte;
    }
    text[length] = '\0';
    return GF_OK;
}

static enum gf_status split_pnm(struct gf_input *input, struct gf_split *split,
                                struct gf_error *error)
{
    char text[32] = "";
    unsigned long size[4] = {0, 0, 1, 1}; /* width, height, channels, largest value */
    enum gf_status status = append_text(input, split, false, text, error);
    const char kind = text[1];
    if (kind == '6')
        size[2] = 3;
    for (int i = 0; !status && kind != '7' && i < (kind == '4' ? 2 : 3); i++) {
        status = append_text(input, split, false, text, error);
        size[i < 2 ? i : 3] = strtoul(text, NULL, 10);
    }
    while (!status && kind == '7' && strcmp(text, "ENDHDR") != 0) {
        static const char *const words[] = {"WIDTH ", "HEIGHT ", "DEPTH ", "MAXVAL "};
        status = append_text(input, split, true, text, error);
        for (size_t i = 0; i < 4; i++)
            if (!strncmp(text, words[i], strlen(words[i])))
                size[i] = strtoul(text + strlen(words[i]), NULL, 10);
    }
    for (int i = 0; !status && i < 3; i++)
        if (size[i] > 1 << 20)
            status = fail(input, "damaged: a picture of the stream is too large", error);
    if (status)
        return status;
    const uint64_t row =
        kind == '4' ? (size[0] + 7) / 8 : (uint64_t)size[0] * size[2] * (size[3] > 255 ? 2 : 1);
    return append(input, split, row * size[1], error);
}

bool gf_split_takes(const unsigned char *head, size_t size)
{
    return size >= 4 && (!memcmp(head, "\x89PNG", 4) || !memcmp(head, "\xff\xd8\xff", 3) ||
                         (head[0] == 'P' && head[1] >= '4' && head[1] <= '7'));
}

enum gf_status gf_split_next(struct gf_input *input, struct gf_split *split, bool *found,
                             struct gf_error *error)
{
    unsigned char head[4];
    size_t got;
    *found = false;
    split->size = 0;
    GF_TRY(gf_input_peek(input, head, 1, &got, error));
    while (got && memchr("\n\r ", *head, 4)) { /* may follow a picture */
        GF_TRY(gf_input_read(input, head, 1, &got, error));
        GF_TRY(gf_input_peek(input, head, 1, &got, error));
    }
    if (got)
        GF_TRY(gf_input_peek(input, head, sizeof head, &got, error));
    if (!got)
        return GF_OK;
    if (!gf_split_takes(head, got))
        return fail(input, "what follows a picture of the stream is no PNG, JPEG, PNM or PAM",
                    error);
    *found = true;
    return *head == 0x89   ? split_png(input, split, error)
           : *head == 0xff ? split_jpeg(input, split, error)
                           : split_pnm(input, split, error);
}
