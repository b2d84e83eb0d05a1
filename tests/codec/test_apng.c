/* Animated PNGs: the frames that are composed of a file's, and what is written of frames. */
#include "codec_test.h"

#include <math.h>

/* ---- files of gray, with alpha or without, that the test makes ---- */

struct area {
    int x, y, width, height;
};
enum { KEEP, CLEAR, UNDER };     /* what becomes of a frame's place */
static int bits, channels;       /* of the file that is being made */
static uint32_t sequence, plays; /* of the next chunk; the loops */
static unsigned delay = 7, delay_per = 100;

/* The gray value and the alpha of a letter. */
static void value_of(char letter, int value[2])
{
    static const struct {
        char letter;
        int value, alpha;
    } values[] = {{'k', 0, 255}, {'g', 100, 255}, {'w', 255, 255}, {'h', 200, 128}, {'.', 0, 0}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (values[i].letter == letter) {
            value[0] = values[i].value;
            value[1] = values[i].alpha;
            return;
        }
    }
    fail_msg("there is no letter %c", letter);
}

static struct bytes begin(int width, int height, int frames)
{
    unsigned char header[13] =
        {[8] = (unsigned char)bits, [9] = (unsigned char)(channels == 2 ? 4 : 0)},
                  control[8];
    put_be32(header, (uint32_t)width);
    put_be32(header + 4, (uint32_t)height);
    struct bytes png = png_beginning(header);
    put_be32(control, (uint32_t)frames);
    put_be32(control + 4, plays);
    append_chunk(&png, "acTL", control, sizeof control);
    sequence = 0;
    return png;
}

static void add_control(struct bytes *png, struct area area, int dispose, bool over)
{
    const int place[] = {area.width, area.height, area.x, area.y};
    unsigned char control[26] = {[24] = (unsigned char)dispose, [25] = over};
    put_be32(control, sequence++);
    for (int i = 0; i < 4; i++)
        put_be32(control + 4 + 4 * i, (uint32_t)place[i]);
    put_be32(control + 20, delay << 16 | delay_per);
    append_chunk(png, "fcTL", control, sizeof control);
}

/* Adds the pixels of a frame, in one chunk or two. */
static void add_pixels(struct bytes *png, int width, int height, const char *letters, bool first)
{
    unsigned char rows[400], packed[600];
    size_t size = 0, cut;
    uLongf room = sizeof packed - 4;
    assert_int_equal(strlen(letters), width * height);
    for (int y = 0; y < height; y++) {
        rows[size++] = 0;
        for (int i = 0; i < width * channels; i++) {
            int value[2];
            value_of(letters[y * width + i / channels], value);
            for (int b = 0; b < bits / 8; b++)
                rows[size++] = (unsigned char)value[i % channels];
        }
    }
    assert_int_equal(compress(packed + 4, &room, rows, size), Z_OK);
    cut = first ? room : room / 2;
    if (first) {
        append_chunk(png, "IDAT", packed + 4, room);
        return;
    }
    put_be32(packed, sequence++);
    append_chunk(png, "fdAT", packed, 4 + cut);
    put_be32(packed + cut, sequence++);
    append_chunk(png, "fdAT", packed + cut, 4 + room - cut);
}

static void add(struct bytes *png, struct area area, int dispose, bool over, const char *letters)
{
    const bool first = !sequence;
    add_control(png, area, dispose, over);
    add_pixels(png, area.width, area.height, letters, first);
}

static void finish(struct bytes *png)
{
    append_chunk(png, "IEND", NULL, 0);
    save(in_folder("a.png"), png->data, png->size);
    free(png->data);
}

static int sample_of(const struct picture *picture, int index)
{
    return picture->format.bits == 8 ? picture->data[index]
                                     : ((const uint16_t *)(const void *)picture->data)[index];
}

static void check_pixels(const struct picture *picture, int wanted_channels, const char *letters)
{
    const struct gf_format format = picture->format;
    assert_int_equal(format.channels, wanted_channels);
    assert_int_equal(format.bits, bits);
    assert_int_equal(strlen(letters), format.width * format.height);
    for (int i = 0; letters[i]; i++) {
        int value[2];
        value_of(letters[i], value);
        for (int c = 0; c < format.channels; c++) {
            const int is = sample_of(picture, i * format.channels + c);
            if (is != value[c] * (bits == 8 ? 1 : 257))
                fail_msg("channel %d of pixel %d is %d, not %c", c, i, is, letters[i]);
        }
    }
}

