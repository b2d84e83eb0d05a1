/* GIFs made here byte by byte: palettes, transparency, interlacing, and the pictures of an
 * animation as a viewer shows them. GIFs that are written, and read again. */
#include "codec/codec_test.h"

#include "codec/formats.h"

/* Codes of 8 pixels' values each in 9 bits, with a clear code often enough that they never grow. */
static void append_pixels(struct bytes *gif, const char *pixels, size_t count)
{
    enum { CLEAR = 256, END = 257, BITS = 9, OFTEN = 200 };
    unsigned char packed[4096] = {0};
    size_t bit = 0;
#define PUT(code) \
    for (int i_ = 0; i_ < BITS; i_++, bit++) \
    packed[bit / 8] |= (unsigned char)(((code) >> i_ & 1) << bit % 8)
    for (size_t i = 0; i < count; i++) {
        if (i % OFTEN == 0)
            PUT(CLEAR);
        PUT((unsigned char)pixels[i]);
    }
    PUT(END);
#undef PUT
    append(gif, "\10", 1);
    const size_t size = (bit + 7) / 8;
    for (size_t at = 0; at < size; at += 255) {
        const unsigned char length = (unsigned char)(size - at < 255 ? size - at : 255);
        append(gif, &length, 1);
        append(gif, packed + at, length);
    }
    append(gif, "", 1);
}

/* Black, white, red, green. */
static void begin(struct bytes *gif, int width, int height)
{
    const unsigned char screen[] = {(unsigned char)width, 0, (unsigned char)height, 0, 0x81, 0, 0};
    *gif = (struct bytes){0};
    append(gif, "GIF89a", 6);
    append(gif, screen, sizeof screen);
    append(gif, "\0\0\0\377\377\377\377\0\0\0\377\0", 12);
}

struct area {
    int left, top, width, height;
};
static int delay; /* of the pictures that are added, in hundredths of a second */

static void add(struct bytes *gif, struct area area, int transparent, int disposal, bool interlaced,
                const char *pixels)
{
    const unsigned char control[] = {0x21,
                                     0xf9,
                                     4,
                                     (unsigned char)(disposal << 2 | (transparent >= 0)),
                                     (unsigned char)delay,
                                     (unsigned char)(delay >> 8),
                                     (unsigned char)(transparent >= 0 ? transparent : 0),
                                     0};
    const unsigned char description[] = {
        ',', (unsigned char)area.left,   0, (unsigned char)area.top, 0, (unsigned char)area.width,
        0,   (unsigned char)area.height, 0, interlaced ? 0x40 : 0};
    append(gif, control, sizeof control);
    append(gif, description, sizeof description);
    append_pixels(gif, pixels, (size_t)(area.width * area.height));
}

static void finish(struct bytes *gif)
{
    append(gif, ";", 1);
    save(in_folder("a.gif"), gif->data, gif->size);
    free(gif->data);
}

/* The colours as letters: k, w, r, g, and . for a transparent pixel. */
static void check_pixels(const char *name, const struct picture *picture, int channels,
                         const char *letters)
{
    const struct picture back = *picture;
    assert_int_equal(back.format.channels, channels);
    assert_int_equal(strlen(letters), back.format.width * back.format.height);
    for (size_t i = 0; letters[i]; i++) {
        const unsigned char *const p = back.data + i * (size_t)channels;
        const char letter = channels == 4 && !p[3]   ? '.'
                            : p[0] && p[1] && p[2]   ? 'w'
                            : p[0] && !p[1] && !p[2] ? 'r'
                            : p[1] && !p[0] && !p[2] ? 'g'
                            : !p[0] && !p[1]         ? 'k'
                                                     : '?';
        if (letter != letters[i])
            fail_msg("%s: pixel %zu is %c, not %c", name, i, letter, letters[i]);
    }
}

static void check(const char *name, int channels, const char *letters)
{
    const struct gf_options options = plain_options();
    struct picture back;
    if (decode(in_folder(name), &options, &back))
        fail_msg("%s", failure.text);
    check_pixels(name, &back, channels, letters);
    free_picture(&back);
}

static void check_frames(const char *name, int channels, const char *const letters[])
{
    const struct gf_options options = plain_options();
    struct frames frames;
    if (decode_frames(in_folder(name), &options, &frames))
        fail_msg("%s", failure.text);
    for (int i = 0; i < frames.count; i++) {
        assert_non_null(letters[i]);
        check_pixels(name, &frames.picture[i], channels, letters[i]);
    }
    assert_null(letters[frames.count]);
    free_frames(&frames);
}

