#include "codec/cell/process.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/image.h"
#include "base/process/process.h"

static const size_t sizes[] = {
    [GF_CELL_READY] = sizeof(struct gf_cell_ready),
    [GF_CELL_OPEN] = sizeof(struct gf_cell_open),
    [GF_CELL_HEADER] = sizeof(struct gf_cell_header),
    [GF_CELL_ASK] = sizeof(struct gf_cell_ask),
    [GF_CELL_DONE] = sizeof(struct gf_cell_done),
    [GF_CELL_WARNING] = sizeof(struct gf_cell_warning),
    [GF_CELL_PROFILE] = sizeof(struct gf_cell_profile),
    [GF_CELL_TABLES] = sizeof(struct gf_cell_tables),
    [GF_CELL_FORK] = sizeof(struct gf_cell_child),
    [GF_CELL_END] = sizeof(struct gf_cell_child),
    [GF_CELL_CHILD] = sizeof(struct gf_cell_child),
};

void gf_cell_prepare(union gf_cell_message *message, enum gf_cell_type type)
{
    memset(message, 0, sizes[type]);
    message->head = (struct gf_cell_head){GF_CELL_VERSION, type, (uint32_t)sizes[type]};
}

void gf_cell_answer(const union gf_cell_message *message)
{
    if (!gf_socket_send(GF_CELL_SOCKET, message, message->head.size, NULL, 0, 0))
        _exit(0); /* the program has ended */
}

/* ---- checks of messages from a cell, the confined process that decodes (cell.h) ---- */