static void check_frames(const char *name, int wanted_channels, const char *const letters[])
{
    const struct gf_options options = plain_options();
    struct frames frames;
    if (decode_frames(in_folder(name), &options, &frames))
        fail_msg("%s", failure.text);
    for (int i = 0; i < frames.count; i++) {
        assert_non_null(letters[i]);
        check_pixels(&frames.picture[i], wanted_channels, letters[i]);
    }
    assert_null(letters[frames.count]);
    free_frames(&frames);
}

static void test_composition(void **state)
{
    channels = 2;
    for (bits = 8; bits <= 16; bits += 8) {
        struct bytes png = begin(3, 2, 5);
        add(&png, (struct area){0, 0, 3, 2}, KEEP, false, "wwwwww");
        add(&png, (struct area){1, 0, 2, 1}, UNDER, false, "g.");
        add(&png, (struct area){0, 0, 2, 2}, CLEAR, true, "k..k");
        add(&png, (struct area){2, 1, 1, 1}, KEEP, true, ".");
        add(&png, (struct area){2, 1, 1, 1}, KEEP, false, ".");
        finish(&png);
        check_frames("a.png[all]", 2,
                     (const char *const[]){"wwwwww", "wg.www", "kwwwkw", "..w..w", "..w...", NULL});
        check_frames("a.png[2..3]", 2, (const char *const[]){"kwwwkw", "..w..w", NULL});
        check_frames("a.png[4]", 2, (const char *const[]){"..w...", NULL});
        check_frames("a.png", 2, (const char *const[]){"wwwwww", NULL});
        check_frames("a.png[0]", 2, (const char *const[]){"wwwwww", NULL});
    }
}

/* Pixels that are partly transparent, over white, over each other, over nothing. */
static void test_blending(void **state)
{
    const struct gf_options options = plain_options();
    channels = 2;
    for (bits = 8; bits <= 16; bits += 8) {
        const double most = bits == 8 ? 255 : 65535, unit = most / 255, alpha = 128 * unit / most;
        const double both = alpha + (1 - alpha) * alpha;
        struct picture back;
        struct bytes png = begin(3, 1, 2);
        add(&png, (struct area){0, 0, 3, 1}, KEEP, false, "wh.");
        add(&png, (struct area){0, 0, 3, 1}, KEEP, true, "hhh");
        finish(&png);
        assert_int_equal(decode(in_folder("a.png[1]"), &options, &back), GF_OK);
        assert_int_equal(sample_of(&back, 0), lround(unit * (200 * alpha + 255 * (1 - alpha))));
        assert_int_equal(sample_of(&back, 1), lround(most));
        assert_int_equal(sample_of(&back, 2), 200 * lround(unit));
        assert_int_equal(sample_of(&back, 3), lround(most * both));
        assert_int_equal(sample_of(&back, 4), 200 * lround(unit));
        assert_int_equal(sample_of(&back, 5), 128 * lround(unit));
        free_picture(&back);
    }
}

/* Pictures without alpha get it where a frame leaves nothing behind. */
static void test_alpha_that_frames_need(void **state)
{
    bits = 8;
    channels = 1;
    struct bytes png = begin(3, 1, 3);
    add(&png, (struct area){0, 0, 3, 1}, KEEP, true, "www");
    add(&png, (struct area){1, 0, 1, 1}, CLEAR, true, "k");
    add(&png, (struct area){0, 0, 2, 1}, CLEAR, true, "gg");
    finish(&png);
    check_frames("a.png[all]", 1, (const char *const[]){"www", "wkw", "ggw", NULL});
    png = begin(3, 1, 3);
    add(&png, (struct area){0, 0, 3, 1}, UNDER, false, "www");
    add(&png, (struct area){1, 0, 1, 1}, CLEAR, false, "k");
    add(&png, (struct area){2, 0, 1, 1}, KEEP, false, "g");
    finish(&png);
    check_frames("a.png[all]", 2, (const char *const[]){"www", ".k.", "..g", NULL});
    check_frames("a.png[0..0]", 1, (const char *const[]){"www", NULL});
}

