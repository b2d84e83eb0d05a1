/* Parts of pictures (struct gf_source's window): the pixels are those of the whole decode. */
#include "codec/codec_test.h"

#include "base/threads/times.h"
#include "codec/formats.h"
#include "codec/tiff_files.h"
#ifdef GF_LIBRARY_heif
#include "codec/heic_frames.h"
#endif

struct opened {
    struct gf_input *input;
    struct gf_source *source;
};

static struct opened open_file(const char *path, const struct gf_options *options)
{
    struct opened opened = {0};
    const struct gf_options own = in_cells(options);
    assert_int_equal(gf_input_open(path, false, &opened.input, &failure), GF_OK);
    gf_input_set_windowed(opened.input);
    assert_int_equal(gf_source_open(opened.input, &own, &opened.source, &failure), GF_OK);
    return opened;
}

static void close_file(struct opened *opened)
{
    opened->source->close(opened->source);
    gf_input_close(opened->input);
}

static void check_window(struct gf_source *source, const struct picture *whole,
                         struct gf_rectangle at, int more)
{
    const size_t pixel = gf_pixel_bytes(whole->format), row = gf_row_bytes(whole->format),
                 bytes = pixel * (size_t)at.width;
    unsigned char *const part = malloc(bytes * (size_t)at.height);
    assert_int_equal(source->window(source, at, more, &failure), GF_OK);
    assert_int_equal(source->format.width, at.width);
    assert_int_equal(source->format.height, at.height);
    assert_int_equal(read_rows_of(source, part), GF_OK);
    for (int y = 0; y < at.height; y++)
        assert_memory_equal(part + (size_t)y * bytes,
                            whole->data + (size_t)(at.y + y) * row + (size_t)at.x * pixel, bytes);
    free(part);
}

/* Reads the corners, the whole and random windows of the file one after another, forwards and
 * backwards. */
static void check_windows_by(const char *path, const struct gf_options *options)
{
    struct picture whole;
    unsigned seed = 12345;
    if (decode(path, options, &whole))
        fail_msg("%s", failure.text);
    const int w = whole.format.width, h = whole.format.height;
    struct opened opened = open_file(path, options);
    assert_non_null(opened.source->window);
    check_window(opened.source, &whole, (struct gf_rectangle){w - 1, h - 1, 1, 1}, 0);
    check_window(opened.source, &whole, (struct gf_rectangle){0, 0, w, h}, 0);
    check_window(opened.source, &whole, (struct gf_rectangle){0, h - 1, w, 1}, 2);
    check_window(opened.source, &whole, (struct gf_rectangle){w - 1, 0, 1, h}, 1);
    for (int i = 0; i < 40; i++) {
        struct gf_rectangle at = {.x = (int)(next_random(&seed) % (unsigned)w),
                                  .y = (int)(next_random(&seed) % (unsigned)h)};
        at.width = 1 + (int)(next_random(&seed) % (unsigned)(w - at.x));
        at.height = 1 + (int)(next_random(&seed) % (unsigned)(h - at.y));
        check_window(opened.source, &whole, at, i % 3);
    }
    close_file(&opened);
    free_picture(&whole);
}

static void check_windows(const char *path)
{
    const struct gf_options options = plain_options();
    check_windows_by(path, &options);
}

struct kind {
    bool big_endian, planar;
    int bits, samples, tile_width, tile_height;
    unsigned photometric;
};

