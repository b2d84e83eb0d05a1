/* What the tests of the codecs share: pictures that are encoded into files and decoded from them.
 */
#pragma once

#include "temp_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/codec.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"

static int warnings;
static char last_warning[400];
static struct gf_error failure; /* of the last call */

static inline int entries_in_folder(void)
{
    int count = -2; /* . and .. */
    DIR *const entries = opendir(folder);
    while (readdir(entries))
        count++;
    closedir(entries);
    return count;
}

static void take_warning(void *context, const char *text)
{
    warnings++;
    snprintf(last_warning, sizeof last_warning, "%s", text);
}

static inline struct gf_options plain_options(void)
{
    warnings = 0;
    last_warning[0] = 0;
    return (struct gf_options){.max_pixels = 1000000000,
                               .autorotate = true,
                               .quality = 90,
                               .png_level = 1,
                               .warn = take_warning};
}

static inline void append(struct bytes *bytes, const void *data, size_t size)
{
    bytes->data = realloc(bytes->data, bytes->size + size + 1);
    assert_non_null(bytes->data);
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

/* ---- pictures ---- */

struct picture {
    struct gf_format format;
    unsigned char *data; /* tightly packed */
    struct gf_metadata metadata;
};

static inline void free_picture(struct picture *picture)
{
    free(picture->data);
    gf_metadata_free(&picture->metadata);
}

/* Noise by xorshift, in which deflate finds no repetition. */
static inline unsigned next_random(unsigned *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed >> 8;
}

static inline size_t picture_bytes(struct gf_format format)
{
    return gf_row_bytes(format) * (size_t)format.height;
}

static inline struct picture random_picture(int width, int height, int channels, int bits)
{
    struct picture picture = {.format = {width, height, channels, bits, GF_SAMPLES_INTEGER},
                              .metadata = {.orientation = 1}};
    unsigned seed = (unsigned)(width * 7 + channels * 3 + bits) * 2654435761u;
    picture.data = malloc(picture_bytes(picture.format));
    assert_non_null(picture.data);
    for (size_t i = 0; i < picture_bytes(picture.format); i++)
        picture.data[i] = (unsigned char)next_random(&seed);
    return picture;
}

/* Soft gradients, which JPEG hardly changes. */
static inline struct picture smooth_picture(int width, int height, int channels, int bits)
{
    struct picture picture = random_picture(width, height, channels, bits);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < channels; c++) {
                const unsigned value =
                    (unsigned)(40 + 160 * (c == 1 ? y : x) / (c == 1 ? height : width));
                const size_t at =
                    ((size_t)y * (size_t)width + (size_t)x) * (size_t)channels + (size_t)c;
                if (bits == 16)
                    ((uint16_t *)(void *)picture.data)[at] = (uint16_t)(value * 257);
                else
                    picture.data[at] = (unsigned char)value;
            }
    return picture;
}

/* Reads three rows at a time with a pitch larger than a row. Neither may change the picture, and
 * nothing may be written between rows. */
static enum gf_status read_rows_of(struct gf_source *source, unsigned char *data)
{
    const struct gf_format format = source->format;
    const size_t row = gf_row_bytes(format), pitch = row + (format.bits == 32 ? 12 : 6);
    unsigned char *const band = malloc(3 * pitch);
    enum gf_status status = GF_OK;
    for (int y = 0; !status && y < format.height; y += 3) {
        const int rows = format.height - y < 3 ? format.height - y : 3;
        memset(band, 0xa5, 3 * pitch);
        status = source->read(source, rows, band, pitch, &failure);
        for (int r = 0; !status && r < rows; r++) {
            memcpy(data + (size_t)(y + r) * row, band + (size_t)r * pitch, row);
            for (size_t i = row; i < pitch; i++)
                assert_int_equal(band[(size_t)r * pitch + i], 0xa5);
        }
    }
    free(band);
    if (!status && source->finish)
        status = source->finish(source, &failure);
    return status;
}

