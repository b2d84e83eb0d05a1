/* Reads the raw photographs of cameras by LibRaw. The first part checks that a photograph has all
 * of its samples, which LibRaw does not report for every format. */
#include <errno.h>
#include <libraw/libraw.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/process/library.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/exif.h"
#include "codec/common/metadata/texts.h"
#include "codec/common/opening.h"
#include "codec/common/rows/whole_picture.h"

enum { PARTS_MOST = 8192 };

/* The offsets and sizes in bytes of the strips or tiles of a directory. */
struct parts {
    uint64_t offset[PARTS_MOST], bytes[PARTS_MOST];
};

/* Whether all parts that the two tags list end within the file. *known becomes true if the tags
 * list any. */
static bool end_within(const struct gf_ifd_reader *reader, uint64_t directory, uint16_t offsets,
                       uint16_t sizes, struct parts *parts, size_t file_bytes, bool *known)
{
    const size_t count = gf_ifd_numbers(reader, directory, offsets, parts->offset, PARTS_MOST),
                 counts = gf_ifd_numbers(reader, directory, sizes, parts->bytes, PARTS_MOST);
    *known |= count && count == counts;
    for (size_t i = 0; i < count && i < counts; i++) {
        if (parts->offset[i] > file_bytes || parts->bytes[i] > file_bytes - parts->offset[i])
            return false;
    }
    return true;
}

/* Whether the strips and tiles of the sensor's samples lie within the file. *known becomes false if
 * no directory says where they are. */
static bool raw_ends(const struct gf_blob *file, bool *known)
{
    enum { STRIP_OFFSETS = 273, STRIP_BYTES = 279, TILE_OFFSETS = 324, TILE_BYTES = 325 };
    uint64_t first, directory[GF_SENSORS_MOST];
    struct parts *const parts = malloc(sizeof *parts);
    const struct gf_ifd_reader reader = gf_exif_reader(file, &first);
    const size_t count = parts && first ? gf_sensor_directories(&reader, first, directory) : 0;
    bool within = true;
    *known = false;
    for (size_t i = 0; within && i < count; i++)
        within =
            end_within(&reader, directory[i], STRIP_OFFSETS, STRIP_BYTES, parts, file->size,
                       known) &&
            end_within(&reader, directory[i], TILE_OFFSETS, TILE_BYTES, parts, file->size, known);
    free(parts);
    return within;
}

/* ---- developing raw photographs by LibRaw ---- */

/* LibRaw uses OpenMP's threads, whose library is loaded with it and has this function. */
void omp_set_num_threads(int threads);

/* clang-format off */
#define RAW_CALLS(CALL) \
    CALL(libraw_init) CALL(libraw_close) CALL(libraw_open_buffer) CALL(libraw_unpack) \
    CALL(libraw_adjust_sizes_info_only) CALL(libraw_dcraw_process) \
    CALL(libraw_dcraw_make_mem_image) CALL(libraw_dcraw_clear_mem) \
    CALL(libraw_set_dataerror_handler) CALL(libraw_set_progress_handler) CALL(libraw_strerror) \
    CALL(omp_set_num_threads)
/* clang-format on */

static struct {
    RAW_CALLS(GF_LIBRARY_CALL)
} calls;

struct gf_library gf_raw_library = GF_LIBRARY(calls, RAW_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_raw_r));

enum { XTRANS = 9, FIRST_MOSAIC = 1000, AHD = 3, SRGB = 1 };

static const char senseless[] = "its samples make no sense";

static enum gf_status fail(const struct gf_whole_source *source, int code, struct gf_error *error)
{
    if (code == LIBRAW_UNSUFFICIENT_MEMORY || code == ENOMEM)
        return gf_fail_memory(error);
    if (code == LIBRAW_CANCELLED_BY_CALLBACK && gf_time_is_up())
        return gf_time_check(error);
    if (code == LIBRAW_FILE_UNSUPPORTED)
        return gf_fail(error, GF_ERROR_INPUT, "%s: LibRaw does not know this camera raw",
                       source->name);
    return gf_whole_source_fail(source,
                                code == LIBRAW_IO_ERROR     ? "truncated"
                                : code == LIBRAW_DATA_ERROR ? senseless
                                                            : calls.libraw_strerror(code),
                                error);
}

