/* Reads PNM and PAM. The first part reads the headers and the numbers in their text. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "codec/common/byte_reader.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/source.h"

struct gf_pnm_header {
    char type; /* the digit of the magic number "P1" to "P7" */
    unsigned width, height, depth, maxval;
    char unknown_type[41]; /* the beginning of a TUPLTYPE that is not known; "": none */
};

static inline bool pnm_is_space(int byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

enum { LINE_BYTES = 512 };

/* Returns the next byte. A comment counts as the newline at its end. */
static int pnm_byte_outside_comments(struct gf_byte_reader *reader)
{
    int byte = gf_byte_next(reader);
    if (byte == '#') {
        while (byte != '\n' && byte != '\r' && byte != GF_NO_BYTE)
            byte = gf_byte_next(reader);
    }
    return byte;
}

/* Reads a decimal number and one byte of white space after it. */
static GF_CHECKED enum gf_status pnm_number(struct gf_byte_reader *reader, unsigned *number)
{
    const char *const name = gf_input_name(reader->input);
    int byte;
    do
        byte = pnm_byte_outside_comments(reader);
    while (pnm_is_space(byte));
    if (byte == GF_NO_BYTE)
        return gf_byte_fail_short(reader);
    uint64_t value = 0;
    int digits = 0;
    for (; byte >= '0' && byte <= '9'; byte = pnm_byte_outside_comments(reader), digits++) {
        value = value * 10 + (unsigned)(byte - '0');
        if (value > INT_MAX)
            return gf_fail(reader->error, GF_ERROR_INPUT, "%s: a number over %d", name, INT_MAX);
    }
    if (!digits || (byte != GF_NO_BYTE && !pnm_is_space(byte)))
        return gf_fail(reader->error, GF_ERROR_INPUT, "%s: byte 0x%02x where a number was expected",
                       name, byte);
    *number = (unsigned)value;
    return reader->status;
}

static enum gf_status read_pnm(struct gf_byte_reader *reader, struct gf_pnm_header *header)
{
    const bool bitmap = header->type == '1' || header->type == '4';
    header->depth = header->type == '3' || header->type == '6' ? 3 : 1;
    header->maxval = 1;
    GF_TRY(pnm_number(reader, &header->width));
    GF_TRY(pnm_number(reader, &header->height));
    if (!bitmap)
        GF_TRY(pnm_number(reader, &header->maxval));
    return GF_OK;
}

static enum gf_status read_line(struct gf_byte_reader *reader, char *line)
{
    size_t length = 0;
    *line = 0;
    for (;;) {
        const int byte = gf_byte_next(reader);
        if (byte == GF_NO_BYTE)
            return gf_byte_fail_short(reader);
        if (byte == '\n')
            break;
        const bool comment = *line == '#';
        const bool text = pnm_is_space(byte) || (byte >= ' ' && byte <= '~');
        if (!comment && (!text || length == LINE_BYTES - 1))
            return gf_fail(reader->error, GF_ERROR_INPUT, "%s: not a PAM header",
                           gf_input_name(reader->input));
        if (!comment)
            line[length++] = (char)byte;
    }
    while (length && pnm_is_space(line[length - 1]))
        length--;
    line[length] = 0;
    return GF_OK;
}

static enum gf_status read_field(const struct gf_byte_reader *reader, const char *line,
                                 struct gf_pnm_header *header, char *tuple_type)
{
    const struct {
        const char *name;
        unsigned *value;
    } fields[] = {{"WIDTH", &header->width},
                  {"HEIGHT", &header->height},
                  {"DEPTH", &header->depth},
                  {"MAXVAL", &header->maxval}};
    const size_t word = strcspn(line, " \t");
    const char *const text = line + word + strspn(line + word, " \t");
    if (word == 8 && !strncmp(line, "TUPLTYPE", word)) {
        strcpy(tuple_type, text);
        return GF_OK;
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strlen(fields[i].name) != word || strncmp(line, fields[i].name, word) != 0)
            continue;
        char *end;
        const unsigned long value = strtoul(text, &end, 10);
        if (*text < '0' || *text > '9' || *end || value > INT_MAX)
            break;
        *fields[i].value = (unsigned)value;
        return GF_OK;
    }
    return gf_fail(reader->error, GF_ERROR_INPUT, "%s: \"%.40s\" in a PAM header",
                   gf_input_name(reader->input), line);
}