static struct gf_blob copy_blob(struct gf_blob blob)
{
    struct gf_blob copy = {malloc(blob.size + 1), blob.size};
    if (blob.size)
        memcpy(copy.data, blob.data, blob.size);
    return copy;
}

/* With GF_TEST_CELLS, which names the program, all files are read in cells. */
static struct gf_options in_cells(const struct gf_options *options)
{
    struct gf_options own = *options;
    own.sandbox_program = getenv("GF_TEST_CELLS");
    own.sandbox = own.sandbox_program ? GF_SANDBOX_ALL : GF_SANDBOX_OFF;
    return own;
}

/* Copies what the source says of its picture, whose rows are read next. */
static void describe_picture(const struct gf_source *source, struct picture *picture)
{
    const struct gf_metadata *const metadata = &source->metadata;
    picture->format = source->format;
    picture->data = calloc(1, picture_bytes(source->format));
    assert_non_null(picture->data);
    picture->metadata = *metadata;
    picture->metadata.icc = copy_blob(metadata->icc);
    picture->metadata.exif = copy_blob(metadata->exif);
    picture->metadata.xmp = copy_blob(metadata->xmp);
    picture->metadata.iptc = copy_blob(metadata->iptc);
    picture->metadata.palette = copy_blob(metadata->palette);
    picture->metadata.y4m = copy_blob(metadata->y4m);
    picture->metadata.gain_map = copy_blob(metadata->gain_map);
    picture->metadata.geo = copy_blob(metadata->geo);
    picture->metadata.texts = (struct gf_texts){0};
    assert_true(gf_texts_copy(&picture->metadata.texts, &metadata->texts));
}

static enum gf_status decode_input(struct gf_input *input, const struct gf_options *options,
                                   struct picture *picture)
{
    struct gf_source *source = NULL;
    const struct gf_options own = in_cells(options);
    enum gf_status status = gf_source_open(input, &own, &source, &failure);
    if (status)
        return status;
    describe_picture(source, picture);
    status = read_rows_of(source, picture->data);
    source->close(source);
    if (status)
        free_picture(picture);
    return status;
}

/* The frames of an animation, or its one picture. */
enum { FRAMES_MOST = 16 };
struct frames {
    int count;
    unsigned loops;
    double seconds; /* of all frames, as the file's header says */
    struct picture picture[FRAMES_MOST];
    struct gf_duration duration[FRAMES_MOST];
};

static inline void free_frames(struct frames *frames)
{
    for (int i = 0; i < frames->count; i++)
        free_picture(&frames->picture[i]);
    frames->count = 0;
}

static inline enum gf_status decode_frames_of(struct gf_source *source, struct frames *frames)
{
    enum gf_status status = GF_OK;
    frames->loops = source->metadata.loops;
    frames->seconds = source->stored.seconds;
    for (bool found = true; !status && found;) {
        struct picture *const picture = &frames->picture[frames->count];
        const size_t pitch = gf_row_bytes(source->format), height = (size_t)source->format.height;
        assert_true(frames->count < FRAMES_MOST);
        describe_picture(source, picture);
        status = source->read(source, (int)height, picture->data, pitch, &failure);
        frames->duration[frames->count++] = source->duration;
        if (!status && source->finish)
            status = source->finish(source, &failure);
        found = false;
        if (!status && source->next)
            status = gf_source_next(source, &found, &failure);
    }
    return status;
}

/* Decodes the frames that the name chooses, as in "a.gif[all]". */
static inline enum gf_status decode_frames(const char *path, const struct gf_options *options,
                                           struct frames *frames)
{
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    const struct gf_options own = in_cells(options);
    *frames = (struct frames){.count = 0};
    enum gf_status status = gf_input_open(path, false, &input, &failure);
    if (!status)
        status = gf_source_open(input, &own, &source, &failure);
    if (!status)
        status = decode_frames_of(source, frames);
    if (status)
        free_frames(frames);
    if (source)
        source->close(source);
    gf_input_close(input);
    return status;
}