/* ---- the pixels of the picture ---- */

#if LIBRAW_VERSION < LIBRAW_MAKE_VERSION(0, 22, 0)
typedef int offset_in_file;
#else
typedef INT64 offset_in_file;
#endif

/* LibRaw calls this function at damaged samples; `context` is the bool that notes it. */
static void on_damage(void *context, const char *file, const offset_in_file offset)
{
    (void)file;
    (void)offset;
    *(bool *)context = true;
}

/* LibRaw calls this function during its work. Returns 1, which stops LibRaw, if the picture's time
 * limit has passed. */
static int on_progress(void *context, enum LibRaw_progress stage, int iteration, int expected)
{
    (void)context;
    (void)stage;
    (void)iteration;
    (void)expected;
    return gf_time_is_up();
}

/* Opens the file. Sets what LibRaw shall do: multiply the samples by the camera's white balance and
 * convert them to sRGB with its curve. Nothing may depend on the brightness of the picture. */
static enum gf_status open_raw(const struct gf_whole_source *source, bool *damaged,
                               libraw_data_t **opened, struct gf_error *error)
{
    libraw_data_t *const raw = *opened = calls.libraw_init(0);
    GF_ALLOCATED(raw, error);
    calls.libraw_set_dataerror_handler(raw, on_damage, damaged);
    calls.libraw_set_progress_handler(raw, on_progress, NULL);
    raw->params.use_camera_wb = 1;
    raw->params.no_auto_bright = 1;
    raw->params.adjust_maximum_thr = 0;
    raw->params.output_bps = 16;
    raw->params.output_color = SRGB;
    raw->params.gamm[0] = 1 / 2.4;
    raw->params.gamm[1] = 12.92;
    raw->params.user_qual = AHD;
    raw->params.half_size = source->base.reduction > 1;
    const int code = calls.libraw_open_buffer(raw, source->file.data, source->file.size);
    if (!source->options.autorotate)
        raw->params.user_flip = 0;
    return code ? fail(source, code, error) : GF_OK;
}

/* Makes malloc() fill memory with zeros while more calls with 1 than with -1 were made. The setting
 * holds for the whole process, whose threads may read several raw photographs at once. */
static void count_zeroing(int change)
{
    /* mallopt() takes the complement of the byte with which malloc() fills memory. */
    enum { FILL_WITH_ZEROS = 0xff };
    static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
    static int count;
    pthread_mutex_lock(&counting);
    count += change;
    mallopt(M_PERTURB, count ? FILL_WITH_ZEROS : 0);
    pthread_mutex_unlock(&counting);
}

/* Reads the samples. LibRaw leaves samples for which it finds no valid bytes as they were in
 * memory; they shall be zero. */
static int unpack(libraw_data_t *raw)
{
    count_zeroing(1);
    const int code = calls.libraw_unpack(raw);
    count_zeroing(-1);
    return code;
}

/* Whether all samples from that row on are 0, which no sensor gives: the file lacks them. */
static bool is_black(const libraw_data_t *raw, int row)
{
    const libraw_image_sizes_t *const sizes = &raw->sizes;
    for (; raw->rawdata.raw_image && row < sizes->height; row++) {
        const ushort *const sample = raw->rawdata.raw_image + sizes->left_margin +
                                     (size_t)(sizes->top_margin + row) * sizes->raw_pitch / 2;
        for (int x = 0; x < sizes->width; x++) {
            if (sample[x])
                return false;
        }
    }
    return raw->rawdata.raw_image;
}

/* Develops the picture to *image, which the caller frees by libraw_dcraw_clear_mem(). */
static enum gf_status develop(const struct gf_whole_source *source, libraw_data_t *raw,
                              libraw_processed_image_t **image, struct gf_error *error)
{
    bool known;
    if (!raw_ends(&source->file, &known))
        return fail(source, LIBRAW_IO_ERROR, error);
    int code = unpack(raw);
    if (!code && is_black(raw, known ? 0 : raw->sizes.height - 1))
        code = known ? LIBRAW_DATA_ERROR : LIBRAW_IO_ERROR;
    if (!code)
        code = calls.libraw_dcraw_process(raw);
    if (!code)
        *image = calls.libraw_dcraw_make_mem_image(raw, &code);
    if (code)
        return fail(source, code, error);
    if (raw->process_warnings & LIBRAW_WARN_BAD_CAMERA_WB)
        gf_warn(&source->options, "%s: states no white balance: that of daylight is taken",
                source->name);
    return *image ? GF_OK : gf_fail_memory(error);
}

