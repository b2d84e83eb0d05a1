#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/io/input.h"
#include "codec/pnm/pnm_header.h"

enum { LINE_BYTES = 512 };

int gf_pnm_refill(struct gf_pnm_reader *reader)
{
    reader->first = reader->end = 0;
    reader->status = gf_input_read_some(reader->input, reader->buffer, GF_PNM_BUFFER, &reader->end,
                                        reader->error);
    reader->bytes_read += (int64_t)reader->end;
    return !reader->status && reader->end ? reader->buffer[reader->first++] : GF_PNM_END;
}

int gf_pnm_byte_outside_comments(struct gf_pnm_reader *reader)
{
    int byte = gf_pnm_byte(reader);
    if (byte == '#') {
        while (byte != '\n' && byte != '\r' && byte != GF_PNM_END)
            byte = gf_pnm_byte(reader);
    }
    return byte;
}

enum gf_status gf_pnm_fail_short(const struct gf_pnm_reader *reader)
{
    if (reader->status)
        return reader->status;
    return gf_fail_truncated(reader->error, gf_input_name(reader->input),
                             reader->rows ? reader->row : -1, reader->rows);
}

enum gf_status gf_pnm_number(struct gf_pnm_reader *reader, unsigned *number)
{
    const char *const name = gf_input_name(reader->input);
    int byte;
    do
        byte = gf_pnm_byte_outside_comments(reader);
    while (gf_pnm_is_space(byte));
    if (byte == GF_PNM_END)
        return gf_pnm_fail_short(reader);
    uint64_t value = 0;
    int digits = 0;
    for (; byte >= '0' && byte <= '9'; byte = gf_pnm_byte_outside_comments(reader), digits++) {
        value = value * 10 + (unsigned)(byte - '0');
        if (value > INT_MAX)
            return gf_fail(reader->error, GF_ERROR_INPUT, "%s: a number over %d", name, INT_MAX);
    }
    if (!digits || (byte != GF_PNM_END && !gf_pnm_is_space(byte)))
        return gf_fail(reader->error, GF_ERROR_INPUT, "%s: byte 0x%02x where a number was expected",
                       name, byte);
    *number = (unsigned)value;
    return reader->status;
}

static enum gf_status read_pnm(struct gf_pnm_reader *reader, struct gf_pnm_header *header)
{
    const bool bitmap = header->type == '1' || header->type == '4';
    header->depth = header->type == '3' || header->type == '6' ? 3 : 1;
    header->maxval = 1;
    GF_TRY(gf_pnm_number(reader, &header->width));
    GF_TRY(gf_pnm_number(reader, &header->height));
    if (!bitmap)
        GF_TRY(gf_pnm_number(reader, &header->maxval));
    return GF_OK;
}

static enum gf_status read_line(struct gf_pnm_reader *reader, char *line)
{
    size_t length = 0;
    *line = 0;
    for (;;) {
        const int byte = gf_pnm_byte(reader);
        if (byte == GF_PNM_END)
            return gf_pnm_fail_short(reader);
        if (byte == '\n')
            break;
        const bool comment = *line == '#';
        const bool text = gf_pnm_is_space(byte) || (byte >= ' ' && byte <= '~');
        if (!comment && (!text || length == LINE_BYTES - 1))
            return gf_fail(reader->error, GF_ERROR_INPUT, "%s: not a PAM header",
                           gf_input_name(reader->input));
        if (!comment)
            line[length++] = (char)byte;
    }
    while (length && gf_pnm_is_space(line[length - 1]))
        length--;
    line[length] = 0;
    return GF_OK;
}

static enum gf_status read_field(const struct gf_pnm_reader *reader, const char *line,
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

/* Checks the type of the tuples. One that is unknown means what the depth says; inks are known, and
 * not read. */
static enum gf_status check_tuples(const struct gf_pnm_reader *reader, struct gf_pnm_header *header,
                                   const char *tuple_type)
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

static enum gf_status read_pam(struct gf_pnm_reader *reader, struct gf_pnm_header *header)
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

enum gf_status gf_pnm_read_header(struct gf_pnm_reader *reader, struct gf_pnm_header *header)
{
    *header = (struct gf_pnm_header){0};
    gf_pnm_byte(reader); /* gf_file_format_of has checked both bytes */
    header->type = (char)gf_pnm_byte(reader);
    if (header->type != '7')
        return read_pnm(reader, header);
    gf_pnm_byte(reader); /* the newline */
    return read_pam(reader, header);
}