/* Checks the type of the tuples. The depth decides what an unknown type means. Types with inks are
 * known, but not supported. */
static enum gf_status check_tuples(const struct gf_byte_reader *reader,
                                   struct gf_pnm_header *header, const char *tuple_type)
{
    enum { UNREAD = 0 };
    static const struct {
        const char *name;
        unsigned depth;
    } types[] = {{"BLACKANDWHITE", 1}, {"GRAYSCALE", 1},           {"RGB", 3},
                 {"RGB_ALPHA", 4},     {"BLACKANDWHITE_ALPHA", 2}, {"GRAYSCALE_ALPHA", 2},
                 {"CMYK", UNREAD},     {"CMYK_ALPHA", UNREAD}};
    const char *const name = gf_input_name(reader->input);
    if (header->depth < 1 || header->depth > 4)
        return gf_fail(reader->error, GF_ERROR_INPUT, "%s: DEPTH %u, where 1 to 4 is supported",
                       name, header->depth);
    for (size_t i = 0; *tuple_type && i < sizeof types / sizeof *types; i++) {
        if (strcmp(tuple_type, types[i].name) != 0)
            continue;
        if (types[i].depth == header->depth)
            return GF_OK;
        return gf_fail(reader->error, GF_ERROR_INPUT, "%s: TUPLTYPE %.40s with DEPTH %u", name,
                       tuple_type, header->depth);
    }
    snprintf(header->unknown_type, sizeof header->unknown_type, "%.40s", tuple_type);
    return GF_OK;
}

static enum gf_status read_pam(struct gf_byte_reader *reader, struct gf_pnm_header *header)
{
    char line[LINE_BYTES], tuple_type[LINE_BYTES] = "";
    for (;;) {
        GF_TRY(read_line(reader, line));
        if (!strcmp(line, "ENDHDR"))
            return check_tuples(reader, header, tuple_type);
        if (*line && *line != '#')
            GF_TRY(read_field(reader, line, header, tuple_type));
    }
}

/* Reads the whole header up to the first sample. It checks no number except the depth. */
static GF_CHECKED enum gf_status pnm_read_header(struct gf_byte_reader *reader,
                                                 struct gf_pnm_header *header)
{
    *header = (struct gf_pnm_header){0};
    gf_byte_next(reader); /* skips the "P"; gf_file_format_of() has checked both bytes */
    header->type = (char)gf_byte_next(reader);
    if (header->type != '7')
        return read_pnm(reader, header);
    gf_byte_next(reader); /* skips the newline behind "P7" */
    return read_pam(reader, header);
}

/* ---- reading the rows of PNM (P1 to P6) and PAM (P7), as netpbm's manual describes them ---- */

struct pnm_source {
    struct gf_source base;
    struct gf_options options;
    char type; /* the digit of the magic number "P1" to "P7" */
    unsigned maxval;
    uint16_t *scale;       /* table from a sample of the file to 8 or 16 bits; NULL: samples stay */
    unsigned char *packed; /* one row of P4, eight pixels in a byte */
    int width, height;     /* the size of the whole picture */
    int64_t data;          /* where its rows begin in the input */
    int at;                /* the window's first column; -1: all rows are read as they come */
    struct gf_byte_reader reader;
};

static const char *name_of(const struct pnm_source *pnm)
{
    return gf_input_name(pnm->reader.input);
}