/* A TIFF of noise, 101 x 67, in tiles without compression. */
static void write_tiles(const struct kind *kind)
{
    enum { W = 101, H = 67, MOST = 400 };
    struct tiff tiff = {.big_endian = kind->big_endian};
    const int across = (W - 1) / kind->tile_width + 1, down = (H - 1) / kind->tile_height + 1;
    const int planes = kind->planar ? kind->samples : 1, tiles = across * down * planes;
    const size_t bytes = (size_t)kind->tile_width * (size_t)kind->tile_height *
                         (size_t)(kind->bits * kind->samples / planes) / 8;
    unsigned offsets[MOST], sizes[MOST], palette[3 * 256], seed = 99;
    const unsigned bits[3] = {(unsigned)kind->bits, (unsigned)kind->bits, (unsigned)kind->bits};
    assert_true(tiles <= MOST);
    begin(&tiff);
    for (int i = 0; i < tiles; i++) {
        offsets[i] = (unsigned)tiff.bytes.size;
        sizes[i] = (unsigned)bytes;
        for (size_t b = 0; b < bytes; b++)
            put_more(&tiff, 1, next_random(&seed) & 255);
    }
    for (int i = 0; i < 3 * 256; i++)
        palette[i] = next_random(&seed) & 65535;
    tag1(&tiff, 256, W);
    tag1(&tiff, 257, H);
    tag(&tiff, 258, SHORT, kind->samples, bits);
    tag(&tiff, 259, SHORT, 1, (unsigned[]){1});
    tag(&tiff, 262, SHORT, 1, &kind->photometric);
    tag(&tiff, 277, SHORT, 1, (unsigned[]){(unsigned)kind->samples});
    tag(&tiff, 284, SHORT, 1, (unsigned[]){kind->planar ? 2 : 1});
    if (kind->photometric == 3)
        tag(&tiff, 320, SHORT, 3 << kind->bits, palette);
    tag1(&tiff, 322, (unsigned)kind->tile_width);
    tag1(&tiff, 323, (unsigned)kind->tile_height);
    tag(&tiff, 324, LONG, tiles, offsets);
    tag(&tiff, 325, LONG, tiles, sizes);
    add_page(&tiff);
    write_file(&tiff);
}

static void test_tiff_tiles(void **state)
{
    static const struct kind kinds[] = {
        {.bits = 8, .samples = 3, .tile_width = 16, .tile_height = 16, .photometric = 2},
        {.bits = 8,
         .samples = 3,
         .tile_width = 32,
         .tile_height = 16,
         .photometric = 2,
         .planar = true},
        {.bits = 16,
         .samples = 1,
         .tile_width = 48,
         .tile_height = 32,
         .photometric = 1,
         .big_endian = true},
        {.bits = 1, .samples = 1, .tile_width = 16, .tile_height = 48, .photometric = 0},
        {.bits = 4, .samples = 1, .tile_width = 16, .tile_height = 16, .photometric = 3},
        {.bits = 8, .samples = 1, .tile_width = 112, .tile_height = 80, .photometric = 3},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        write_tiles(&kinds[i]);
        check_windows(in_folder("a.tif"));
    }
}

static void test_tiff_strips(void **state)
{
    static const enum gf_tiff_compression ways[] = {GF_TIFF_NONE, GF_TIFF_LZW, GF_TIFF_DEFLATE};
    for (int channels = 1; channels <= 4; channels++) {
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            struct gf_options options = plain_options();
            struct picture picture = random_picture(211, 1300, channels, channels % 2 ? 16 : 8);
            options.tiff_compression = ways[i];
            assert_int_equal(encode(in_folder("a.tif"), &picture, &options), GF_OK);
            check_windows(in_folder("a.tif"));
            free_picture(&picture);
        }
    }
}

/* The rows above a window that lie in its compressed strip are decoded, no longer than there is
 * time. */
static void test_time(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(211, 1300, 1, 8);
    unsigned char row[211];
    options.tiff_compression = GF_TIFF_LZW;
    assert_int_equal(encode(in_folder("a.tif"), &picture, &options), GF_OK);
    struct opened opened = open_file(in_folder("a.tif"), &options);
    struct gf_source *const source = opened.source;
    for (int late = 0; late < 2; late++) {
        const struct gf_rectangle at = {0, late ? 200 : 100, 211, 1};
        gf_time_limit_set(late ? gf_now() - 1 : 0);
        enum gf_status status = source->window(source, at, 0, &failure);
        if (!status)
            status = source->read(source, 1, row, sizeof row, &failure);
        assert_int_equal(status, late ? GF_ERROR_INPUT : GF_OK);
    }
    gf_time_limit_set(0);
    close_file(&opened);
    free_picture(&picture);
}

