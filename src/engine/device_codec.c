#include "engine/device_codec.h"

#include "base/fail.h"
#include "base/image.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/formats.h"
#include "codec/jpeg/jpeg_perceptual.h"
#include "codec/png/png_write.h"
#include "engine/backend.h"
#include "engine/layout.h"

struct gf_device_decoder {
    enum gf_file_format file_format;
    enum gf_coder_kind kind;
    /* The device decodes only files of which the source says so by their header. Several threads
     * of the CPU can decode such a file before the device is ready. */
    bool asks_source;
    /* The picture is a frame of YCbCr at the input's position; else it is the file as a whole. */
    bool is_frame;
    bool (*read)(struct gf_device_file *file, struct gf_format *format);
    void (*ask)(struct gf_coder_picture *picture, const struct gf_device_file *file,
                const struct gf_view *out);
    /* Returns the position in the data behind the decoded picture. NULL: no picture follows it. */
    size_t (*end)(const struct gf_coder_picture *picture);
};

static int reduced(int side, int reduction)
{
    return (side + reduction - 1) / reduction;
}

static bool read_jpeg(struct gf_device_file *file, struct gf_format *format)
{
    struct gf_jpeg_header *const header = &file->jpeg;
    if (!gf_jpeg_header_read(file->data, file->size, header))
        return false;
    *format = (struct gf_format){reduced(header->width, file->reduction),
                                 reduced(header->height, file->reduction), header->components, 8,
                                 GF_SAMPLES_INTEGER};
    return true;
}

static bool read_png(struct gf_device_file *file, struct gf_format *format)
{
    struct gf_png_file *const header = &file->png;
    if (!gf_png_file_read(file->data, file->size, header))
        return false;
    *format = (struct gf_format){header->width, header->height, header->channels, header->bits,
                                 GF_SAMPLES_INTEGER};
    return true;
}

static bool read_frame(struct gf_device_file *file, struct gf_format *format)
{
    const struct gf_yuv *const yuv = file->yuv;
    *format = (struct gf_format){yuv->width, yuv->height, yuv->mono ? 1 : 3, yuv->bits > 8 ? 16 : 8,
                                 GF_SAMPLES_INTEGER};
    return true;
}

static bool read_heic(struct gf_device_file *file, struct gf_format *format)
{
    const struct gf_heif_coded *const coded = &file->coded;
    if (!gf_heif_coded_check(coded, file->size) || !gf_heif_coded_suits_device(coded))
        return false;
    *format = gf_heif_coded_format(coded);
    return true;
}

static bool read_tiles(struct gf_device_file *file, struct gf_format *format)
{
    *format = gf_tiff_coded_format(&file->tiles);
    return file->tiles.columns;
}

/* Whether the device decodes AV1, which it is asked when it has started: pictures that come before
 * are the CPU's. */
static bool takes_av1(struct gf_backend *backend, const struct gf_heif_coded *coded)
{
    const struct gf_backend_calls *const calls = backend->calls;
    if (gf_device_starting() || calls->ready(backend, NULL))
        return false;
    const int before = calls->bind ? calls->bind(backend) : 0;
    const bool takes = gf_heic_decoder_takes_av1(coded);
    if (calls->bind)
        calls->unbind(backend, before);
    return takes;
}

static void ask_to_decode_jpeg(struct gf_coder_picture *picture, const struct gf_device_file *file,
                               const struct gf_view *out)
{
    const bool is_tiff = file->decoder->kind == GF_CODER_JPEG_TILES_DECODE;
    picture->jpeg_decode = (struct gf_jpeg_decode_picture){.header = is_tiff ? NULL : &file->jpeg,
                                                           .tiles = is_tiff ? &file->tiles : NULL,
                                                           .data = file->data,
                                                           .size = file->size,
                                                           .reduction = file->reduction,
                                                           .out = *out};
}

static void ask_to_decode_png(struct gf_coder_picture *picture, const struct gf_device_file *file,
                              const struct gf_view *out)
{
    picture->png_decode = (struct gf_png_decode_picture){
        .header = &file->png, .data = file->data, .size = file->size, .out = *out};
}