static enum gf_status read_header(struct pnm_source *pnm)
{
    struct gf_error *const error = pnm->reader.error;
    static const char *const models[] = {"gray", "gray with alpha", "RGB", "RGB with alpha"};
    struct gf_pnm_header header;
    GF_TRY(pnm_read_header(&pnm->reader, &header));
    if (header.maxval < 1 || header.maxval > 65535)
        return gf_fail(error, GF_ERROR_INPUT, "%s: a maxval of %u is outside 1..65535",
                       name_of(pnm), header.maxval);
    GF_TRY(gf_size_check(name_of(pnm), header.width, header.height, &pnm->options, error));
    if (*header.unknown_type)
        gf_warn(&pnm->options, "%s: TUPLTYPE %s is unknown: it is read as %s by its DEPTH of %u",
                name_of(pnm), header.unknown_type, models[header.depth - 1], header.depth);
    pnm->type = header.type;
    pnm->maxval = header.maxval;
    pnm->base.format = (struct gf_format){.width = (int)header.width,
                                          .height = (int)header.height,
                                          .channels = (int)header.depth,
                                          .bits = header.maxval > 255 ? 16 : 8};
    while (header.maxval >> pnm->base.stored.bits)
        pnm->base.stored.bits++;
    pnm->width = pnm->base.format.width;
    pnm->reader.rows = pnm->height = pnm->base.format.height;
    return GF_OK;
}

static bool is_plain(const struct pnm_source *pnm)
{
    return pnm->type >= '1' && pnm->type <= '3';
}

/* Returns the number of bytes of a row in a binary file (P4 to P7). */
static size_t file_row_bytes(const struct pnm_source *pnm)
{
    return pnm->type == '4' ? ((size_t)pnm->width + 7) / 8
                            : (size_t)pnm->width * gf_pixel_bytes(pnm->base.format);
}

/* Refuses a regular file that is too short, before memory for its size is allocated. In the text
 * formats a sample takes at least two bytes, in P1 one. */
static enum gf_status check_length(const struct pnm_source *pnm)
{
    const struct gf_byte_reader *const reader = &pnm->reader;
    const struct gf_format format = pnm->base.format;
    const int64_t header = reader->bytes_read - (int64_t)(reader->end - reader->first);
    const int64_t left = gf_input_size(reader->input) - header;
    const int64_t samples = (int64_t)format.width * format.channels;
    const int64_t row = pnm->type == '1' ? samples
                        : is_plain(pnm)  ? 2 * samples
                                         : (int64_t)file_row_bytes(pnm);
    /* The last number of a plain text may lack the white space after it. */
    if (gf_input_size(reader->input) < 0 || row * format.height <= left + is_plain(pnm))
        return GF_OK;
    return gf_fail_truncated(reader->error, name_of(pnm), left / row, format.height);
}

static enum gf_status read_bytes(struct pnm_source *pnm, unsigned char *data, size_t size)
{
    struct gf_byte_reader *const reader = &pnm->reader;
    size_t got = reader->end - reader->first;
    got = got < size ? got : size;
    memcpy(data, reader->buffer + reader->first, got);
    reader->first += got;
    if (got == size)
        return GF_OK;
    size_t more;
    reader->status = gf_input_read(reader->input, data + got, size - got, &more, reader->error);
    if (reader->status || got + more == size)
        return reader->status;
    reader->row += (int)((got + more) / file_row_bytes(pnm));
    return gf_byte_fail_short(reader);
}

/* Reads the next bytes of rows: of a window, those of its columns in the next row, or in several
 * rows if it has all columns. */
static enum gf_status fetch(struct pnm_source *pnm, unsigned char *data, size_t size)
{
    struct gf_byte_reader *const reader = &pnm->reader;
    const size_t bits = pnm->type == '4' ? 1 : 8 * gf_pixel_bytes(pnm->base.format);
    size_t got;
    if (pnm->at < 0)
        return read_bytes(pnm, data, size);
    const int64_t row = pnm->data + (int64_t)file_row_bytes(pnm) * reader->row;
    GF_TRY(gf_input_read_at(reader->input, row + (int64_t)((size_t)pnm->at * bits / 8), data, size,
                            &got, reader->error));
    return got == size ? GF_OK : gf_byte_fail_short(reader);
}

GF_TARGET_CLONES static unsigned greatest8(const unsigned char *sample, size_t count)
{
    unsigned char greatest = 0;
    for (size_t i = 0; i < count; i++)
        greatest = sample[i] > greatest ? sample[i] : greatest;
    return greatest;
}