static inline enum gf_status decode(const char *path, const struct gf_options *options,
                                    struct picture *picture)
{
    struct gf_input *input = NULL;
    *picture = (struct picture){0};
    memset(&failure, 0, sizeof failure);
    enum gf_status status = gf_input_open(path, false, &input, &failure);
    if (!status)
        status = decode_input(input, options, picture);
    gf_input_close(input);
    assert_int_equal(status, failure.status);
    return status;
}

static enum gf_status encode_output(struct gf_output *output, const struct picture *picture,
                                    enum gf_file_format format, const struct gf_options *options)
{
    struct gf_sink *sink = NULL;
    const size_t row = gf_row_bytes(picture->format);
    enum gf_status status =
        gf_sink_open(output, format, picture->format, &picture->metadata, options, &sink, &failure);
    for (int y = 0; !status && y < picture->format.height; y += 5) {
        const int rows = picture->format.height - y < 5 ? picture->format.height - y : 5;
        status = sink->write(sink, rows, picture->data + (size_t)y * row, row, &failure);
    }
    if (!status)
        status = sink->finish(sink, &failure);
    if (sink)
        sink->close(sink);
    return status;
}

/* Writes the frames as an animation, whose metadata is that of the first, or as pages. */
static inline enum gf_status encode_frames_to(struct gf_output *output, const struct frames *frames,
                                              enum gf_file_format format,
                                              const struct gf_options *options)
{
    const struct picture *const first = frames->picture;
    struct gf_metadata metadata = first->metadata;
    struct gf_duration duration;
    struct gf_sink *sink = NULL;
    metadata.animated = true;
    metadata.loops = frames->loops;
    enum gf_status status =
        gf_sink_open(output, format, first->format, &metadata, options, &sink, &failure);
    if (!status)
        sink->duration = &duration;
    for (int i = 0; !status && i < frames->count; i++) {
        const struct picture *const picture = &frames->picture[i];
        struct gf_metadata own = picture->metadata;
        own.animated = true;
        duration = frames->duration[i];
        if (i && sink->turn)
            status = gf_sink_turn(sink, output, format, picture->format, &own, options, &failure);
        if (!status)
            status = sink->write(sink, picture->format.height, picture->data,
                                 gf_row_bytes(picture->format), &failure);
        if (!status)
            status = sink->finish(sink, &failure);
    }
    if (!status)
        status = sink->end(sink, &failure);
    if (sink)
        sink->close(sink);
    return status;
}

static inline enum gf_status encode_frames(const char *path, const struct frames *frames,
                                           const struct gf_options *options)
{
    struct gf_output *output = NULL;
    enum gf_status status = gf_output_open(path, &output, &failure);
    if (!status)
        status = encode_frames_to(output, frames, gf_file_format_named(path), options);
    if (!status)
        status = gf_output_commit(output, &failure);
    gf_output_close(output);
    return status;
}

static inline void assert_same_pixels(const struct picture *a, const struct picture *b)
{
    assert_memory_equal(&a->format, &b->format, sizeof a->format);
    assert_memory_equal(a->data, b->data, picture_bytes(a->format));
}

/* Frames of noise, of which a part moves; the third is the second once more, and a quarter of the
 * pixels is transparent if there is alpha. */
static inline struct frames random_frames(int count, int width, int height, int channels, int bits)
{
    struct frames frames = {.count = count, .loops = 3};
    const struct picture first = random_picture(width, height, channels, bits);
    const size_t sample = (size_t)bits / 8, pixel = sample * (size_t)channels,
                 pixels = (size_t)width * (size_t)height;
    for (size_t i = 0; channels % 2 == 0 && i < pixels; i++)
        memset(first.data + (i + 1) * pixel - sample, i % 4 ? 255 : i % 8 * 25, sample);
    for (int i = 0; i < count; i++) {
        struct picture *const picture = &frames.picture[i];
        *picture = random_picture(width, height, channels, bits);
        memcpy(picture->data, first.data, picture_bytes(first.format));
        const int moved = i == 2 ? 1 : i;
        for (int y = moved; moved && y < moved + 3 && y < height; y++)
            memset(picture->data + ((size_t)y * (size_t)width + (size_t)moved) * pixel, 17 * moved,
                   2 * pixel);
        frames.duration[i] = (struct gf_duration){(unsigned)(20 + 7 * i), 100};
    }
    free(first.data);
    return frames;
}