static void test_still(void **state)
{
    struct bytes gif;
    begin(&gif, 3, 2);
    add(&gif, (struct area){0, 0, 3, 2}, -1, 0, false, "\0\1\2\3\2\1");
    finish(&gif);
    check("a.gif", 3, "kwrgrw");
    assert_int_equal(warnings, 0);
    begin(&gif, 3, 2);
    add(&gif, (struct area){0, 0, 3, 2}, 1, 0, false, "\0\1\2\3\2\1");
    finish(&gif);
    check("a.gif", 4, "k.rgr.");
    begin(&gif, 3, 2);
    add(&gif, (struct area){1, 1, 2, 1}, -1, 0, false, "\2\3");
    finish(&gif);
    check("a.gif", 4, "....rg");
    begin(&gif, 2, 1);
    add(&gif, (struct area){1, 0, 3, 2}, -1, 0, false, "\2\3\3\1\1\1"); /* beyond the canvas */
    finish(&gif);
    check("a.gif", 4, ".r");
}

static void test_beyond_the_palette(void **state)
{
    struct bytes gif;
    begin(&gif, 3, 1);
    add(&gif, (struct area){0, 0, 3, 1}, -1, 0, false, "\1\7\2");
    finish(&gif);
    check("a.gif", 3, "wkr");
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "a.gif: some of its pixels have an index beyond"));
}

/* From GIF to GIF and to others. XMP may be one packet with its tail, or blocks. */
static void test_comments_and_xmp(void **state)
{
    const struct gf_options options = plain_options();
    unsigned char tail[258] = {1};
    char text[600];
    memset(text, 'x', sizeof text);
    for (int i = 0; i < 256; i++)
        tail[1 + i] = (unsigned char)(255 - i);
    for (int as_blocks = 0; as_blocks < 2; as_blocks++) {
        struct bytes gif;
        struct picture picture, back;
        begin(&gif, 1, 1);
        append(&gif, "\x21\xfe\5hello\2 !", 12);
        append(&gif, "\x21\xff\x0bXMP DataXMP", 14);
        append(&gif, "\4<a/>", as_blocks ? 6 : 0);
        append(&gif, "<a/>", as_blocks ? 0 : 4);
        append(&gif, tail, as_blocks ? 0 : sizeof tail);
        add(&gif, (struct area){0, 0, 1, 1}, -1, 0, false, "\1");
        finish(&gif);
        assert_int_equal(decode(in_folder("a.gif"), &options, &picture), GF_OK);
        bool left_out = false;
        assert_true(gf_texts_add_comment(&picture.metadata.texts, text, sizeof text, &left_out));
        for (int other = 0; other < 2; other++) {
            const char *const name = in_folder(other ? "b.png" : "b.gif");
            assert_int_equal(encode(name, &picture, &options), GF_OK);
            assert_int_equal(decode(name, &options, &back), GF_OK);
            assert_int_equal(back.metadata.xmp.size, 4);
            assert_memory_equal(back.metadata.xmp.data, "<a/>", 4);
            assert_int_equal(back.metadata.texts.count, 2);
            assert_memory_equal(back.metadata.texts.item[0].text.data, "hello !", 7);
            assert_int_equal(back.metadata.texts.item[1].text.size, sizeof text);
            assert_same_pixels(&back, &picture);
            free_picture(&back);
        }
        assert_int_equal(warnings, 0);
        free_picture(&picture);
    }
}

/* Indices of 9 to 11 bits, whose codes begin with 10 bits or more, and with strings of pixels. */
static void test_long_indices(void **state)
{
    const struct gf_options options = plain_options();
    for (int bits = 9; bits <= 12; bits++) {
        const int clear = 1 << bits,
                  codes[] = {clear, 1, clear + 2, 2, clear + 3, clear + 5, clear, 3, clear + 1};
        const unsigned char image[] = {',', 0, 0, 0, 0, 4, 0, 3, 0, 0, (unsigned char)bits};
        unsigned char packed[20] = {0};
        struct bytes gif;
        int bit = 0;
        for (int i = 0; i < 9; i++)
            for (int k = 0; k <= bits; k++, bit++)
                packed[1 + bit / 8] |= (unsigned char)((codes[i] >> k & 1) << bit % 8);
        packed[0] = (unsigned char)((bit + 7) / 8);
        begin(&gif, 4, 3);
        append(&gif, image, sizeof image);
        append(&gif, packed, packed[0] + 2u);
        finish(&gif);
        if (bits < 12)
            check("a.gif", 3, "wwwrwwrwwrwg"); /* 1, 11, 2, 112, 1121 and 3 */
        else
            assert_refused(in_folder("a.gif"), &options, "damaged: ");
    }
}