static void ask_to_decode_heic(struct gf_coder_picture *picture, const struct gf_device_file *file,
                               const struct gf_view *out)
{
    picture->heic_decode =
        (struct gf_heic_decode_picture){.coded = &file->coded, .data = file->data, .out = *out};
}

static void ask_to_decode_frame(struct gf_coder_picture *picture, const struct gf_device_file *file,
                                const struct gf_view *out)
{
    picture->yuv_decode =
        (struct gf_yuv_decode_picture){.yuv = file->yuv, .data = file->data, .out = *out};
}

static size_t end_of_jpeg(const struct gf_coder_picture *picture)
{
    return picture->jpeg_decode.end;
}

/* Returns the end of the file, since gf_png_file_read() leaves a file with bytes after IEND to the
 * CPU. */
static size_t end_of_png(const struct gf_coder_picture *picture)
{
    return picture->png_decode.size;
}

static size_t end_of_frame(const struct gf_coder_picture *picture)
{
    return gf_yuv_frame_bytes(picture->yuv_decode.yuv);
}

static const struct gf_device_decoder decoders[] = {
    {GF_FILE_JPEG, GF_CODER_JPEG_DECODE, false, false, read_jpeg, ask_to_decode_jpeg, end_of_jpeg},
    {GF_FILE_PNG, GF_CODER_PNG_DECODE, true, false, read_png, ask_to_decode_png, end_of_png},
    {GF_FILE_TIFF, GF_CODER_JPEG_TILES_DECODE, true, false, read_tiles, ask_to_decode_jpeg, NULL},
    {GF_FILE_HEIC, GF_CODER_HEIC_DECODE, true, false, read_heic, ask_to_decode_heic, NULL},
    {GF_FILE_AVIF, GF_CODER_HEIC_DECODE, true, false, read_heic, ask_to_decode_heic, NULL},
    {GF_FILE_Y4M, GF_CODER_YUV_DECODE, false, true, read_frame, ask_to_decode_frame, end_of_frame}};

static const struct gf_device_decoder *decoder_of(enum gf_file_format file_format)
{
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++) {
        if (decoders[i].file_format == file_format)
            return &decoders[i];
    }
    return NULL;
}

bool gf_device_decodes(enum gf_file_format file_format)
{
    const struct gf_device_decoder *const decoder = decoder_of(file_format);
    return decoder && (decoder->kind != GF_CODER_HEIC_DECODE || gf_heic_decoder_present());
}

/* Whether the file is a JPEG of several scans. */
static bool has_scans(const struct gf_device_file *file)
{
    return file->decoder->kind == GF_CODER_JPEG_DECODE && file->jpeg.scans;
}

/* Whether the file is a PNG without the mark of independent stripes, whose stream the device must
 * decompress from its beginning on. */
static bool has_stream(const struct gf_device_file *file)
{
    return file->decoder->kind == GF_CODER_PNG_DECODE && !file->png.marked;
}

static enum gf_coder_kind kind_of(const struct gf_device_file *file)
{
    return has_scans(file)    ? GF_CODER_JPEG_SCANS_DECODE
           : has_stream(file) ? GF_CODER_PNG_STREAM_DECODE
                              : file->decoder->kind;
}

static struct gf_view view_of(const struct gf_image *image)
{
    return (struct gf_view){.data = image->data,
                            .pitch = image->pitch,
                            .format = image->format,
                            .rows = image->format.height};
}

/* Rounds sizes up, so that the next file can use the same buffer: another one may have to be
 * pinned, which takes about as long as decoding a PNG. */
static size_t rounded(size_t size)
{
    enum { STEP = 256 << 10, STEPS = 4 };
    size_t step = STEP;
    while (size > STEPS * step)
        step *= 2;
    return (size + step - 1) / step * step;
}

/* Copies the bytes that the device needs to file->data. The position in the input does not
 * change. */