/* A picture before the frames is the first of the file, but is not shown with them. */
static void test_picture_that_is_no_frame(void **state)
{
    const struct gf_options options = plain_options();
    struct frames frames;
    bits = 8;
    channels = 1;
    plays = 3;
    struct bytes png = begin(2, 1, 2);
    add_pixels(&png, 2, 1, "kk", true);
    add_control(&png, (struct area){0, 0, 2, 1}, KEEP, false);
    add_pixels(&png, 2, 1, "ww", false);
    delay = 1;
    delay_per = 0; /* hundredths */
    add_control(&png, (struct area){1, 0, 1, 1}, KEEP, false);
    add_pixels(&png, 1, 1, "g", false);
    delay = 7;
    delay_per = 100;
    finish(&png);
    plays = 0;
    check_frames("a.png[all]", 1, (const char *const[]){"ww", "wg", NULL});
    check_frames("a.png", 1, (const char *const[]){"kk", NULL});
    check_frames("a.png[1]", 1, (const char *const[]){"ww", NULL});
    check_frames("a.png[2..8]", 1, (const char *const[]){"wg", NULL});
    assert_refused(in_folder("a.png[3]"), &options, "holds 3 pictures, counted from 0");
    assert_int_equal(decode_frames(in_folder("a.png[all]"), &options, &frames), GF_OK);
    assert_int_equal(frames.loops, 3);
    assert_int_equal(frames.duration[0].count, 7);
    assert_int_equal(frames.duration[1].count, 1);
    assert_int_equal(frames.duration[1].per_second, 100);
    free_frames(&frames);
}

/* Palettes and colours that are transparent belong to all frames; so does interlacing. */
static void test_colours_before_the_pixels(void **state)
{
    static const unsigned char header[13] = {0, 0, 0, 2, 0, 0, 0, 1, 1, 3, 0, 0, 1};
    const struct gf_options options = plain_options();
    const unsigned char shown[] = {9, 8, 7, 255, 6, 5, 4, 128, 6, 5, 4, 128, 9, 8, 7, 255};
    struct frames frames;
    struct bytes png = png_beginning(header);
    unsigned char packed[40];
    append_chunk(&png, "PLTE", "\x9\x8\x7\x6\x5\x4", 6);
    append_chunk(&png, "tRNS", "\xff\x80", 2);
    append_chunk(&png, "acTL", "\0\0\0\2\0\0\0\0", 8);
    sequence = 0;
    for (int i = 0; i < 2; i++) {
        const char rows[] = {0, i ? '\x80' : 0, 0, i ? 0 : '\x80'}; /* two passes */
        uLongf size = sizeof packed - 4;
        assert_int_equal(compress(packed + 4, &size, (const Bytef *)rows, sizeof rows), Z_OK);
        add_control(&png, (struct area){0, 0, 2, 1}, KEEP, false);
        if (i)
            put_be32(packed, sequence++);
        append_chunk(&png, i ? "fdAT" : "IDAT", packed + (i ? 0 : 4), size + (i ? 4 : 0));
    }
    finish(&png);
    assert_int_equal(decode_frames(in_folder("a.png[all]"), &options, &frames), GF_OK);
    assert_int_equal(frames.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(frames.picture[i].format.channels, 4);
        assert_memory_equal(frames.picture[i].data, shown + 8 * i, 8);
    }
    free_frames(&frames);
}

/* ---- damage ---- */

static struct bytes three_frames(void)
{
    bits = 8;
    channels = 1;
    struct bytes png = begin(2, 2, 3);
    add(&png, (struct area){0, 0, 2, 2}, KEEP, false, "wwww");
    add(&png, (struct area){0, 0, 2, 2}, KEEP, false, "gggg");
    add(&png, (struct area){0, 0, 1, 2}, KEEP, false, "kk");
    return png;
}

static void refuse_all(const char *words)
{
    const struct gf_options options = plain_options();
    struct frames frames;
    assert_int_equal(decode_frames(in_folder("a.png[all]"), &options, &frames), GF_ERROR_INPUT);
    assert_failure_says(words);
    assert_failure_says("a.png");
}

