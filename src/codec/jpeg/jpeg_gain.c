/* Finds the gain map behind a JPEG's end marker. */
#include "codec/jpeg/jpeg_gain.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/xmp.h"
#include "codec/jpeg/jpeg.h"
#include "codec/jpeg/jpeg_libjpeg.h"

/* Reads a picture that the index lists, or its first `most` bytes. The blob is empty if the place
 * is not in the file, or holds no JPEG. */
static enum gf_status read_picture(struct gf_input *input, int64_t offset, int64_t bytes,
                                   int64_t most, struct gf_blob *jpeg, struct gf_error *error)
{
    static const unsigned char begin[] = {0xff, 0xd8, 0xff};
    const int64_t size = gf_input_size(input);
    unsigned char head[sizeof begin];
    size_t got = 0;
    *jpeg = (struct gf_blob){0};
    if (offset <= 0 || offset >= size || bytes <= (int64_t)sizeof begin)
        return GF_OK;
    GF_TRY(gf_input_read_at(input, offset, head, sizeof head, &got, error));
    if (got < sizeof head || memcmp(head, begin, sizeof head) != 0)
        return GF_OK;
    bytes = bytes < size - offset ? bytes : size - offset;
    if (bytes > GF_METADATA_MAX)
        return GF_OK;
    bytes = bytes < most ? bytes : most;
    jpeg->data = malloc((size_t)bytes);
    if (!jpeg->data)
        return gf_fail_memory(error);
    return gf_input_read_at(input, offset, jpeg->data, (size_t)bytes, &jpeg->size, error);
}

/* A map of Apple may leave its headroom to the maker note of its picture. */
static enum gf_status add_headroom(const struct gf_jpeg_source *source, struct gf_blob *jpeg,
                                   struct gf_gain_map_facts *map, const char **why,
                                   struct gf_error *error)
{
    const double headroom =
        map->lacks_headroom ? gf_exif_apple_headroom(&source->base.metadata.exif) : 0;
    if (!headroom)
        return GF_OK;
    if (!gf_gain_map_add_headroom(jpeg, headroom))
        return gf_fail_memory(error);
    (void)gf_gain_map_read(jpeg, map, why);
    return GF_OK;
}

/* Finds the gain map among the pictures that the index lists or, without an index, before the end
 * of the file, by the lengths in the XMP. The caller frees the blob, which is empty if there is
 * none.
 */
static enum gf_status find_map(const struct gf_jpeg_source *source, int64_t most,
                               struct gf_blob *jpeg, struct gf_gain_map_facts *map,
                               const char **why, struct gf_error *error)
{
    const struct gf_mpf *const mpf = &source->mpf;
    const int listed = mpf->pictures < GF_MPF_LISTED ? mpf->pictures : GF_MPF_LISTED;
    const int64_t behind = gf_xmp_bytes_behind(&source->base.metadata.xmp);
    for (int i = 0; i < listed + !listed; i++) {
        GF_TRY(listed ? read_picture(source->input, source->mpf_place + mpf->picture[i].begin,
                                     mpf->picture[i].bytes, most, jpeg, error)
                      : read_picture(source->input, gf_input_size(source->input) - behind, behind,
                                     most, jpeg, error));
        if (jpeg->size && gf_gain_map_read(jpeg, map, why))
            return add_headroom(source, jpeg, map, why, error);
        free(jpeg->data);
        *jpeg = (struct gf_blob){0};
    }
    *why = mpf->pictures ? "none of the other pictures says that it is the gain map"
                         : "it is not where the file says";
    return GF_OK;
}

static bool has_map(const struct gf_metadata *metadata)
{
    return gf_metadata_kinds(metadata) & GF_KIND_GAIN_MAP || gf_xmp_names_gain_map(&metadata->xmp);
}

/* Counts a gain map among the pictures of the index that only itself says what it is, as Apple's
 * do: its first segments say it. */
static enum gf_status note_map(struct gf_source *source, struct gf_error *error)
{
    enum { SEGMENTS = 64 << 10 };
    struct gf_blob head = {0};
    struct gf_gain_map_facts map;
    const char *why;
    if (has_map(&source->metadata) || !(source->metadata.unread & GF_KIND_PICTURES))
        return GF_OK;
    const enum gf_status status =
        find_map((struct gf_jpeg_source *)source, SEGMENTS, &head, &map, &why, error);
    source->metadata.unread |= head.size ? GF_KIND_GAIN_MAP : 0;
    free(head.data);
    return status;
}

/* Uses the map as the options say. *why becomes the reason if it cannot be used. */
static enum gf_status use_map(const struct gf_options *options, struct gf_source **source,
                              struct gf_error *why, struct gf_error *error)
{
    struct gf_blob jpeg;
    struct gf_gain_map_facts map;
    const char *reason = NULL;
    enum gf_status status =
        find_map((struct gf_jpeg_source *)*source, INT64_MAX, &jpeg, &map, &reason, error);
    if (!status && reason)
        (void)gf_fail(why, GF_ERROR_INPUT, "%s", reason);
    if (!status && !reason && options->gain_map == GF_GAIN_MAP_KEEP) {
        (*source)->metadata.gain_map = jpeg;
        return GF_OK;
    }
    if (!status && !reason &&
        gf_jpeg_gain_apply(&jpeg, &map, options, source, why) == GF_ERROR_MEMORY)
        status = gf_fail_memory(error);
    free(jpeg.data);
    return status;
}

/* Whether the picture that is read is not the file's main one. */
static bool is_another(const struct gf_input *input)
{
    const int page = gf_input_page(input);
    return gf_input_is_part(input) || (page > 0 && gf_page_kind(page) != GF_PICTURE_MAIN);
}

/* Makes a stream an input with an end, since the map lies behind the picture. */
static enum gf_status take_whole(struct gf_input *input, const struct gf_options *options,
                                 struct gf_error *error)
{
    struct gf_input_loan loan;
    const enum gf_status status = gf_input_lend(
        input, options->memory_bytes ? options->memory_bytes : SIZE_MAX / 2, &loan, error);
    if (loan.descriptor >= 0)
        close(loan.descriptor);
    return status;
}

enum gf_status gf_jpeg_gain_open(struct gf_input *input, const struct gf_options *options,
                                 struct gf_source **source, struct gf_error *error)
{
    struct gf_error why = {.text = ""};
    enum gf_status status =
        options->gain_map && gf_input_size(input) < 0 ? take_whole(input, options, error) : GF_OK;
    if (!status)
        status = gf_jpeg_source_open(input, options, 0, source, error);
    if (status || is_another(input))
        return status;
    status = note_map(*source, error);
    if (!status && options->gain_map && has_map(&(*source)->metadata))
        status = use_map(options, source, &why, error);
    if (status) {
        (*source)->close(*source);
        *source = NULL;
    } else if (*why.text) {
        gf_warn(options, "%s: its gain map is left out: %s", gf_input_name(input), why.text);
    }
    return status;
}