static enum gf_status copy_input(struct gf_input *input, struct gf_device_file *file,
                                 struct gf_error *error)
{
    size_t got;
    if (file->decoder->file_format == GF_FILE_TIFF)
        return gf_tiff_coded_copy(&file->tiles, input, file->data, error);
    if (!file->decoder->is_frame)
        return gf_input_copy(input, file->data, error);
    GF_TRY(gf_input_read_at(input, (int64_t)file->begin, file->data, file->size, &got, error));
    return got < file->size ? gf_fail(error, GF_ERROR_READ, "%s: became shorter while it was read",
                                      gf_input_name(input))
                            : GF_OK;
}

/* Finds where in the input the bytes are that the device needs. Returns false if the input is no
 * file that has them all. */
static bool find_bytes(struct gf_input *input, const struct gf_source *source,
                       struct gf_device_file *file)
{
    const int64_t size = gf_input_size(input);
    file->size = size > 0 ? (size_t)size : 0;
    if (file->decoder->file_format == GF_FILE_TIFF) {
        if (size <= 0 || !file->tiles.columns || !gf_tiff_coded_find_part(&file->tiles, input))
            return false;
        file->size = (size_t)gf_tiff_coded_bytes(&file->tiles);
        return true;
    }
    if (!file->decoder->is_frame)
        return size >= 0;
    if (size < 0 || !source || !source->yuv)
        return false;
    file->yuv = source->yuv;
    file->begin = (size_t)gf_input_position(input);
    file->size = gf_yuv_frame_bytes(file->yuv);
    return file->begin + file->size <= (size_t)size;
}

/* Keeps the description of a HEIC or AVIF or of a TIFF's tiles, which lives no longer than its
 * source. */
static void keep_description(struct gf_device_file *file, const struct gf_source *source)
{
    if (file->decoder->kind == GF_CODER_HEIC_DECODE) {
        file->coded.columns = 0;
        if (source->coded)
            file->coded = *source->coded;
    } else if (file->decoder->file_format == GF_FILE_TIFF) {
        file->tiles.columns = 0;
        if (source->tiles)
            file->tiles = *source->tiles;
    }
}

bool gf_device_decodes_whole(const struct gf_source *source, const struct gf_options *options)
{
    return options->codec != GF_CODEC_CPU &&
           (source->yuv ||
            (source->for_device_codec &&
             (source->coded || (source->file == GF_FILE_JPEG && !source->for_device_batch))));
}

/* Whether the source's header leaves the file to the device. */
static bool is_for_device(const struct gf_device_decoder *decoder, const struct gf_source *source,
                          struct gf_backend *backend)
{
    return !decoder->asks_source || (source && source->for_device_codec &&
                                     (decoder->file_format != GF_FILE_AVIF ||
                                      (source->coded && takes_av1(backend, source->coded))));
}

enum gf_status gf_device_file_read(struct gf_input *input, enum gf_file_format file_format,
                                   const struct gf_source *source, bool one_thread, bool takes_slow,
                                   struct gf_format format, uint64_t bytes_most,
                                   struct gf_buffer_pool *buffers, struct gf_device_file *file,
                                   struct gf_error *error)
{
    const struct gf_device_decoder *const decoder = decoder_of(file_format);
    struct gf_format found;
    file->data = NULL;
    if (!gf_device_decodes(file_format) || !is_for_device(decoder, source, buffers->backend))
        return GF_OK;
    if (decoder->kind == GF_CODER_PNG_DECODE && !one_thread && gf_device_starting())
        return GF_OK; /* the CPU will finish before the device is ready */
    *file = (struct gf_device_file){
        .decoder = decoder, .reduction = source && source->reduction > 1 ? source->reduction : 1};
    if (decoder->asks_source)
        keep_description(file, source);
    if (!find_bytes(input, source, file) || rounded(file->size) > bytes_most)
        return GF_OK;
    file->data = gf_buffer_pool_take_host(buffers, rounded(file->size));
    GF_ALLOCATED(file->data, error);
    const enum gf_status status = copy_input(input, file, error);
    if (status || !decoder->read(file, &found) || !gf_same_format(found, format) ||
        (gf_coder_calls[kind_of(file)].slow && !takes_slow) ||
        (has_scans(file) && !one_thread)) { /* threads of the CPU decode a single one sooner */
        gf_buffer_pool_return(buffers, file->data);
        file->data = NULL;
    }
    return status;
}