/* A header and noise that is at most `most` in its first byte of two. */
static void write_pnm(const char *header, size_t bytes, unsigned most)
{
    struct bytes file = {0};
    unsigned seed = 7;
    append(&file, header, strlen(header));
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char byte = (unsigned char)(next_random(&seed) % (i % 2 ? 256 : most + 1));
        append(&file, &byte, 1);
    }
    append(&file, "P5 1 1 255\na", 12);
    save(in_folder("a.pnm"), file.data, file.size);
    free(file.data);
}

static void test_pnm(void **state)
{
    static const struct {
        const char *header;
        size_t bytes;
        unsigned most;
    } files[] = {{"P4\n101 67\n", 13 * 67, 255},
                 {"P5\n301 30\n255\n", 301 * 30, 255},
                 {"P5\n301 30\n1000\n", 2 * 301 * 30, 2},
                 {"P6\n77 55\n65535\n", 6 * 77 * 55, 255},
                 {"P7\nWIDTH 50\nHEIGHT 40\nDEPTH 4\nMAXVAL 255\nENDHDR\n", 4 * 50 * 40, 255}};
    const struct gf_options options = plain_options();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_pnm(files[i].header, files[i].bytes, files[i].most);
        check_windows(in_folder("a.pnm"));
        struct opened opened = open_file(in_folder("a.pnm"), &options);
        struct gf_source *const source = opened.source;
        unsigned char pixel[8];
        assert_int_equal(source->window(source, (struct gf_rectangle){3, 2, 1, 1}, 0, &failure),
                         GF_OK);
        assert_int_equal(source->read(source, 1, pixel, 8, &failure), GF_OK);
        assert_int_equal(source->finish(source, &failure), GF_OK);
        assert_int_equal(gf_input_position(opened.input), strlen(files[i].header) + files[i].bytes);
        close_file(&opened);
    }
    save(in_folder("a.pnm"), "P2 2 2 9\n1 2 3 4\n", 17);
    struct opened opened = open_file(in_folder("a.pnm"), &options);
    assert_null(opened.source->window);
    close_file(&opened);
}

