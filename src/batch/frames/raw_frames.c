#include "batch/frames/raw_frames.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/formats.h"

/* The formats, without the bits that may follow. */
static const struct {
    const char *word, *planes; /* the parameter of a Y4M for 8 bits, and the range */
    const char *wide;          /* what comes before the bits, if they are more than 8 */
    const char *range;
    int channels;
} kinds[] = {{"gray", "Cmono", "Cmono", "", 1},
             {"yuv420p", "C420mpeg2", "C420p", "", 3},
             {"yuv422p", "C422", "C422p", "", 3},
             {"yuv444p", "C444", "C444p", "", 3},
             {"yuvj420p", "C420jpeg", NULL, " XCOLORRANGE=FULL", 3},
             {"yuvj422p", "C422", NULL, " XCOLORRANGE=FULL", 3},
             {"yuvj444p", "C444", NULL, " XCOLORRANGE=FULL", 3},
             {"rgb24", NULL, NULL, "", 3},
             {"rgb48le", NULL, NULL, "", 3},
             {"rgba", NULL, NULL, "", 4}};

/* Reads "10le". Returns the bits; 0: the text is something else. */
static int bits_of(const char *text)
{
    char *end;
    const long bits = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
    return bits > 8 && bits <= 16 && !strcmp(end, "le") ? (int)bits : 0;
}

static bool set_format(const char *word, struct gf_raw_frames *raw)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].word);
        const char *const rest = word + length;
        const int bits = kinds[i].wide ? bits_of(rest) : 0;
        if (strncmp(word, kinds[i].word, length) != 0 || (*rest && !bits))
            continue;
        snprintf(raw->text, sizeof raw->text, "%s", word);
        raw->channels = kinds[i].channels;
        raw->bits = bits ? bits : strcmp(word, "rgb48le") ? 8 : 16;
        if (bits)
            snprintf(raw->planes, sizeof raw->planes, "%s%d", kinds[i].wide, bits);
        else if (kinds[i].planes)
            snprintf(raw->planes, sizeof raw->planes, "%s%s", kinds[i].planes, kinds[i].range);
        return true;
    }
    return false;
}

/* Reads nothing, ":25" or ":30000/1001". */
static bool set_rate(const char *text, struct gf_raw_frames *raw)
{
    char *end;
    if (!*text)
        return true;
    if (!isdigit((unsigned char)text[1]))
        return false;
    raw->frames = (unsigned)strtoul(text + 1, &end, 10);
    if (*end == '/' && isdigit((unsigned char)end[1]))
        raw->seconds = (unsigned)strtoul(end + 1, &end, 10);
    return raw->frames && raw->seconds && !*end;
}

enum gf_status gf_raw_frames_parse(const char *text, struct gf_raw_frames *raw,
                                   struct gf_error *error)
{
    enum { SIDE_DIGITS = 6 };
    char word[24];
    *raw = (struct gf_raw_frames){.frames = 25, .seconds = 1};
    const size_t width = strspn(text, "0123456789");
    const size_t height = text[width] == 'x' ? strspn(text + width + 1, "0123456789") : 0;
    const char *const after = text + width + 1 + height;
    if (!width || width > SIDE_DIGITS || !height || height > SIDE_DIGITS || *after != ':')
        return gf_fail(error, GF_ERROR_USAGE,
                       "--raw=%.60s: WIDTHxHEIGHT:FORMAT or WIDTHxHEIGHT:FORMAT:RATE is expected, "
                       "such as 1920x1080:yuv420p:30000/1001",
                       text);
    raw->width = atoi(text);
    raw->height = atoi(text + width + 1);
    const size_t length = strcspn(after + 1, ":");
    snprintf(word, sizeof word, "%.*s", (int)length, after + 1);
    if (!raw->width || !raw->height || !set_rate(after + 1 + length, raw))
        return gf_fail(error, GF_ERROR_USAGE,
                       "--raw=%.60s: a size, or a rate such as 25 or 30000/1001, is wrong", text);
    return set_format(word, raw)
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE,
                         "--raw=%.60s: '%s' is none of gray, yuv420p, yuv422p, yuv444p (or with "
                         "more bits, as in gray16le), yuvj420p, yuvj422p, yuvj444p, rgb24, "
                         "rgb48le, rgba",
                         text, word);
}

enum gf_file_format gf_raw_frames_file(const struct gf_raw_frames *raw)
{
    return *raw->planes ? GF_FILE_Y4M : raw->channels == 4 ? GF_FILE_PAM : GF_FILE_PNM;
}

bool gf_raw_frames_named(const char *path)
{
    const char *const slash = strrchr(path, '/'), *const dot = strrchr(slash ? slash : path, '.');
    return dot && gf_word_in_list("raw yuv rgb gray", dot + 1);
}