GF_TARGET_CLONES static unsigned greatest16(const uint16_t *sample, size_t count)
{
    uint16_t greatest = 0;
    for (size_t i = 0; i < count; i++)
        greatest = sample[i] > greatest ? sample[i] : greatest;
    return greatest;
}

static enum gf_status fail_sample(const struct pnm_source *pnm, unsigned sample)
{
    return gf_fail(pnm->reader.error, GF_ERROR_INPUT, "%s: sample %u over the maxval %u in row %d",
                   name_of(pnm), sample, pnm->maxval, pnm->reader.row + 1);
}

/* Scales a row from 0..maxval to 0..255 or 0..65535, in place. */
static enum gf_status scale_row(const struct pnm_source *pnm, unsigned char *row, size_t count)
{
    if (!pnm->scale)
        return GF_OK;
    uint16_t *const wide = (uint16_t *)(void *)row;
    const bool is_wide = pnm->base.format.bits == 16;
    const unsigned greatest = is_wide ? greatest16(wide, count) : greatest8(row, count);
    if (greatest > pnm->maxval)
        return fail_sample(pnm, greatest);
    for (size_t i = 0; i < count; i++) {
        if (is_wide)
            wide[i] = pnm->scale[wide[i]];
        else
            row[i] = (unsigned char)pnm->scale[row[i]];
    }
    return GF_OK;
}