bool gf_device_file_describe(const void *data, size_t size, const struct gf_source *source,
                             struct gf_backend *backend, struct gf_device_file *file)
{
    struct gf_format found;
    *file = (struct gf_device_file){.data = (unsigned char *)data, /* which is only read */
                                    .size = size,
                                    .decoder = decoder_of(source->file),
                                    .reduction = source->reduction > 1 ? source->reduction : 1};
    if (!file->decoder || !is_for_device(file->decoder, source, backend))
        return false;
    keep_description(file, source);
    return file->decoder->read(file, &found) && gf_same_format(found, source->format);
}

struct gf_coder_picture gf_device_file_work(const struct gf_device_file *file,
                                            const struct gf_image *image)
{
    struct gf_coder_picture picture = {.kind = kind_of(file)};
    const struct gf_view out = view_of(image);
    file->decoder->ask(&picture, file, &out);
    return picture;
}

void gf_device_decoder_prepare(struct gf_device_coders *coders, const struct gf_device_file *file)
{
    gf_device_coders_prepare(coders, kind_of(file));
}

enum gf_status gf_device_file_decode(struct gf_device_coders *coders, struct gf_device_file *file,
                                     struct gf_format format, struct gf_buffer_pool *buffers,
                                     struct gf_image *image, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    bool decoded = false;
    *image = (struct gf_image){.format = format, .pitch = gf_band_pitch(buffers->backend, format)};
    image->data = gf_buffer_pool_take(buffers, image->pitch * (size_t)format.height);
    if (image->data) {
        struct gf_coder_picture picture = gf_device_file_work(file, image);
        /* Pinning memory waits for all work of the device. Before a picture whose decoding takes
         * long, all shared memory is therefore pinned at once, so that none must be
         * pinned during such work. */
        if (gf_coder_calls[picture.kind].slow)
            gf_buffer_pool_pin_shared(buffers);
        if (!gf_coder_calls[picture.kind].lasts) /* else the CPU reads the bytes */
            gf_buffer_pool_pin(buffers, file->data);
        status = gf_device_coders_run(coders, &picture, error);
        decoded = picture.done;
        file->end = decoded && file->decoder->end ? file->begin + file->decoder->end(&picture) : 0;
    }
    gf_buffer_pool_return(buffers, file->data);
    file->data = NULL;
    if (decoded)
        return GF_OK;
    gf_buffer_pool_return(buffers, image->data);
    image->data = NULL;
    return status;
}

static bool encodes_jpeg(struct gf_format format, const struct gf_options *options)
{
    return format.bits == 8 && (format.channels == 1 || format.channels == 3) &&
           !options->progressive &&
           (!options->optimize || options->jpeg_encoder == GF_JPEG_PERCEPTUAL);
}

/* Whether the device can encode a PNG. Pictures with a palette are the CPU's. */
static bool encodes_png(struct gf_format format, const struct gf_options *options)
{
    return gf_png_encoder_takes(format) && options->png_level == GF_PNG_FAST_LEVEL &&
           !options->png_colours && !(options->png_palette && format.bits == 8);
}

/* A file to which parts are written while the rest of the picture is still being encoded. */
struct writing {
    struct gf_sink *sink;
    size_t written;
    enum gf_status status;
    struct gf_error error;
};

/* Writes a part of the encoded bytes. The encoding thread calls it, while the thread that owns the
 * sink waits. */
static void write_part(void *context, const unsigned char *part, size_t size)
{
    struct writing *const writing = context;
    GF_THEN(writing->status,
            writing->sink->splice(writing->sink, part, size, false, &writing->error));
    writing->written += size;
}

static void ask_for_jpeg(struct gf_coder_picture *picture, const struct gf_view *in,
                         const struct gf_options *options, struct writing *writing)
{
    (void)writing;
    const bool perceptual = options->jpeg_encoder == GF_JPEG_PERCEPTUAL;
    picture->jpeg_encode = (struct gf_jpeg_encode_picture){
        .in = *in,
        .quality = options->quality,
        .subsampling =
            perceptual ? gf_jpeg_perceptual_subsampling(options) : gf_subsampling_of(options),
        .perceptual = perceptual};
}