/* Rows 0, 8; 4; 2, 6; 1, 3, 5, 7. */
static void test_interlaced(void **state)
{
    struct bytes gif;
    begin(&gif, 1, 9);
    add(&gif, (struct area){0, 0, 1, 9}, -1, 0, true, "\1\1\2\3\3\0\0\0\0");
    finish(&gif);
    check("a.gif", 3, "wkgkrkgkw");
}

static void test_animation(void **state)
{
    struct bytes gif;
    begin(&gif, 3, 1);
    add(&gif, (struct area){0, 0, 3, 1}, -1, 1, false, "\1\1\1");
    add(&gif, (struct area){0, 0, 2, 1}, 0, 3, false, "\2\0"); /* then as before */
    add(&gif, (struct area){2, 0, 1, 1}, -1, 2, false, "\3");  /* then nothing there */
    add(&gif, (struct area){0, 0, 1, 1}, -1, 1, false, "\2");
    finish(&gif);
    check("a.gif", 3, "www");
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "a.gif: holds 4 pictures: the first is taken"));
    check("a.gif[0]", 3, "www");
    assert_int_equal(warnings, 0);
    check("a.gif[1]", 3, "rww"); /* transparent pixels upon others that are not */
    check("a.gif[2]", 3, "wwg");
    check("a.gif[3]", 4, "rw.");
    const struct gf_options options = plain_options();
    assert_refused(in_folder("a.gif[4]"), &options, "holds 4 pictures, counted from 0");
}

/* The frames one after another are the pictures that their numbers give; where one of them has
 * transparent pixels, all have an alpha channel. */
static void test_frames(void **state)
{
    struct bytes gif;
    struct frames frames;
    const struct gf_options options = plain_options();
    begin(&gif, 3, 1);
    append(&gif, "\x21\xff\x0bNETSCAPE2.0\3\1\2\0", 19);
    delay = 7;
    add(&gif, (struct area){0, 0, 3, 1}, -1, 1, false, "\1\1\1");
    delay = 300;
    add(&gif, (struct area){0, 0, 2, 1}, 0, 3, false, "\2\0"); /* then as before */
    add(&gif, (struct area){2, 0, 1, 1}, -1, 2, false, "\3");  /* then nothing there */
    add(&gif, (struct area){0, 0, 1, 1}, -1, 1, false, "\2");
    delay = 0;
    finish(&gif);
    check_frames("a.gif[all]", 4, (const char *const[]){"www", "rww", "wwg", "rw.", NULL});
    check_frames("a.gif[1..2]", 3, (const char *const[]){"rww", "wwg", NULL});
    check_frames("a.gif[3..9]", 4, (const char *const[]){"rw.", NULL});
    check_frames("a.gif[1]", 3, (const char *const[]){"rww", NULL});
    assert_refused(in_folder("a.gif[4..5]"), &options, "holds 4 pictures, counted from 0");
    assert_int_equal(decode_frames(in_folder("a.gif[all]"), &options, &frames), GF_OK);
    assert_int_equal(frames.loops, 3);
    assert_float_equal(frames.seconds, 9.07, 1e-9);
    for (int i = 0; i < frames.count; i++) {
        assert_int_equal(frames.duration[i].count, i ? 300 : 7);
        assert_int_equal(frames.duration[i].per_second, 100);
    }
    free_frames(&frames);
    struct bytes other = load(in_folder("a.gif"));
    memcpy(memmem(other.data, other.size, "NETSCAPE2.0", 11), "ANIMEXTS1.0", 11);
    save(in_folder("a.gif"), other.data, other.size);
    free(other.data);
    assert_int_equal(decode_frames(in_folder("a.gif[all]"), &options, &frames), GF_OK);
    assert_int_equal(frames.loops, 3);
    free_frames(&frames);
}