/* Returns where the chunk of that name is, counted from 0, in a file. */
static unsigned char *chunk_in(const struct bytes *png, const char *name, int number)
{
    for (size_t at = 8; at + 12 <= png->size; at += 12 + get_be32(png->data + at)) {
        if (!memcmp(png->data + at + 4, name, 4) && !number--)
            return png->data + at;
    }
    fail_msg("there is no such %s", name);
    return NULL;
}

static void mend(unsigned char *chunk)
{
    const uint32_t size = get_be32(chunk);
    put_be32(chunk + 8 + size, (uint32_t)crc32(0, chunk + 4, size + 4));
}

static void test_damage(void **state)
{
    struct gf_options options = plain_options();
    static const struct {
        const char *chunk;
        int number, at, value;
        bool mended;
        const char *words;
    } wrong[] = {{"fdAT", 1, 12, 0, false, "a chunk of its frames has a wrong checksum"},
                 {"fdAT", 1, 3 + 8, 9, true, "a chunk of its frames is missing"},
                 {"fcTL", 2, 3 + 8, 9, true, "a chunk of its frames is missing"},
                 {"fcTL", 1, 8 + 24, 3, true, "wrong size, place or way of drawing"},
                 {"fcTL", 1, 8 + 25, 2, true, "wrong size, place or way of drawing"},
                 {"fcTL", 1, 8 + 7, 3, true, "wrong size, place or way of drawing"},
                 {"fcTL", 1, 8 + 7, 0, true, "wrong size, place or way of drawing"},
                 {"fcTL", 1, 8 + 12, 255, true, "wrong size, place or way of drawing"},
                 {"fcTL", 0, 8 + 7, 1, true, "wrong size, place or way of drawing"},
                 {"fcTL", 0, 8 + 24, 1, false, "wrong size, place or way of drawing"},
                 {"acTL", 0, 8 + 3, 4, true, "some of its frames are missing"},
                 {"fdAT", 0, 8 + 9, 0x55, true, "a.png[1]: corrupt"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bytes png = three_frames();
        unsigned char *const chunk = chunk_in(&png, wrong[i].chunk, wrong[i].number);
        chunk[wrong[i].at] = (unsigned char)wrong[i].value;
        if (wrong[i].mended)
            mend(chunk);
        finish(&png);
        refuse_all(wrong[i].words);
    }
    struct bytes png = three_frames();
    unsigned char *const chunk = chunk_in(&png, "fcTL", 2);
    chunk[8 + 24] = 7; /* the frames before are whole */
    mend(chunk);
    finish(&png);
    check_frames("a.png[0..1]", 1, (const char *const[]){"wwww", "gggg", NULL});
    assert_non_null(strstr(last_warning, "damaged behind its first 2 pictures: a frame has"));
    options.allow_truncated = true;
    struct frames frames;
    assert_int_equal(decode_frames(in_folder("a.png[all]"), &options, &frames), GF_OK);
    assert_int_equal(frames.count, 2);
    free_frames(&frames);
}

/* Wherever a file is cut, the frames before are right, and those behind are missed. */
static void test_cuts(void **state)
{
    struct bytes png = three_frames();
    struct gf_options options = plain_options();
    append_chunk(&png, "IEND", NULL, 0);
    const size_t second = (size_t)(chunk_in(&png, "fcTL", 1) - png.data), end = png.size - 12,
                 third = (size_t)(chunk_in(&png, "fcTL", 2) - png.data);
    for (size_t size = second; size < end; size++) {
        struct frames frames;
        save(in_folder("a.png"), png.data, size);
        options.allow_truncated = false;
        assert_int_equal(decode_frames(in_folder("a.png[all]"), &options, &frames), GF_ERROR_INPUT);
        if (size >= third)
            check_frames("a.png[0..1]", 1, (const char *const[]){"wwww", "gggg", NULL});
        options.allow_truncated = true;
        assert_int_equal(decode_frames(in_folder("a.png[all]"), &options, &frames), GF_OK);
        assert_in_range(frames.count, size < third ? 1 : 2, 3);
        check_pixels(&frames.picture[0], 1, "wwww");
        free_frames(&frames);
    }
    free(png.data);
}

/* Decodes all frames of a file, or of the same bytes as a stream. Returns where the input is then.
 */
static int64_t decode_all(const struct bytes *png, bool stream, struct frames *frames,
                          size_t *texts)
{
    const struct gf_options plain = plain_options(), options = in_cells(&plain);
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    int ends[2];
    char name[40];
    save(in_folder("all.png"), png->data, png->size);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], png->data, png->size), png->size);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_int_equal(gf_input_open(stream ? name : in_folder("all.png"), false, &input, &failure),
                     GF_OK);
    gf_input_choose_pages(input, (struct gf_pages){0, GF_PAGES_ALL});
    *frames = (struct frames){.count = 0};
    if (gf_source_open(input, &options, &source, &failure) || decode_frames_of(source, frames))
        fail_msg("%s", failure.text);
    const int64_t end = gf_input_position(input);
    *texts = source->metadata.texts.count;
    source->close(source);
    gf_input_close(input);
    close(ends[0]);
    return end;
}