static void ask_for_png(struct gf_coder_picture *picture, const struct gf_view *in,
                        const struct gf_options *options, struct writing *writing)
{
    (void)options;
    picture->png_encode = (struct gf_png_encode_picture){
        .in = *in, .arrived = writing ? write_part : NULL, .context = writing};
}

static void ask_for_frame(struct gf_coder_picture *picture, const struct gf_view *in,
                          const struct gf_options *options, struct writing *writing)
{
    (void)options;
    picture->yuv_encode = (struct gf_yuv_encode_picture){.yuv = writing->sink->yuv, .in = *in};
}

static const struct encoder {
    enum gf_file_format file_format;
    enum gf_coder_kind kind;
    bool lossless; /* the encoded file may have as many bytes as the pixels */
    /* NULL: every format is encoded. */
    bool (*encodes)(struct gf_format format, const struct gf_options *options);
    void (*ask)(struct gf_coder_picture *picture, const struct gf_view *in,
                const struct gf_options *options, struct writing *writing);
} encoders[] = {{GF_FILE_JPEG, GF_CODER_JPEG_ENCODE, false, encodes_jpeg, ask_for_jpeg},
                {GF_FILE_PNG, GF_CODER_PNG_ENCODE, true, encodes_png, ask_for_png},
                {GF_FILE_Y4M, GF_CODER_YUV_ENCODE, true, NULL, ask_for_frame}};

static const struct encoder *encoder_of(enum gf_file_format file_format)
{
    for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++) {
        if (encoders[i].file_format == file_format)
            return &encoders[i];
    }
    return NULL;
}

bool gf_device_encodes(enum gf_file_format file_format, struct gf_format format,
                       const struct gf_options *options)
{
    const struct encoder *const encoder = encoder_of(file_format);
    return encoder && (!encoder->encodes || encoder->encodes(format, options));
}

uint64_t gf_device_encoded_bytes(enum gf_file_format file_format, struct gf_format format)
{
    const struct encoder *const encoder = encoder_of(file_format);
    return encoder && encoder->lossless ? (uint64_t)gf_row_bytes(format) * (uint64_t)format.height
                                        : 0;
}

void gf_device_encoder_prepare(struct gf_device_coders *coders, enum gf_file_format file_format)
{
    gf_device_coders_prepare(coders, encoder_of(file_format)->kind);
}

struct gf_coder_picture gf_device_encoding_work(enum gf_file_format file_format,
                                                const struct gf_image *image,
                                                const struct gf_options *options)
{
    const struct encoder *const encoder = encoder_of(file_format);
    const struct gf_view view = view_of(image);
    struct gf_coder_picture picture = {.kind = encoder->kind};
    encoder->ask(&picture, &view, options, NULL);
    return picture;
}

enum gf_status gf_device_encode(struct gf_device_coders *coders, enum gf_file_format file_format,
                                const struct gf_image *image, struct gf_sink *sink,
                                const struct gf_options *options, double *coded_s,
                                struct gf_error *error)
{
    const struct encoder *const encoder = encoder_of(file_format);
    const struct gf_view view = view_of(image);
    struct gf_coder_picture picture = {.kind = encoder->kind};
    struct writing writing = {.sink = sink};
    encoder->ask(&picture, &view, options, &writing);
    enum gf_status status = gf_device_coders_run(coders, &picture, error);
    *coded_s = gf_now();
    if (!status && !picture.done)
        status =
            gf_fail(error, GF_ERROR_DEVICE_MEMORY, "out of memory to encode a %s of %dx%d",
                    gf_file_type(file_format)->name, image->format.width, image->format.height);
    if (!status && writing.status) {
        status = writing.status;
        if (error)
            *error = writing.error;
    }
    GF_THEN(status, sink->splice(sink, picture.data + writing.written,
                                 picture.size - writing.written, true, error));
    gf_coder_picture_return(&picture);
    return status;
}