/* A picture that is whole is read, whatever is wrong behind it. */
static void test_damage_behind(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes gif;
    begin(&gif, 3, 1);
    add(&gif, (struct area){0, 0, 3, 1}, -1, 1, false, "\1\2\3");
    const size_t first = gif.size;
    add(&gif, (struct area){0, 0, 3, 1}, -1, 1, false, "\2\2\2");
    const size_t second = gif.size;
    append(&gif, "stray", 5);
    save(in_folder("a.gif"), gif.data, first);
    check("a.gif", 3, "wrg");
    assert_string_equal(strstr(last_warning, "a.gif: "),
                        "a.gif: damaged behind its first picture: it is truncated");
    for (size_t size = first - 1; size < second - 1; size++) {
        save(in_folder("a.gif"), gif.data, size);
        check("a.gif", 3, "wrg");
        check("a.gif[0]", 3, "wrg");
        assert_int_equal(warnings, 1);
    }
    save(in_folder("a.gif"), gif.data, second - 3);
    assert_refused(in_folder("a.gif[1]"), &options, "damaged: it is truncated");
    assert_refused(in_folder("a.gif[all]"), &options, "it is truncated (to keep what there is: ");
    save(in_folder("a.gif"), gif.data, second); /* no trailer */
    check("a.gif[1]", 3, "rrr");
    assert_non_null(strstr(last_warning, "behind its first 2 pictures: it is truncated"));
    assert_refused(in_folder("a.gif[2]"), &options, "damaged: it is truncated");
    check_frames("a.gif[all]", 3, (const char *const[]){"wrg", "rrr", NULL});
    assert_non_null(strstr(last_warning, "its end is missing"));
    check_frames("a.gif[0..1]", 3, (const char *const[]){"wrg", "rrr", NULL});
    save(in_folder("a.gif"), gif.data, gif.size);
    check("a.gif[1]", 3, "rrr");
    assert_non_null(strstr(last_warning, "behind its first 2 pictures: "));
    free(gif.data);
}

static void test_damage(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes gif;
    char pixels[400];
    struct picture back;
    memset(pixels, 2, sizeof pixels);
    begin(&gif, 20, 20);
    add(&gif, (struct area){0, 0, 20, 20}, -1, 0, false, pixels);
    for (size_t size = 6; size < gif.size - 1; size += 9) {
        save(in_folder("a.gif"), gif.data, size);
        assert_int_equal(decode(in_folder("a.gif"), &options, &back), GF_ERROR_INPUT);
        assert_failure_says("a.gif: ");
    }
    for (size_t i = 0; i < gif.size; i++) {
        gif.data[i] ^= 0x55;
        save(in_folder("a.gif"), gif.data, gif.size);
        if (!decode(in_folder("a.gif"), &options, &back))
            free_picture(&back);
        gif.data[i] ^= 0x55;
    }
    free(gif.data);
}

/* ---- writing ---- */

/* A picture of so many colours of noise, each of which appears. With alpha, some pixels are
 * transparent, and count as one of the colours. */
static struct picture picture_of(int width, int height, int channels, int colours, unsigned seed)
{
    struct picture picture = {.format = {width, height, channels, 8, GF_SAMPLES_INTEGER},
                              .metadata = {.orientation = 1}};
    picture.data = calloc(1, picture_bytes(picture.format));
    assert_non_null(picture.data);
    seed = (seed + 1) * 2654435761u;
    for (int i = 0; i < width * height; i++) {
        unsigned char *const p = picture.data + i * channels;
        const int colour = i < colours ? i : (int)next_random(&seed) % colours;
        if (channels == 4 && colour == 0)
            continue;
        p[0] = (unsigned char)colour;
        p[1] = (unsigned char)(colour * 7);
        p[2] = (unsigned char)(255 - colour / 2);
        if (channels == 4)
            p[3] = 255;
    }
    return picture;
}

static void write_frames(const char *name, const struct picture *pictures, int count,
                         unsigned loops, const struct gf_duration *durations)
{
    const struct gf_options options = plain_options();
    struct frames frames = {.count = count, .loops = loops};
    assert_true(count <= FRAMES_MOST);
    memcpy(frames.picture, pictures, (size_t)count * sizeof *pictures);
    memcpy(frames.duration, durations, (size_t)count * sizeof *durations);
    assert_int_equal(encode_frames(in_folder(name), &frames, &options), GF_OK);
}

static void decode_all(const char *name, struct frames *back)
{
    char path[40];
    const struct gf_options options = plain_options();
    snprintf(path, sizeof path, "%s[all]", name);
    if (decode_frames(in_folder(path), &options, back))
        fail_msg("%s", failure.text);
}

/* The frame's pixels, of which those that are read may have alpha. */
static void assert_frame(const struct picture *back, const struct picture *frame, int number)
{
    const int from = frame->format.channels, to = back->format.channels;
    for (int i = 0; i < frame->format.width * frame->format.height; i++) {
        const unsigned char *const p = frame->data + i * from, *const q = back->data + i * to;
        const int alpha = from == 4 ? p[3] : 255, alpha_back = to == 4 ? q[3] : 255;
        if (alpha != alpha_back || (alpha && memcmp(p, q, 3) != 0))
            fail_msg("frame %d: pixel %d differs", number, i);
    }
}