static bool ends(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

/* Whether the status is one that a decoder may report. Other statuses would make the program decode
 * the picture again or in another place. */
static bool is_status(uint32_t status)
{
    return status == GF_OK || status == GF_ERROR_INPUT || status == GF_ERROR_UNFIT ||
           status == GF_ERROR_READ || status == GF_ERROR_LIBRARY || status == GF_ERROR_MEMORY;
}

static bool is_measure(double number)
{
    return isfinite(number) && number >= 0;
}

/* Whether the blobs and texts are as short as metadata must be; then they fit into a half of the
 * shared memory. */
static bool sizes_are_good(const struct gf_cell_header *header)
{
    uint64_t texts = 0;
    bool good = header->texts <= GF_TEXTS_MOST;
    for (int i = 0; i < GF_CELL_BLOBS; i++)
        good &= header->blob[i] <= GF_METADATA_MAX;
    for (uint32_t i = 0; good && i < header->texts; i++) {
        good &= header->text[i][0] <= GF_METADATA_MAX && header->text[i][1] <= GF_METADATA_MAX;
        texts += header->text[i][0] + header->text[i][1];
    }
    return good && texts <= 2 * (uint64_t)GF_METADATA_MAX;
}

/* Whether the levels become smaller one after another, and the first is the picture itself. */
static bool levels_are_good(const struct gf_cell_header *header)
{
    const struct gf_level *const level = header->level;
    bool good = header->levels >= 0 && header->levels <= GF_LEVELS_MOST && header->levels != 1;
    for (int i = 0; good && i < header->levels; i++)
        good = level[i].width >= 1 && level[i].height >= 1 && level[i].tiles >= 0 &&
               (i ? level[i].divisor > level[i - 1].divisor && level[i].width <= header->width &&
                        level[i].height <= header->height
                  : level[i].divisor == 1);
    return good;
}

static bool header_is_good(const struct gf_cell_header *header)
{
    const struct gf_format format = {.width = header->width,
                                     .height = header->height,
                                     .channels = header->channels,
                                     .bits = header->bits,
                                     .samples = (enum gf_samples)header->samples};
    const uint32_t flags = header->samples | header->is_float | header->for_device_codec |
                           header->for_device_batch | header->has_stripes | header->finishes |
                           header->leaves | header->has_cicp | header->has_srgb |
                           header->has_gamma | header->has_chromaticities | header->has_mdcv |
                           header->has_clli | header->is_animation | header->is_lossless |
                           header->has_next | header->renews | header->density_is_ratio |
                           header->has_window,
                   reduction = header->most_reduction;
    const bool told = is_status(header->status) && ends(header->why, sizeof header->why) &&
                      ends(header->error, sizeof header->error);
    if (!told || header->status)
        return told;
    return !gf_format_check(format, "", NULL) && gf_row_bytes(format) <= GF_CELL_HALF &&
           (!header->coefficients.components ||
            (header->finishes && gf_coefficients_check(&header->coefficients) &&
             gf_coefficients_row_bytes(&header->coefficients, format.width) <= GF_CELL_HALF)) &&
           header->pages >= 0 && header->stored_bits >= 0 && header->stored_bits <= 64 &&
           header->stored_colour <= GF_STORED_XTRANS && ends(header->kind, sizeof header->kind) &&
           header->memory_bytes < (uint64_t)1 << 60 && flags <= 1 && reduction <= 8 &&
           !(reduction & (reduction - 1)) && header->intent <= 3 && is_measure(header->density_x) &&
           is_measure(header->density_y) && is_measure(header->seconds) &&
           header->orientation >= 1 && header->orientation <= 8 &&
           header->unread < 2 * GF_KIND_AUXILIARY && levels_are_good(header) &&
           sizes_are_good(header);
}

static bool open_is_good(const struct gf_cell_open *open)
{
    return open->max_pixels && open->offset >= 0 && open->size > 0 &&
           open->size <= INT64_MAX - open->offset && open->page >= -1 && open->last_page >= -1 &&
           open->threads >= 1 && open->threads <= GF_THREADS_MAX &&
           open->inks_bytes <= GF_CELL_HALF &&
           (open->serial | open->autorotate | open->allow_truncated | open->headers_only |
            open->range_percentile | open->coefficients) <= 1 &&
           open->gain_map <= GF_GAIN_MAP_APPLY && open->range_low <= open->range_high &&
           ends(open->name, sizeof open->name) && ends(open->inks, sizeof open->inks);
}

static bool done_is_good(const struct gf_cell_done *done)
{
    return is_status(done->status) && done->position >= 0 && done->found <= 1 &&
           done->memory_bytes < (uint64_t)1 << 60 && done->blocks >= 0 &&
           ends(done->error, sizeof done->error);
}

static bool profile_is_good(const struct gf_cell_profile *profile)
{
    return profile->from_bytes <= GF_CELL_HALF &&
           profile->to_bytes <= GF_CELL_HALF - profile->from_bytes &&
           (profile->is_question | profile->black_point) <= 1;
}

static bool tables_are_good(const struct gf_cell_tables *tables)
{
    return is_status(tables->status) && tables->is_sound <= 1 && tables->bytes <= GF_CELL_HALF &&
           ends(tables->error, sizeof tables->error);
}

enum gf_cell_type gf_cell_check(const union gf_cell_message *message, size_t size)
{
    if (size < sizeof message->head || message->head.version != GF_CELL_VERSION ||
        message->head.type < GF_CELL_READY || message->head.type > GF_CELL_CHILD ||
        message->head.size != size || size != sizes[message->head.type])
        return 0;
    const enum gf_cell_type type = (enum gf_cell_type)message->head.type;
    bool good = true;
    if (type == GF_CELL_READY)
        good = message->ready.status < GF_STATUS_COUNT &&
               ends(message->ready.why, sizeof message->ready.why);
    else if (type == GF_CELL_OPEN)
        good = open_is_good(&message->open);
    else if (type == GF_CELL_HEADER)
        good = header_is_good(&message->header);
    else if (type == GF_CELL_ASK)
        good = message->ask.wish <= GF_CELL_CLOSE && message->ask.half <= 1 &&
               message->ask.number >= 0 && message->ask.end >= 0 && message->ask.x >= 0 &&
               message->ask.y >= 0 && message->ask.width >= 0 && message->ask.height >= 0;
    else if (type == GF_CELL_DONE)
        good = done_is_good(&message->done);
    else if (type == GF_CELL_PROFILE)
        good = profile_is_good(&message->profile);
    else if (type == GF_CELL_TABLES)
        good = tables_are_good(&message->tables);
    else if (type >= GF_CELL_FORK)
        good = message->child.status < GF_STATUS_COUNT && message->child.process >= 0 &&
               ends(message->child.why, sizeof message->child.why);
    else
        good = ends(message->warning.text, sizeof message->warning.text);
    return good ? type : 0;
}

/* ---- headers of pictures, written by a cell and read by the program ---- */

/* Calls X for each colour tag that struct gf_cell_header and struct gf_colour_tags have under the
 * same name. */
#define TAGS(X) \
    X(has_cicp) \
    X(has_srgb) X(has_gamma) X(has_chromaticities) X(has_mdcv) X(has_clli) X(intent) X(gamma)

static void put(const struct gf_blob *blob, uint64_t *size, unsigned char *shared, size_t *at)
{
    *size = blob->size;
    if (blob->size)
        memcpy(shared + *at, blob->data, blob->size);
    *at += blob->size;
}

void gf_cell_write_header(const struct gf_source *source, struct gf_cell_header *header,
                          unsigned char *shared)
{
    const struct gf_metadata *const metadata = &source->metadata;
    const struct gf_colour_tags *const tags = &metadata->colour;
    const struct gf_blob *const blob[GF_CELL_BLOBS] = {
        &metadata->icc,  &metadata->exif,     &metadata->xmp, &metadata->palette,
        &metadata->iptc, &metadata->gain_map, &metadata->geo};
    size_t at = 0;
    header->width = source->format.width;
    header->height = source->format.height;
    header->channels = source->format.channels;
    header->bits = source->format.bits;
    header->samples = source->format.samples;
    header->pages = source->stored.pages;
    header->stored_bits = source->stored.bits;
    header->stored_colour = source->stored.colour;
    header->is_float = source->stored.is_float;
    header->is_animation = source->stored.is_animation;
    header->is_lossless = source->stored.is_lossless;
    header->seconds = source->stored.seconds;
    header->has_next = source->next != NULL;
    header->renews = source->renews;
    header->loops = source->metadata.loops;
    header->duration = source->duration;
    memcpy(header->kind, source->stored.kind, sizeof header->kind);
    memcpy(header->pictures, source->stored.pictures, sizeof header->pictures);
    header->memory_bytes = source->memory.bytes;
    snprintf(header->why, sizeof header->why, "%s", source->memory.why ? source->memory.why : "");
    header->for_device_codec = source->for_device_codec;
    header->for_device_batch = source->for_device_batch;
    header->has_stripes = source->has_stripes;
    if (source->coded)
        header->coded = *source->coded;
    if (source->tiles)
        header->tiles = *source->tiles;
    if (source->coefficients)
        header->coefficients = *source->coefficients;
    header->most_reduction = (uint32_t)source->most_reduction;
    header->levels = source->levels;
    memcpy(header->level, source->level, sizeof header->level);
    header->finishes = source->finish != NULL;
    header->leaves = source->leave != NULL;
    header->has_window = source->window != NULL;
#define WRITE(member) header->member = tags->member;
    TAGS(WRITE)
#undef WRITE
    memcpy(header->cicp, tags->cicp, sizeof header->cicp);
    memcpy(header->mdcv, tags->mdcv, sizeof header->mdcv);
    memcpy(header->clli, tags->clli, sizeof header->clli);
    memcpy(header->chromaticity, tags->chromaticity, sizeof header->chromaticity);
    header->density_x = metadata->density_x;
    header->density_y = metadata->density_y;
    header->density_is_ratio = metadata->density_is_ratio;
    header->orientation = metadata->orientation;
    header->unread = metadata->unread;
    header->texts = (uint32_t)metadata->texts.count;
    for (int i = 0; i < GF_CELL_BLOBS; i++)
        put(blob[i], &header->blob[i], shared, &at);
    for (int i = 0; i < metadata->texts.count; i++) {
        put(&metadata->texts.item[i].head, &header->text[i][0], shared, &at);
        put(&metadata->texts.item[i].text, &header->text[i][1], shared, &at);
    }
}

/* Adds a text if its head has the form that struct gf_text describes, else leaves it out. `bytes`,
 * the head and then the text, are the program's own copy. */
static bool add_text(struct gf_texts *texts, const unsigned char *bytes, size_t head_size,
                     size_t size)
{
    bool left_out = false;
    size_t zeros = 0;
    for (size_t i = 0; i < head_size; i++)
        zeros += !bytes[i];
    if (!head_size)
        return gf_texts_add_comment(texts, bytes, size, &left_out);
    return zeros != 3 || bytes[head_size - 1] ||
           gf_texts_add(texts, bytes, head_size, bytes + head_size, size, &left_out);
}

/* Reads the texts from the shared memory. Each is copied before it is checked, because the cell can
 * change the memory at any time. */
static bool read_texts(const struct gf_cell_header *header, const unsigned char *shared,
                       struct gf_texts *texts)
{
    bool done = true;
    for (uint32_t i = 0; done && i < header->texts; i++) {
        const size_t head = (size_t)header->text[i][0], size = (size_t)header->text[i][1];
        struct gf_blob copy = {0};
        done = gf_blob_set(&copy, shared, head + size) && add_text(texts, copy.data, head, size);
        free(copy.data);
        shared += head + size;
    }
    return done;
}

static bool read_blobs(const struct gf_cell_header *header, const unsigned char *shared,
                       struct gf_metadata *metadata)
{
    struct gf_blob copy[GF_CELL_BLOBS] = {0};
    bool done = true;
    for (int i = 0; i < GF_CELL_BLOBS; i++) {
        done = done && gf_blob_set(&copy[i], shared, (size_t)header->blob[i]);
        shared += header->blob[i];
    }
    /* EXIF and IPTC are added by the functions that also check them in files. */
    done = done && gf_metadata_add_exif(metadata, copy[1].data, copy[1].size) &&
           gf_metadata_add_photoshop(metadata, copy[4].data, copy[4].size);
    free(copy[1].data);
    free(copy[4].data);
    metadata->icc = copy[0];
    metadata->xmp = copy[2];
    metadata->palette = copy[3];
    metadata->gain_map = copy[5];
    metadata->geo = copy[6];
    if (metadata->palette.size % 4 || metadata->palette.size > (size_t)4 * 256) {
        free(metadata->palette.data);
        metadata->palette = (struct gf_blob){0};
    }
    return done && read_texts(header, shared, &metadata->texts);
}

enum gf_status gf_cell_read_header(const struct gf_cell_header *header, const unsigned char *shared,
                                   struct gf_source *source, struct gf_error *error)
{
    struct gf_metadata *const metadata = &source->metadata;
    struct gf_colour_tags *const tags = &metadata->colour;
    source->format = (struct gf_format){.width = header->width,
                                        .height = header->height,
                                        .channels = header->channels,
                                        .bits = header->bits,
                                        .samples = (enum gf_samples)header->samples};
    source->stored = (struct gf_stored){.pages = header->pages,
                                        .bits = header->stored_bits,
                                        .colour = (enum gf_stored_colour)header->stored_colour,
                                        .is_float = header->is_float,
                                        .is_animation = header->is_animation,
                                        .is_lossless = header->is_lossless,
                                        .seconds = header->seconds};
    source->duration = header->duration;
    source->renews = header->renews;
    memcpy(source->stored.kind, header->kind, sizeof header->kind);
    memcpy(source->stored.pictures, header->pictures, sizeof header->pictures);
    source->memory.bytes = header->memory_bytes;
    source->for_device_codec = header->for_device_codec;
    source->for_device_batch = header->for_device_batch;
    source->has_stripes = header->has_stripes;
    source->levels = header->levels;
    memcpy(source->level, header->level, sizeof header->level);
#define READ(member) tags->member = header->member;
    TAGS(READ)
#undef READ
    memcpy(tags->cicp, header->cicp, sizeof tags->cicp);
    memcpy(tags->mdcv, header->mdcv, sizeof tags->mdcv);
    memcpy(tags->clli, header->clli, sizeof tags->clli);
    memcpy(tags->chromaticity, header->chromaticity, sizeof tags->chromaticity);
    const bool read = read_blobs(header, shared, metadata);
    metadata->density_x = header->density_x;
    metadata->density_y = header->density_y;
    metadata->density_is_ratio = header->density_is_ratio;
    metadata->orientation = header->orientation;
    metadata->loops = header->loops;
    metadata->unread = header->unread;
    return read ? GF_OK : gf_fail_memory(error);
}