/* A file that says that it is animated, and has no frames, is a still picture. */
static void test_without_frames(void **state)
{
    channels = 1;
    bits = 8;
    for (int kind = 0; kind < 4; kind++) {
        const bool stream = kind % 2, several = kind / 2;
        struct frames frames;
        size_t texts;
        struct bytes png = begin(2, 2, 1 + several);
        add_pixels(&png, 2, 2, "wkgg", true);
        append_chunk(&png, "IEND", "", 0);
        assert_int_equal(decode_all(&png, stream, &frames, &texts), png.size);
        assert_int_equal(frames.count, 1);
        check_pixels(&frames.picture[0], 1, "wkgg");
        assert_int_equal(warnings, several);
        if (several)
            assert_non_null(strstr(last_warning, ": its 2 frames are missing: it is read as a st"));
        free_frames(&frames);
        free(png.data);
    }
}

/* The next byte is that behind the animation, whether it is in a file or a stream. */
static void test_what_follows(void **state)
{
    struct bytes png = three_frames();
    append_chunk(&png, "tEXt", "Title\0late", 10);
    append_chunk(&png, "IEND", NULL, 0);
    const size_t size = png.size;
    append(&png, "\x89PNG and more", 13);
    for (int stream = 0; stream < 2; stream++) {
        struct frames frames;
        size_t texts;
        assert_int_equal(decode_all(&png, stream, &frames, &texts), size);
        assert_int_equal(frames.count, 3);
        assert_int_equal(texts, 1);
        free_frames(&frames);
    }
    free(png.data);
}

/* ---- writing ---- */

/* Frames of which each has a pixel more of its own, and then two that have not. */
static struct frames moving(int width, int height, int own_channels, int own_bits)
{
    struct frames frames = {.count = 6, .loops = 4};
    for (int i = 0; i < frames.count; i++) {
        struct picture *const picture = &frames.picture[i];
        *picture = random_picture(width, height, own_channels, own_bits);
        const size_t pixel = gf_row_bytes(picture->format) / (size_t)width;
        for (int k = 1; k <= (i < 3 ? i : 3); k++)
            memset(picture->data + pixel * (size_t)(width * k + k * 2), 0x10 * k, pixel);
        frames.duration[i] = (struct gf_duration){(uint32_t)i + 1, 30};
    }
    return frames;
}

static void test_round_trips(void **state)
{
    for (int level = 0; level < 9; level += 4)
        for (int kind = 0; kind < 8; kind++) {
            struct gf_options options = plain_options();
            struct frames frames = moving(40, 7, kind % 4 + 1, kind < 4 ? 8 : 16), back;
            options.png_level = level;
            assert_int_equal(encode_frames(in_folder("a.png"), &frames, &options), GF_OK);
            if (decode_frames(in_folder("a.png[all]"), &options, &back))
                fail_msg("%s", failure.text);
            assert_int_equal(back.count, 4);
            assert_int_equal(back.loops, 4);
            for (int i = 0; i < back.count; i++) {
                assert_same_pixels(&back.picture[i], &frames.picture[i]);
                const double seconds = back.duration[i].count / (double)back.duration[i].per_second;
                assert_float_equal(seconds, (i < 3 ? i + 1 : 4 + 5 + 6) / 30.0, 1e-12);
            }
            free_frames(&back);
            free_frames(&frames);
        }
    assert_int_equal(warnings, 0);
}