static void test_few_colours_are_kept(void **state)
{
    static const int colours[] = {1, 2, 3, 4, 5, 16, 17, 128, 129, 255, 256};
    static const int sides[][2] = {{16, 16}, {300, 200}, {1, 256}, {999, 3}};
    for (int channels = 3; channels <= 4; channels++)
        for (size_t i = 0; i < sizeof colours / sizeof *colours * 4; i++) {
            struct gf_options options = plain_options();
            struct picture picture = picture_of(sides[i % 4][0], sides[i % 4][1], channels,
                                                colours[i / 4], 0),
                           back;
            options.lossless = true;
            assert_int_equal(encode(in_folder("b.gif"), &picture, &options), GF_OK);
            assert_int_equal(decode(in_folder("b.gif"), &options, &back), GF_OK);
            assert_int_equal(warnings, 0);
            assert_frame(&back, &picture, 0);
            free_picture(&picture);
            free_picture(&back);
        }
}

/* A red pixel and a transparent one: clear, 0, 1, end, in codes of 3 bits. */
static void test_bytes_of_a_still(void **state)
{
    static const char expected[] = "GIF89a\2\0\1\0\xf0\0\0\377\0\0\0\0\0"
                                   "\x21\xf9\4\5\0\0\1\0"
                                   ",\0\0\0\0\2\0\1\0\0\2\2\104\12\0;";
    struct gf_options options = plain_options();
    struct picture picture = picture_of(2, 1, 4, 2, 0);
    memcpy(picture.data, "\377\0\0\377\0\0\0\0", 8);
    assert_int_equal(encode(in_folder("b.gif"), &picture, &options), GF_OK);
    struct bytes file = load(in_folder("b.gif"));
    assert_int_equal(file.size, sizeof expected - 1);
    assert_memory_equal(file.data, expected, file.size);
    free(file.data);
    free_picture(&picture);
}

static int count_colours(const struct picture *picture)
{
    bool *const seen = calloc(1 << 24, sizeof *seen);
    int count = 0;
    assert_non_null(seen);
    for (int i = 0; i < picture->format.width * picture->format.height; i++) {
        const unsigned char *const p = picture->data + i * picture->format.channels;
        const size_t at = (size_t)(p[0] << 16 | p[1] << 8 | p[2]);
        count += !seen[at];
        seen[at] = true;
    }
    free(seen);
    return count;
}

static void test_more_colours_are_reduced(void **state)
{
    struct picture picture = smooth_picture(90, 70, 3, 8), back;
    for (int most = 0; most <= 16; most += 8) {
        struct gf_options options = plain_options();
        options.png_colours = most;
        assert_int_equal(encode(in_folder("b.gif"), &picture, &options), GF_OK);
        assert_int_equal(warnings, !most);
        assert_true(most ||
                    strstr(last_warning, "b.gif: a GIF does not keep more than 256 colours"));
        assert_int_equal(decode(in_folder("b.gif"), &options, &back), GF_OK);
        assert_int_equal(back.format.channels, 3);
        assert_in_range(count_colours(&back), most ? most / 2 : 200, most ? most : 256);
        long difference = 0;
        for (size_t i = 0; i < picture_bytes(picture.format); i++)
            difference += abs(picture.data[i] - back.data[i]);
        assert_in_range(difference / (long)picture_bytes(picture.format), 0, most ? 40 : 6);
        options.lossless = true;
        assert_int_equal(encode(in_folder("c.gif"), &picture, &options), GF_ERROR_UNFIT);
        assert_failure_says("c.gif: a GIF is not lossless for more than 256 colours in a frame");
        free_picture(&back);
    }
    free_picture(&picture);
}

static void test_half_the_alpha(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = picture_of(3, 1, 4, 2, 0), back;
    memcpy(picture.data, "\377\0\0\177\0\377\0\200\377\377\377\377", 12);
    assert_int_equal(encode(in_folder("b.gif"), &picture, &options), GF_OK);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "b.gif: a GIF does not keep partly transparent pixels"));
    check("b.gif", 4, ".gw");
    options.lossless = true;
    assert_int_equal(encode(in_folder("b.gif"), &picture, &options), GF_ERROR_UNFIT);
    assert_failure_says("b.gif: a GIF is not lossless for partly transparent pixels");
    free_picture(&picture);
    picture = random_picture(20, 20, 2, 16); /* gray, and all kinds of alpha */
    options = plain_options();
    assert_int_equal(encode(in_folder("b.gif"), &picture, &options), GF_OK);
    assert_int_equal(warnings, 1);
    assert_int_equal(decode(in_folder("b.gif"), &options, &back), GF_OK);
    for (int i = 0; i < 400; i++) {
        const uint16_t *const p = (const uint16_t *)(const void *)picture.data + 2 * i;
        const int alpha = (p[1] * 255 + 32767) / 65535, gray = (p[0] * 255 + 32767) / 65535;
        assert_int_equal(back.data[4 * i + 3], alpha >= 128 ? 255 : 0);
        assert_true(alpha < 128 || abs(back.data[4 * i] - gray) <= 1);
    }
    free_picture(&picture);
    free_picture(&back);
}