static enum gf_status raw_decode(struct gf_whole_source *source, unsigned char *pixels,
                                 struct gf_error *error)
{
    const struct gf_format format = source->base.format;
    libraw_data_t *raw = NULL;
    libraw_processed_image_t *image = NULL;
    bool damaged = false;
    calls.omp_set_num_threads(gf_library_threads(&source->options));
    enum gf_status status = open_raw(source, &damaged, &raw, error);
    GF_THEN(status, develop(source, raw, &image, error));
    if (!status && (image->width != format.width || image->height != format.height ||
                    image->colors != format.channels || image->bits != format.bits))
        status = gf_whole_source_fail(source, "its picture is another than its header says", error);
    if (!status && damaged && !source->options.allow_truncated)
        status = gf_whole_source_fail(source, senseless, error);
    else if (!status && damaged)
        gf_warn(&source->options, "%s: damaged: %s", source->name, senseless);
    if (!status)
        memcpy(pixels, image->data, gf_row_bytes(format) * (size_t)format.height);
    if (image)
        calls.libraw_dcraw_clear_mem(image);
    if (raw)
        calls.libraw_close(raw);
    return status;
}

/* ---- metadata ---- */

enum { TAG_XMP = 700, TAG_IPTC = 33723 };

/* Reads EXIF, XMP and IPTC from a file that is a TIFF. Olympus' and Panasonic's files are TIFFs
 * with other first bytes. */
static bool read_tiff(const struct gf_whole_source *source, struct gf_metadata *metadata)
{
    uint64_t first;
    struct gf_blob iptc = {0};
    const struct gf_ifd_reader reader = gf_exif_reader(&source->file, &first);
    if (!gf_metadata_add_exif_in_tiff(metadata, &reader, first, source->name, &source->options) ||
        !gf_ifd_bytes(&reader, first, TAG_XMP, 0, &metadata->xmp) ||
        !gf_ifd_bytes(&reader, first, TAG_IPTC, 0, &iptc))
        return false;
    const bool done = gf_metadata_add_photoshop(metadata, iptc.data, iptc.size);
    free(iptc.data);
    return done;
}

/* Reads EXIF from the first marker segment of the JPEG in a file of Fujifilm (RAF). */
static bool read_raf(const struct gf_blob *file, struct gf_metadata *metadata)
{
    enum { JPEG_AT = 84, START = 4 };
    const size_t at = file->size >= JPEG_AT + START ? gf_get_be(file->data + JPEG_AT, 4) : 0;
    if (!at || at > file->size - START - 2 ||
        memcmp(file->data + at, "\xff\xd8\xff\xe1", START) != 0)
        return true;
    const unsigned char *const marker = file->data + at + START;
    const size_t size = gf_get_be(marker, 2), left = file->size - at - START;
    return size < 2 || size > left || gf_metadata_add_app1(metadata, marker + 2, size - 2);
}

static bool read_metadata(struct gf_whole_source *source)
{
    struct gf_metadata *const metadata = &source->base.metadata;
    const struct gf_blob *const file = &source->file;
    const bool raf = file->size > 8 && !memcmp(file->data, "FUJIFILM", 8);
    if (!(raf ? read_raf(file, metadata) : read_tiff(source, metadata)))
        return false;
    if (!metadata->exif.size)
        metadata->unread |= GF_KIND_EXIF;
    gf_exif_set_srgb(&metadata->exif);
    /* LibRaw has turned the pixels, by its own reading of the file. */
    if (source->options.autorotate)
        metadata->orientation = 1;
    return true;
}

/* ---- the header ---- */