static enum gf_status read_bits_row(struct pnm_source *pnm, unsigned char *row)
{
    const int first = pnm->at > 0 ? pnm->at % 8 : 0, end = first + pnm->base.format.width;
    GF_TRY(fetch(pnm, pnm->packed, ((size_t)end + 7) / 8));
    for (int x = first; x < end; x++)
        *row++ = pnm->packed[x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
    return GF_OK;
}

static enum gf_status read_plain_bits_row(struct pnm_source *pnm, unsigned char *row)
{
    for (int x = 0; x < pnm->base.format.width; x++) {
        int byte;
        do
            byte = pnm_byte_outside_comments(&pnm->reader);
        while (pnm_is_space(byte));
        if (byte == GF_NO_BYTE)
            return gf_byte_fail_short(&pnm->reader);
        if (byte != '0' && byte != '1')
            return gf_fail(pnm->reader.error, GF_ERROR_INPUT, "%s: neither 0 nor 1 in row %d",
                           name_of(pnm), pnm->reader.row + 1);
        row[x] = byte == '1' ? 0 : 255;
    }
    return GF_OK;
}

static enum gf_status read_plain_row(struct pnm_source *pnm, unsigned char *row)
{
    const size_t count = (size_t)pnm->base.format.width * (size_t)pnm->base.format.channels;
    uint16_t *const wide = (uint16_t *)(void *)row;
    for (size_t i = 0; i < count; i++) {
        unsigned sample;
        GF_TRY(pnm_number(&pnm->reader, &sample));
        if (sample > pnm->maxval)
            return fail_sample(pnm, sample);
        const unsigned scaled = pnm->scale ? pnm->scale[sample] : sample;
        if (pnm->base.format.bits == 16)
            wide[i] = (uint16_t)scaled;
        else
            row[i] = (unsigned char)scaled;
    }
    return GF_OK;
}

static enum gf_status read_binary_row(struct pnm_source *pnm, unsigned char *row)
{
    const struct gf_format format = pnm->base.format;
    const size_t count = (size_t)format.width * (size_t)format.channels;
    GF_TRY(fetch(pnm, row, gf_row_bytes(format)));
    if (format.bits == 16)
        gf_samples_big_endian(row, row, count);
    return scale_row(pnm, row, count);
}

static enum gf_status read_row(struct pnm_source *pnm, unsigned char *row)
{
    switch (pnm->type) {
    case '1':
        return read_plain_bits_row(pnm, row);
    case '2':
    case '3':
        return read_plain_row(pnm, row);
    case '4':
        return read_bits_row(pnm, row);
    default:
        return read_binary_row(pnm, row);
    }
}

/* Whether the bytes of the file's rows are those of the wanted rows. */
static bool is_as_wanted(const struct pnm_source *pnm)
{
    return pnm->type >= '5' && pnm->base.format.bits == 8 && !pnm->scale;
}

static enum gf_status pnm_read(struct gf_source *source, int rows, unsigned char *dst, size_t pitch,
                               struct gf_error *error)
{
    struct pnm_source *const pnm = (struct pnm_source *)source;
    const size_t row_bytes = gf_row_bytes(source->format);
    enum gf_status status = GF_OK;
    pnm->reader.error = error;
    if (is_as_wanted(pnm) && pitch == row_bytes && source->format.width == pnm->width) {
        status = fetch(pnm, dst, row_bytes * (size_t)rows);
        pnm->reader.row += status ? 0 : rows;
        return status;
    }
    for (int y = 0; !status && y < rows; y++) {
        status = read_row(pnm, dst + (size_t)y * pitch);
        pnm->reader.row += !status;
    }
    return status;
}

/* check_length() has checked that a regular file has all rows. */
static enum gf_status pnm_window(struct gf_source *source, struct gf_rectangle window, int more,
                                 struct gf_error *error)
{
    struct pnm_source *const pnm = (struct pnm_source *)source;
    pnm->at = window.x;
    pnm->reader.row = window.y;
    source->format.width = window.width;
    source->format.height = window.height;
    return GF_OK;
}

/* Returns bytes that were read ahead to the input, because they may belong to the next picture. */
static enum gf_status pnm_finish(struct gf_source *source, struct gf_error *error)
{
    const struct pnm_source *const pnm = (struct pnm_source *)source;
    struct gf_byte_reader *const reader = &((struct pnm_source *)source)->reader;
    const size_t left = reader->end - reader->first;
    reader->end = reader->first;
    if (pnm->at >= 0) {
        gf_input_go_to(reader->input, pnm->data + (int64_t)file_row_bytes(pnm) * pnm->height);
        return GF_OK;
    }
    return gf_input_give_back(reader->input, reader->buffer + reader->first, left, error);
}

static void pnm_close(struct gf_source *source)
{
    struct pnm_source *const pnm = (struct pnm_source *)source;
    gf_metadata_free(&source->metadata);
    free(pnm->scale);
    free(pnm->packed);
    free(pnm);
}

static enum gf_status prepare_rows(struct pnm_source *pnm)
{
    const unsigned most = pnm->base.format.bits == 16 ? 65535 : 255;
    if (pnm->type == '4')
        pnm->packed = malloc(file_row_bytes(pnm));
    else if (pnm->type != '1' && pnm->maxval != most)
        pnm->scale = malloc((pnm->maxval + 1) * sizeof *pnm->scale);
    else
        return GF_OK;
    if (!pnm->packed && !pnm->scale)
        return gf_fail(pnm->reader.error, GF_ERROR_MEMORY, "out of memory");
    for (uint64_t v = 0; pnm->scale && v <= pnm->maxval; v++)
        pnm->scale[v] = (uint16_t)((2 * v * most + pnm->maxval) / (2 * pnm->maxval));
    return GF_OK;
}

enum gf_status gf_pnm_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    struct pnm_source *const pnm = malloc(sizeof *pnm);
    GF_ALLOCATED(pnm, error);
    memset(pnm, 0, offsetof(struct pnm_source, reader.buffer));
    pnm->base = (struct gf_source){.metadata = {.orientation = 1},
                                   .read = pnm_read,
                                   .window = pnm_window,
                                   .finish = pnm_finish,
                                   .close = pnm_close};
    pnm->reader.input = input;
    pnm->reader.error = error;
    pnm->options = *options;
    gf_input_set_threads(input, gf_codec_threads(options));
    enum gf_status status = read_header(pnm);
    GF_THEN(status, check_length(pnm));
    pnm->at = -1;
    pnm->data = gf_input_position(input) - (int64_t)(pnm->reader.end - pnm->reader.first);
    GF_THEN(status, prepare_rows(pnm));
    if (status) {
        pnm_close(&pnm->base);
        return status;
    }
    if (is_plain(pnm) || gf_input_size(input) < 0)
        pnm->base.window =
            NULL; /* rows as text, and those of a stream, are read from the first on */
    *source = &pnm->base;
    return GF_OK;
}