/* Frames of few or many colours, of which parts change, appear and vanish. */
static void change(struct picture *frame, const struct picture *before, int colours, unsigned *seed)
{
    const int channels = frame->format.channels, width = frame->format.width,
              height = frame->format.height;
    memcpy(frame->data, before->data, picture_bytes(frame->format));
    const int left = (int)next_random(seed) % width, top = (int)next_random(seed) % height,
              kind = (int)next_random(seed) % 4, first = (int)next_random(seed) % 200;
    for (int y = top; y < height && y < top + 9; y++)
        for (int x = left; x < width && x < left + 12; x++) {
            unsigned char *const p = frame->data + (y * width + x) * channels;
            const int colour = first + (int)next_random(seed) % colours;
            if (channels == 4 && kind == 0) {
                memset(p, 0, 4);
            } else if (kind < 3 || colour % 2) {
                p[0] = (unsigned char)colour;
                p[1] = (unsigned char)(colour / 2);
                p[2] = 9;
                p[channels - 1] |= channels == 4 ? 255 : 0;
            }
        }
}

static void test_frames_are_kept(void **state)
{
    enum { COUNT = 12 };
    for (unsigned round = 0; round < 60; round++) {
        const int channels = 3 + (int)round % 2, colours = round % 3 == 0 ? 4 : 90;
        struct picture frame[COUNT];
        struct gf_duration duration[COUNT];
        struct frames back;
        unsigned seed = round * 77 + 1;
        uint32_t total = 0, total_back = 0;
        for (int i = 0; i < COUNT; i++) {
            frame[i] = picture_of(30, 20, channels, 3 + (int)round, round);
            if (i)
                change(&frame[i], &frame[i - 1], colours, &seed);
            if (i > 3 && next_random(&seed) % 4 == 0) /* back to an earlier one */
                memcpy(frame[i].data, frame[i - 2].data, picture_bytes(frame[i].format));
            duration[i] = (struct gf_duration){5 + (uint32_t)i, 100};
            total += duration[i].count;
        }
        write_frames("b.gif", frame, COUNT, round % 3, duration);
        decode_all("b.gif", &back);
        assert_int_equal(back.loops, round % 3);
        for (int i = 0, j = -1; i < COUNT; i++) {
            const bool same =
                i && !memcmp(frame[i].data, frame[i - 1].data, picture_bytes(frame[i].format));
            j += !same;
            assert_in_range(j, 0, back.count - 1);
            assert_frame(&back.picture[j], &frame[i], i);
        }
        for (int i = 0; i < back.count; i++)
            total_back += back.duration[i].count;
        assert_int_equal(total_back, total);
        assert_int_equal(warnings, 0);
        free_frames(&back);
        for (int i = 0; i < COUNT; i++)
            free_picture(&frame[i]);
    }
}

/* One pixel becomes white, then nothing happens, then it becomes transparent: the frames are the
 * whole picture (clear, 0, 00, 000, end), the pixel, and a transparent one where nothing changes.
 */
static void test_bytes_of_an_animation(void **state)
{
    static const char expected[] = "GIF89a\3\0\2\0\xf0\0\0\377\0\0\377\377\377"
                                   "\x21\xff\x0bNETSCAPE2.0\3\1\4\0\0"
                                   "\x21\xf9\4\4\12\0\0\0,\0\0\0\0\3\0\2\0\0\2\2\x84_\0"
                                   "\x21\xf9\4\x09\36\0\0\0,\1\0\1\0\1\0\1\0\0\2\2\114\1\0"
                                   "\x21\xf9\4\5\24\0\0\0,\0\0\0\0\1\0\1\0\0\2\2\104\1\0;";
    struct picture frame[4];
    const struct gf_duration duration[4] = {{10, 100}, {1, 10}, {200, 1000}, {1, 5}};
    for (int i = 0; i < 4; i++) {
        frame[i] = picture_of(3, 2, 4, 2, 0);
        for (int pixel = 0; pixel < 6; pixel++)
            memcpy(frame[i].data + 4 * pixel, "\377\0\0\377", 4);
    }
    memcpy(frame[1].data + 16, "\377\377\377\377", 4);
    memcpy(frame[2].data + 16, "\377\377\377\377", 4);
    memset(frame[3].data + 16, 0, 4);
    write_frames("b.gif", frame, 4, 5, duration);
    struct bytes file = load(in_folder("b.gif"));
    assert_int_equal(file.size, sizeof expected - 1);
    assert_memory_equal(file.data, expected, file.size);
    free(file.data);
    for (int i = 0; i < 4; i++)
        free_picture(&frame[i]);
}

