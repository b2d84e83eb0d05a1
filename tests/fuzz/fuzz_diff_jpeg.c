/* Reading JPEG beside libjpeg: what it refuses or warns of is refused, but for warnings that may
 * concern no pixel; what both read gives the same pixels; and what the check for GPUs calls sound,
 * libjpeg accepts. */
#include "fuzz.h"

#include <setjmp.h>
#include <jpeglib.h>
#include <jerror.h>

#include "codec/jpeg/jpeg_header.h"
#include "jpeg_mutator.h"

struct reference {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    struct gf_image image;
    bool refuses, unlike; /* unlike: of a kind that the program leaves out by intent */
    bool doubts;          /* it warned of what may concern no pixel */
    bool in_only_scan;    /* the rows of a picture of one scan are being read */
    char text[JMSG_LENGTH_MAX];
    jmp_buf escape;
};

static void on_error(j_common_ptr jpeg)
{
    struct reference *const reference = jpeg->client_data;
    reference->refuses = true;
    jpeg->err->format_message(jpeg, reference->text);
    longjmp(reference->escape, 1);
}

/* Whether the warning may be of bytes that belong to no segment, of parameters that a baseline scan
 * does not use, or of a missing end marker. Bytes before a restart marker belong to a scan. */
static bool is_of_no_pixel(const struct reference *reference)
{
    const int code = reference->errors.msg_code, marker = reference->errors.msg_parm.i[1];
    const bool restarts = reference->in_only_scan && marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7;
    return (code == JWRN_EXTRANEOUS_DATA && !restarts) || code == JWRN_NOT_SEQUENTIAL ||
           code == JWRN_JPEG_EOF;
}

static void on_message(j_common_ptr jpeg, int level)
{
    const int code = jpeg->err->msg_code;
    struct reference *const reference = jpeg->client_data;
    if (level >= 0 || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM)
        return;
    if (!is_of_no_pixel(reference))
        on_error(jpeg);
    reference->doubts = true;
}

/* The program reads no more scans than these. */
static void on_progress(j_common_ptr jpeg)
{
    enum { SCANS_MAX = 100 };
    struct reference *const reference = jpeg->client_data;
    if (reference->jpeg.input_scan_number <= SCANS_MAX)
        return;
    reference->unlike = true;
    longjmp(reference->escape, 1);
}

/* The program's own conversion of a row of CMYK. */
static void to_rgb(struct reference *reference, const uint8_t *cmyk, uint8_t *rgb)
{
    for (int x = 0; x < reference->image.format.width; x++, cmyk += 4, rgb += 3) {
        for (int c = 0; c < 3; c++)
            rgb[c] = (uint8_t)((cmyk[c] * cmyk[3] + 127) / 255);
    }
}

static void read_rows(struct reference *reference)
{
    struct jpeg_decompress_struct *const jpeg = &reference->jpeg;
    struct gf_image *const image = &reference->image;
    const bool cmyk = jpeg->out_color_space == JCS_CMYK;
    uint8_t line[4 * FUZZ_PIXELS_MAX];
    *image =
        fuzz_image((struct gf_format){.width = (int)jpeg->image_width,
                                      .height = (int)jpeg->image_height,
                                      .channels = jpeg->out_color_space == JCS_GRAYSCALE ? 1 : 3,
                                      .bits = 8});
    jpeg_start_decompress(jpeg);
    reference->in_only_scan = !jpeg_has_multiple_scans(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        uint8_t *const to = image->data + jpeg->output_scanline * image->pitch;
        JSAMPROW row = cmyk ? line : to;
        jpeg_read_scanlines(jpeg, &row, 1);
        if (cmyk)
            to_rgb(reference, line, to);
    }
    reference->in_only_scan = false;
    jpeg_finish_decompress(jpeg);
}

static void read_picture(struct reference *reference, const uint8_t *data, size_t size)
{
    struct jpeg_decompress_struct *const jpeg = &reference->jpeg;
    jpeg_mem_src(jpeg, data, size);
    jpeg_read_header(jpeg, TRUE);
    const J_COLOR_SPACE space = jpeg->jpeg_color_space;
    if (space == JCS_CMYK || space == JCS_YCCK)
        jpeg->out_color_space = JCS_CMYK;
    else if (space == JCS_YCbCr || space == JCS_RGB)
        jpeg->out_color_space = JCS_RGB;
    reference->unlike =
        space == JCS_UNKNOWN || (uint64_t)jpeg->image_width * jpeg->image_height > FUZZ_PIXELS_MAX;
    if (!reference->unlike)
        read_rows(reference);
}

static void reference_read(struct reference *reference, const uint8_t *data, size_t size)
{
    reference->jpeg.err = jpeg_std_error(&reference->errors);
    reference->jpeg.client_data = reference;
    reference->errors.error_exit = on_error;
    reference->errors.emit_message = on_message;
    reference->progress.progress_monitor = on_progress;
    if (!setjmp(reference->escape)) {
        jpeg_create_decompress(&reference->jpeg);
        reference->jpeg.progress = &reference->progress;
        read_picture(reference, data, size);
    }
    jpeg_destroy_decompress(&reference->jpeg);
}

/* libjpeg overlooks these faults where codes lie far from the end of its buffer, which the program
 * lets end elsewhere. */
static bool is_overlooked(const char *text)
{
    return strstr(text, " extraneous bytes before marker 0xd9") || strstr(text, "bad Huffman code");
}

static void check(const struct reference *reference, const uint8_t *data, size_t size)
{
    const struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    struct gf_image ours;
    struct gf_jpeg_header header;
    const enum gf_status status = fuzz_decode(data, size, &options, &ours, &error);
    if (reference->refuses || reference->unlike)
        FUZZ_CHECK(status, "libjpeg: %s", reference->text);
    else if (!reference->doubts)
        FUZZ_CHECK(!status || is_overlooked(error.text), "%s", error.text);
    if (!status && gf_jpeg_header_read(data, size, &header))
        FUZZ_CHECK(header.width == ours.format.width && header.height == ours.format.height &&
                       header.components == ours.format.channels,
                   "%dx%d", header.width, header.height);
    if (!status) {
        fuzz_check_same(&ours, &reference->image);
        free(ours.data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || memcmp(data, "\xff\xd8\xff", 3) != 0)
        return 0;
    struct reference reference;
    memset(&reference, 0, sizeof reference);
    reference_read(&reference, data, size);
    check(&reference, data, size);
    free(reference.image.data);
    return 0;
}