static void set_byte(const char *path, long at, unsigned char byte)
{
    FILE *const file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fwrite(&byte, 1, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

/* Before a window is read the input is at the frame, which a GPU may take, and after it behind the
 * frame. */
static void check_frame_position(int header)
{
    const struct gf_options options = plain_options();
    struct opened opened = open_file(in_folder("a.y4m"), &options);
    struct gf_source *const source = opened.source;
    unsigned char row[6 * 77];
    for (int i = 0; i < 3 && source->yuv; i++) { /* a cell's source has none */
        const struct gf_rectangle at = {0, 0, i == 1 ? 9 : 77, 55};
        assert_int_equal(source->window(source, at, 0, &failure), GF_OK);
        assert_int_equal(gf_input_position(opened.input), header);
        assert_int_equal(source->read(source, 1, row, sizeof row, &failure), GF_OK);
        assert_int_equal(source->finish(source, &failure), GF_OK);
        assert_int_equal(gf_input_position(opened.input),
                         header + (int64_t)gf_yuv_frame_bytes(source->yuv));
    }
    close_file(&opened);
}

/* Frames of a Y4M, and BMPs of palettes and colours, of the lowest and of the upper row first. */
static void test_frames_and_bitmaps(void **state)
{
    static const char *const chroma[] = {"420jpeg", "422", "444p10", "mono"};
    for (size_t i = 0; i < sizeof chroma / sizeof *chroma; i++) {
        enum { MOST = 3 * 2 * 77 * 55 };
        struct bytes file = {0};
        char header[80];
        unsigned seed = 5;
        const int length =
            snprintf(header, sizeof header, "YUV4MPEG2 W77 H55 F25:1 C%s\nFRAME\n", chroma[i]);
        append(&file, header, (size_t)length);
        for (int b = 0; b < MOST; b++) {
            const unsigned char byte =
                i == 2 && b % 2 ? next_random(&seed) & 3 : next_random(&seed) & 255;
            append(&file, &byte, 1);
        }
        save(in_folder("a.y4m"), file.data, file.size);
        free(file.data);
        check_windows(in_folder("a.y4m"));
        check_frame_position(length);
    }
    for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        const struct gf_options options = plain_options();
        struct picture picture = random_picture(211, 147, channels, 8);
        assert_int_equal(encode(in_folder("a.bmp"), &picture, &options), GF_OK);
        check_windows(in_folder("a.bmp"));
        set_byte(in_folder("a.bmp"), 22, (unsigned char)-147); /* the height: of upper rows first */
        for (int i = 23; i < 26; i++)
            set_byte(in_folder("a.bmp"), i, 255);
        check_windows(in_folder("a.bmp"));
        free_picture(&picture);
    }
}

#ifdef GF_LIBRARY_heif
/* Saves a HEIC of a kind, and says whether parts of it can be had. */
static bool save_heic(const struct heic_kind *kind)
{
    const struct gf_options options = plain_options();
    int item;
    const struct heic_bytes file = heic_make(kind, &item);
    save(in_folder("b.heic"), file.data, file.size);
    free(file.data);
    struct opened opened = open_file(in_folder("b.heic"), &options);
    const bool has_windows = opened.source->window;
    close_file(&opened);
    return has_windows;
}

/* Grids of frames, turned and of every matrix, but none that are cropped, or turned where chroma
 * would then lie over other pixels. */
static void check_grids(int bits, bool full_chroma)
{
    enum { KINDS = 24 };
    struct gf_options options = plain_options();
    struct heic_frames frames = {0};
    int parts = 0;
    heic_encode_frames(bits, full_chroma, &frames);
    for (int i = 0; i < KINDS; i++) {
        struct heic_kind kind = heic_kind_of(i, &frames);
        kind.rotation = i % 4 == 2 ? (i / 4 + 2) % 4 : kind.rotation;
        kind.mirror = bits > 8 ? 0 : kind.mirror; /* libheif up to 1.18 mirrors 8 bits alone */
        const bool turned = kind.rotation || kind.mirror, odd = (kind.width | kind.height) & 1,
                   has = kind.columns && !kind.crops && !(turned && (odd || bits > 8));
        options.autorotate = i / 4 % 2;
        assert_int_equal(save_heic(&kind), has);
        if (has)
            check_windows_by(in_folder("b.heic"), &options);
        parts += has;
    }
    assert_true(parts > 2);
    heic_free_frames(&frames);
}

/* Only the frames that a part needs are decoded: others may be damaged, and count for no memory. */
static void check_damage(void)
{
    struct heic_frames frames = {0};
    struct picture whole;
    struct gf_options options = plain_options();
    heic_encode_frames(8, false, &frames);
    struct heic_kind kind = heic_kind_of(1, &frames);
    kind.crops = false;
    kind.rotation = 0;
    assert_true(save_heic(&kind));
    if (decode(in_folder("b.heic"), &options, &whole))
        fail_msg("%s", failure.text);
    memset(frames.frame[0].data, 255, frames.frame[0].size);
    assert_true(save_heic(&kind));
    for (int autorotate = 0; autorotate < 2; autorotate++) {
        options.autorotate = autorotate;
        struct opened opened = open_file(in_folder("b.heic"), &options);
        struct gf_source *const source = opened.source;
        const struct gf_rectangle sound = {SIDE + 2, 2, 40, 50}, damaged = {SIDE + 1, 2, 40, 50};
        unsigned char pixels[3 * 40 * 50];
        const uint64_t all = source->memory.bytes;
        check_window(source, &whole, sound, 0);
        assert_int_equal(source->blocks, 1);
        assert_true(source->memory.bytes < all / 2);
        assert_int_equal(source->window(source, damaged, 0, &failure), GF_OK);
        assert_int_equal(source->blocks, 2);
        assert_int_equal(read_rows_of(source, pixels), GF_ERROR_INPUT);
        assert_failure_says("b.heic: ");
        close_file(&opened);
    }
    const struct bytes file = load(in_folder("b.heic"));
    unsigned char *const made_of = memmem(file.data, file.size, "dimg", 4);
    memcpy(made_of + 8, made_of + 4, 2); /* the grid itself is its first frame */
    save(in_folder("b.heic"), file.data, file.size);
    free(file.data);
    free_picture(&whole);
    assert_int_equal(decode(in_folder("b.heic"), &options, &whole), GF_ERROR_INPUT);
    assert_failure_says("a picture in it is made of itself");
    heic_free_frames(&frames);
}

static void test_heic(void **state)
{
    if (!can_encode()) {
        print_message("libheif has no encoder of HEVC here\n");
        skip();
    }
    check_grids(8, false);
    check_grids(8, true);
    check_grids(10, false);
    check_damage();
}
#endif

/* Tiles that several windows need are decoded once, if the source knows that others follow. */
static void test_kept_tiles(void **state)
{
    const struct gf_options options = plain_options();
    const struct gf_rectangle one = {20, 20, 20, 20}, next = {30, 30, 20, 10};
    write_tiles(&(struct kind){
        .bits = 8, .samples = 3, .tile_width = 16, .tile_height = 16, .photometric = 2});
    struct picture whole;
    assert_int_equal(decode(in_folder("a.tif"), &options, &whole), GF_OK);
    struct opened opened = open_file(in_folder("a.tif"), &options);
    struct gf_source *const source = opened.source;
    check_window(source, &whole, one, 2);
    assert_int_equal(source->blocks, 4);
    check_window(source, &whole, one, 1);
    assert_int_equal(source->blocks, 0);
    check_window(source, &whole, next, 0);
    assert_int_equal(source->blocks, 2); /* of 3 x 2 tiles */
    check_window(source, &whole, next, 0);
    assert_int_equal(source->blocks, 2);
    close_file(&opened);
    free_picture(&whole);
}

/* The limit of pixels is for what is decoded, if the caller chooses a window; else for all. */
static void test_limit(void **state)
{
    struct gf_options options = plain_options();
    struct picture whole;
    options.max_pixels = 6766;
    write_tiles(&(struct kind){
        .bits = 8, .samples = 1, .tile_width = 16, .tile_height = 16, .photometric = 1});
    assert_int_equal(decode(in_folder("a.tif"), &options, &whole), GF_ERROR_INPUT);
    assert_non_null(strstr(failure.text, "101x67 is 6767 pixels"));
    struct opened opened = open_file(in_folder("a.tif"), &options);
    assert_int_equal(opened.source->format.width, 101);
    close_file(&opened);
}

int main(void)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_TIFF);
    if (!type->library || gf_library_load(type->library, "TIFF", GF_ERROR_UNAVAILABLE, &failure)) {
        puts("1..1\nok 1 # SKIP there is no libtiff");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiff_tiles), cmocka_unit_test(test_tiff_strips),
        cmocka_unit_test(test_pnm),        cmocka_unit_test(test_frames_and_bitmaps),
        cmocka_unit_test(test_kept_tiles), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_time),
#ifdef GF_LIBRARY_heif
        cmocka_unit_test(test_heic),
#endif
    };
    return cmocka_run_group_tests_name("windows", tests, make_folder, remove_folder);
}