/* Delays of whole hundredths add up to the whole time. */
static void test_delays_do_not_drift(void **state)
{
    enum { COUNT = 15 };
    struct picture frame[COUNT];
    struct gf_duration duration[COUNT];
    struct frames back;
    uint32_t total = 0;
    for (int i = 0; i < COUNT; i++) {
        frame[i] = picture_of(4, 4, 3, 2, (unsigned)i);
        frame[i].data[0] = (unsigned char)i;
        duration[i] = (struct gf_duration){1, 30};
    }
    write_frames("b.gif", frame, COUNT, 0, duration);
    decode_all("b.gif", &back);
    assert_int_equal(back.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_in_range(back.duration[i].count, 3, 4);
        total += back.duration[i].count;
    }
    assert_int_equal(total, 50);
    free_frames(&back);
    for (int i = 0; i < COUNT; i++)
        free_picture(&frame[i]);
}

/* Frames of 1/60 s are shown for 2 hundredths of a second, not for 2 and 1, which browsers show for
 * 10. A GIF's own delays stay, and of 1 hundredth a warning tells. */
static void test_short_delays(void **state)
{
    enum { COUNT = 9 };
    static const struct {
        struct gf_duration duration;
        uint32_t delay;
        const char *warning;
    } cases[] = {
        {{1, 60}, 2, "each frame is shown for 0.02 s at least, so that it is slower: browsers"},
        {{1, 1000}, 2, "so that it is slower"},
        {{1, 50}, 2, NULL},
        {{1, 100}, 1, "it has frames of 0.01 s: browsers show"},
        {{0, 100}, 0, NULL}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct picture frame[COUNT];
        struct gf_duration duration[COUNT];
        struct frames back;
        for (int i = 0; i < COUNT; i++) {
            frame[i] = picture_of(4, 4, 3, 2, (unsigned)i);
            frame[i].data[0] = (unsigned char)i;
            duration[i] = cases[k].duration;
        }
        write_frames("b.gif", frame, COUNT, 0, duration);
        assert_int_equal(warnings, cases[k].warning != NULL);
        if (cases[k].warning)
            assert_non_null(strstr(last_warning, cases[k].warning));
        decode_all("b.gif", &back);
        assert_int_equal(back.count, COUNT);
        for (int i = 0; i < COUNT; i++) {
            assert_int_equal(back.duration[i].count, cases[k].delay);
            free_picture(&frame[i]);
        }
        free_frames(&back);
    }
}

/* Where the source stays the same, so do the dithered pixels. */
static void test_dithering_does_not_flicker(void **state)
{
    enum { COUNT = 5, WIDTH = 120, HEIGHT = 80, LEFT = 70 };
    struct picture frame[COUNT];
    struct gf_duration duration[COUNT];
    struct frames back;
    for (int i = 0; i < COUNT; i++) {
        frame[i] = smooth_picture(WIDTH, HEIGHT, 3, 8);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = LEFT; x < WIDTH; x++)
                frame[i].data[(y * WIDTH + x) * 3 + 1] = (unsigned char)(3 * x + y * 2 + i * 40);
        duration[i] = (struct gf_duration){5, 100};
    }
    write_frames("b.gif", frame, COUNT, 0, duration);
    assert_int_equal(warnings, 1);
    decode_all("b.gif", &back);
    assert_int_equal(back.count, COUNT);
    for (int i = 1; i < COUNT; i++) {
        int changed = 0;
        for (int y = 0; y < HEIGHT; y++) {
            const size_t at = (size_t)y * WIDTH * 3;
            assert_memory_equal(back.picture[i].data + at, back.picture[0].data + at, LEFT * 3);
            changed += memcmp(back.picture[i].data + at + LEFT * 3,
                              back.picture[i - 1].data + at + LEFT * 3, 3 * (WIDTH - LEFT)) != 0;
        }
        assert_int_equal(changed, HEIGHT);
    }
    free_frames(&back);
    for (int i = 0; i < COUNT; i++)
        free_picture(&frame[i]);
}