/* A frame is the box of what has changed. */
static void test_boxes(void **state)
{
    const struct gf_options options = plain_options();
    struct frames frames = moving(40, 7, 3, 8);
    memset(frames.picture[5].data, 1, picture_bytes(frames.picture[5].format));
    assert_int_equal(encode_frames(in_folder("a.png"), &frames, &options), GF_OK);
    struct bytes png = load(in_folder("a.png"));
    const unsigned boxes[][4] = {
        {40, 7, 0, 0}, {1, 1, 2, 1}, {1, 1, 4, 2}, {1, 1, 6, 3}, {40, 7, 0, 0}};
    assert_int_equal(get_be32(chunk_in(&png, "acTL", 0) + 8), 5);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 4; k++)
            assert_int_equal(get_be32(chunk_in(&png, "fcTL", i) + 12 + 4 * k), boxes[i][k]);
    free(png.data);
    free_frames(&frames);
}

/* Times that 16 bits do not have are the nearest that they have. */
static void test_durations(void **state)
{
    static const struct {
        struct gf_duration given;
        unsigned count, per_second;
    } cases[] = {{{1001, 30000}, 1001, 30000},
                 {{2002, 60000}, 1001, 30000},
                 {{0, 0}, 0, 1},
                 {{500, 0}, 5, 1},
                 {{100, 100}, 1, 1},
                 {{4000000000u, 100000000}, 40, 1},
                 {{4000000000u, 1}, 65535, 1},
                 {{1, 100000}, 1, 65535},
                 {{999999937, 1000000007}, 65535, 65535}};
    const struct gf_options options = plain_options();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frames frames = {.count = 1, .duration = {cases[i].given}}, back;
        frames.picture[0] = random_picture(3, 2, 1, 8);
        assert_int_equal(encode_frames(in_folder("a.png"), &frames, &options), GF_OK);
        struct bytes png = load(in_folder("a.png"));
        const uint32_t time = get_be32(chunk_in(&png, "fcTL", 0) + 8 + 20);
        assert_int_equal(time >> 16, cases[i].count);
        assert_int_equal(time & 0xffff, cases[i].per_second);
        free(png.data);
        assert_int_equal(decode_frames(in_folder("a.png[all]"), &options, &back), GF_OK);
        assert_int_equal(back.count, 1);
        free_frames(&back);
        free_frames(&frames);
    }
}

static void test_options_of_pngs(void **state)
{
    struct gf_options options = plain_options();
    struct frames frames = moving(20, 6, 3, 8), back;
    options.png_palette = true;
    assert_int_equal(encode_frames(in_folder("a.png"), &frames, &options), GF_OK);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "an animation are written without a palette"));
    free_frames(&frames);
    frames = moving(20, 6, 1, 8);
    for (int i = 0; i < frames.count; i++)
        for (size_t k = 0; k < 20 * 6; k++)
            frames.picture[i].data[k] = frames.picture[i].data[k] & 64 ? 255 : 0;
    options = plain_options();
    options.depth = 1;
    assert_int_equal(encode_frames(in_folder("a.png"), &frames, &options), GF_OK);
    assert_int_equal(decode_frames(in_folder("a.png[all]"), &options, &back), GF_OK);
    for (int i = 0; i < back.count; i++)
        assert_memory_equal(back.picture[i].data, frames.picture[i].data, 20 * 6);
    free_frames(&back);
    options = plain_options();
    options.memory_bytes = 200;
    assert_int_equal(encode_frames(in_folder("a.png"), &frames, &options), GF_ERROR_INPUT);
    assert_failure_says("two frames of its animation are in memory");
    free_frames(&frames);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_composition),
        cmocka_unit_test(test_blending),
        cmocka_unit_test(test_alpha_that_frames_need),
        cmocka_unit_test(test_picture_that_is_no_frame),
        cmocka_unit_test(test_colours_before_the_pixels),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_without_frames),
        cmocka_unit_test(test_what_follows),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_options_of_pngs),
    };
    return cmocka_run_group_tests_name("apng", tests, make_folder, remove_folder);
}