/* Fails unless the frames are shown as long, within half a tick of which a second has so many, and
 * have the same pixels. */
static inline void assert_same_frames(const struct frames *a, const struct frames *b,
                                      unsigned per_second)
{
    double sum = 0;
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        const double shown = (double)a->duration[i].count / a->duration[i].per_second,
                     back = (double)b->duration[i].count / b->duration[i].per_second;
        assert_same_pixels(&a->picture[i], &b->picture[i]);
        if ((shown - back) * per_second > 0.5001 || (back - shown) * per_second > 0.5001)
            fail_msg("frame %d is shown for %g s, not %g", i, back, shown);
        sum += back;
    }
    if (b->count > 1 && (sum - b->seconds > 1e-9 || b->seconds - sum > 1e-9))
        fail_msg("the frames are shown for %g s, not %g", sum, b->seconds);
}

static inline enum gf_status encode(const char *path, const struct picture *picture,
                                    const struct gf_options *options)
{
    struct gf_output *output = NULL;
    enum gf_file_format format;
    memset(&failure, 0, sizeof failure);
    enum gf_status status = gf_sink_format(path, options, GF_FILE_PNG, &format, &failure);
    if (!status)
        status = gf_output_open(path, &output, &failure);
    if (!status)
        status = encode_output(output, picture, format, options);
    if (!status)
        status = gf_output_commit(output, &failure);
    gf_output_close(output);
    assert_int_equal(status, failure.status);
    return status;
}

/* The message of the last failure is one line that names the file and contains the text. */
static inline void assert_failure_says(const char *words)
{
    if (!strstr(failure.text, words) || strchr(failure.text, '\n'))
        fail_msg("\"%s\" does not say \"%s\"", failure.text, words);
}

static inline void assert_refused(const char *path, const struct gf_options *options,
                                  const char *words)
{
    struct picture picture;
    if (decode(path, options, &picture) != GF_ERROR_INPUT)
        fail_msg("%s was read, instead of: %s", path, words);
    assert_failure_says(words);
    assert_failure_says(strrchr(path, '/') + 1);
}

static inline long peak_kilobytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* ---- chunks of PNG ---- */

#include <zlib.h>

static inline void put_be32(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (24 - 8 * i));
}

static inline uint32_t get_be32(const unsigned char *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static inline void append_chunk(struct bytes *png, const char *name, const void *data, size_t size)
{
    unsigned char word[4];
    put_be32(word, (uint32_t)size);
    append(png, word, 4);
    append(png, name, 4);
    append(png, data, size);
    put_be32(word, (uint32_t)crc32(crc32(0, (const Bytef *)name, 4), data, (uInt)size));
    append(png, word, 4);
}

enum { PNG_HEADER_BYTES = 8 + 25 }; /* the signature and IHDR */

static inline struct bytes png_beginning(const unsigned char header[13])
{
    struct bytes png = {0};
    append(&png, "\x89PNG\r\n\x1a\n", 8);
    append_chunk(&png, "IHDR", header, 13);
    return png;
}

/* The same file with one more chunk behind IHDR. */
static inline struct bytes with_chunk(struct bytes png, const char *name, const void *data,
                                      size_t size)
{
    struct bytes more = {0};
    append(&more, png.data, PNG_HEADER_BYTES);
    append_chunk(&more, name, data, size);
    append(&more, png.data + PNG_HEADER_BYTES, png.size - PNG_HEADER_BYTES);
    return more;
}