/* Of another scene the colours are others, and a frame gets a palette of its own; then the first
 * scene has its own again. */
static void test_scenes(void **state)
{
    enum { COUNT = 3, PIXELS = 60 * 50 };
    struct picture frame[COUNT];
    const struct gf_duration duration[COUNT] = {{5, 100}, {5, 100}, {5, 100}};
    struct frames back;
    for (int i = 0; i < COUNT; i++) {
        frame[i] = smooth_picture(60, 50, 3, 8);
        for (int p = 0; p < PIXELS; p++) { /* shades of red or blue, all dark or all light */
            unsigned char *const at = frame[i].data + 3 * p;
            at[0] = i == 1 ? at[0] / 4 : 192 + at[0] / 4;
            at[1] = at[1] / 2;
            at[2] = i == 1 ? 192 + at[2] / 4 : at[2] / 4;
        }
    }
    write_frames("b.gif", frame, COUNT, 0, duration);
    decode_all("b.gif", &back);
    assert_int_equal(back.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        int64_t difference = 0;
        for (int s = 0; s < 3 * PIXELS; s++)
            difference += abs(back.picture[i].data[s] - frame[i].data[s]);
        assert_in_range(difference / PIXELS, 0, 12);
        free_picture(&frame[i]);
    }
    assert_memory_equal(back.picture[0].data, back.picture[2].data, 3 * PIXELS);
    free_frames(&back);
}

/* A file that is too large to be held gets its palette at the end. */
static void test_large_animation(void **state)
{
    enum { COUNT = 4 };
    struct picture frame[COUNT];
    struct gf_duration duration[COUNT];
    struct frames back;
    for (int i = 0; i < COUNT; i++) {
        frame[i] = picture_of(640, 640, 3, 100 + 50 * i, (unsigned)i);
        duration[i] = (struct gf_duration){70000, 100};
    }
    write_frames("b.gif", frame, COUNT, 1, duration);
    assert_non_null(strstr(last_warning, "b.gif: a GIF does not keep delays over 655 s"));
    struct bytes file = load(in_folder("b.gif"));
    assert_true(file.size > 1200000);
    free(file.data);
    decode_all("b.gif", &back);
    assert_int_equal(back.count, COUNT);
    assert_int_equal(back.loops, 1);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(back.duration[i].count, 65535);
        assert_frame(&back.picture[i], &frame[i], i);
        free_picture(&frame[i]);
    }
    free_frames(&back);
}

static void test_limits_of_writing(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = picture_of(65536, 1, 3, 2, 0);
    assert_int_equal(encode(in_folder("b.gif"), &picture, &options), GF_ERROR_UNFIT);
    assert_failure_says("b.gif: 65536x1 is too large for GIF, whose sides end at 65535");
    picture.format.width--;
    assert_int_equal(encode(in_folder("b.gif"), &picture, &options), GF_OK);
    options.depth = 16;
    assert_int_equal(encode(in_folder("b.gif"), &picture, &options), GF_ERROR_USAGE);
    assert_failure_says("b.gif: options.depth=16: a sample of GIF has 8 bits");
    assert_string_equal(gf_file_format_extension(GF_FILE_GIF), "gif");
    free_picture(&picture);
}

int main(void)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_GIF);
    if (!type->library || gf_library_load(type->library, "GIF", GF_ERROR_UNAVAILABLE, &failure)) {
        puts("1..1\nok 1 # SKIP there is no giflib");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_still),
        cmocka_unit_test(test_beyond_the_palette),
        cmocka_unit_test(test_long_indices),
        cmocka_unit_test(test_interlaced),
        cmocka_unit_test(test_animation),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_damage_behind),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_few_colours_are_kept),
        cmocka_unit_test(test_bytes_of_a_still),
        cmocka_unit_test(test_more_colours_are_reduced),
        cmocka_unit_test(test_half_the_alpha),
        cmocka_unit_test(test_frames_are_kept),
        cmocka_unit_test(test_bytes_of_an_animation),
        cmocka_unit_test(test_delays_do_not_drift),
        cmocka_unit_test(test_short_delays),
        cmocka_unit_test(test_dithering_does_not_flicker),
        cmocka_unit_test(test_scenes),
        cmocka_unit_test(test_large_animation),
        cmocka_unit_test(test_limits_of_writing),
        cmocka_unit_test(test_comments_and_xmp),
    };
    return cmocka_run_group_tests_name("gif", tests, make_folder, remove_folder);
}