static void name_kind(const libraw_data_t *raw, const struct gf_blob *file, char kind[8])
{
    static const struct {
        const char *maker, *kind;
    } kinds[] = {{"Canon", "CR2"},      {"Nikon", "NEF"},   {"Sony", "ARW"},
                 {"Pentax", "PEF"},     {"Ricoh", "PEF"},   {"Samsung", "SRW"},
                 {"Hasselblad", "3FR"}, {"Kodak", "DCR"},   {"Epson", "ERF"},
                 {"Mamiya", "MEF"},     {"Leaf", "MOS"},    {"Phase One", "IIQ"},
                 {"Fujifilm", "RAF"},   {"Olympus", "ORF"}, {"Panasonic", "RW2"},
                 {"Sigma", "X3F"},      {"Minolta", "MRW"}};
    const char *name = raw->idata.dng_version ? "DNG" : "";
    for (size_t i = 0; !*name && i < sizeof kinds / sizeof *kinds; i++) {
        if (!strcasecmp(raw->idata.normalized_make, kinds[i].maker))
            name = kinds[i].kind;
    }
    if (!strcmp(name, "CR2") && memcmp(file->data, "II*", 4) != 0)
        name = memcmp(file->data, "II", 2) ? "CR3" : "CRW";
    memcpy(kind, name, strlen(name) + 1);
}

/* Returns how many bytes LibRaw takes for a picture of `pixels` pixels: the samples of the sensor,
 * four samples of each pixel, twice where the picture is stretched, three in the result; for each
 * thread a tile with all that AHD compares, or a tile of X-Trans. */
static double library_bytes(const libraw_data_t *raw, double pixels, int threads)
{
    enum { TILE = 8 << 20, XTRANS_TILE = 26 << 20, OWN = 2 << 20 };
    const double sensor = (double)raw->sizes.raw_width * (raw->sizes.raw_height + 8.0);
    const bool mosaic = raw->idata.filters || raw->idata.colors == 1,
               stretched = raw->sizes.pixel_aspect < 0.995 || raw->sizes.pixel_aspect > 1.005 ||
                           raw->rawdata.ioparams.fuji_width;
    return sensor * (mosaic ? 2 : 8) + pixels * (stretched ? 22 : 14) + OWN +
           (raw->idata.filters == XTRANS        ? XTRANS_TILE
            : raw->idata.filters > FIRST_MOSAIC ? (double)TILE * threads
                                                : 0);
}

static enum gf_status describe(struct gf_whole_source *source, libraw_data_t *raw,
                               struct gf_error *error)
{
    struct gf_source *const base = &source->base;
    const int colours = raw->idata.colors, width = raw->sizes.width, height = raw->sizes.height;
    const unsigned filters = raw->idata.filters;
    if (colours != 1 && colours != 3 && colours != 4)
        return gf_whole_source_fail(source, "its sensor has no usual colours", error);
    base->stored = (struct gf_stored){.pages = 1,
                                      .colour = filters == XTRANS        ? GF_STORED_XTRANS
                                                : filters > FIRST_MOSAIC ? GF_STORED_BAYER
                                                                         : GF_STORED_PLAIN};
    for (unsigned most = raw->color.maximum; most; most >>= 1)
        base->stored.bits++;
    name_kind(raw, &source->file, base->stored.kind);
    const int code = calls.libraw_adjust_sizes_info_only(raw);
    if (code)
        return fail(source, code, error);
    const double pixels = (double)raw->sizes.iwidth * raw->sizes.iheight;
    const int least =
                  raw->sizes.iwidth < raw->sizes.iheight ? raw->sizes.iwidth : raw->sizes.iheight,
              other = raw->sizes.iwidth + raw->sizes.iheight - least;
    if (filters > FIRST_MOSAIC && least == (width < height ? width : height) &&
        other == width + height - least)
        base->most_reduction = 2; /* at half the size each 2x2 samples become a pixel */
    return gf_whole_source_describe(
        source, raw->sizes.iwidth, raw->sizes.iheight, colours == 1 ? 1 : 3, 16,
        pixels > 0 ? library_bytes(raw, pixels, gf_library_threads(&source->options)) / pixels : 0,
        error);
}

static enum gf_status read_header(struct gf_whole_source *source, struct gf_error *error)
{
    libraw_data_t *raw = NULL;
    bool damaged = false;
    enum gf_status status = open_raw(source, &damaged, &raw, error);
    GF_THEN(status, describe(source, raw, error));
    if (raw)
        calls.libraw_close(raw);
    return status || read_metadata(source) ? status : gf_fail_memory(error);
}

GF_WHOLE_SOURCE(gf_raw_source_open, .size = sizeof(struct gf_whole_source),
                .read_header = read_header, .decode = raw_decode)
