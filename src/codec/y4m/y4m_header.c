#include "codec/y4m/y4m_header.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"

enum gf_status gf_y4m_read_line(struct gf_input *input, char line[GF_Y4M_LINE_MOST], size_t *length,
                                struct gf_error *error)
{
    const char *const name = gf_input_name(input);
    for (*length = 0; *length < GF_Y4M_LINE_MOST; ++*length) {
        size_t got;
        GF_TRY(gf_input_read(input, line + *length, 1, &got, error));
        if (!got && *length)
            return gf_fail_truncated(error, name, -1, 0);
        if (!got || line[*length] == '\n') {
            line[*length] = '\0';
            return GF_OK;
        }
        if (line[*length] < ' ' || line[*length] > '~')
            break;
    }
    return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: a line of a Y4M is no line of text", name);
}

/* ---- the chroma ---- */

/* The words of the parameter C. A word of more bits follows with "p10", and mono with "10". */
static const struct {
    const char *word;
    bool mono, half_width, half_height, takes_bits;
    enum gf_yuv_siting siting, siting_of_words;
} kinds[] = {{"420jpeg", false, true, true, false, GF_YUV_CENTRE, GF_YUV_CENTRE},
             {"420mpeg2", false, true, true, false, GF_YUV_LEFT, GF_YUV_LEFT},
             {"420paldv", false, true, true, false, GF_YUV_TOP_LEFT, GF_YUV_TOP_LEFT},
             {"420", false, true, true, true, GF_YUV_CENTRE, GF_YUV_LEFT},
             {"422", false, true, false, true, GF_YUV_LEFT, GF_YUV_LEFT},
             {"444", false, false, false, true, GF_YUV_CENTRE, GF_YUV_CENTRE},
             {"mono", true, false, false, true, GF_YUV_CENTRE, GF_YUV_CENTRE}};

/* Reads what follows a word: nothing, or the number of bits. Returns 0 if it is neither. */
static int bits_of(const char *rest, bool mono)
{
    char *end;
    if (!*rest)
        return 8;
    if (!mono && *rest++ != 'p')
        return 0;
    const long bits = isdigit((unsigned char)*rest) ? strtol(rest, &end, 10) : 0;
    return bits > 8 && bits <= 16 && !*end ? (int)bits : 0;
}

static bool set_chroma(const char *word, struct gf_yuv *yuv)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].word);
        const char *const rest = word + length;
        if (strncasecmp(word, kinds[i].word, length) != 0 || (*rest && !kinds[i].takes_bits))
            continue;
        yuv->bits = bits_of(rest, kinds[i].mono);
        yuv->mono = kinds[i].mono;
        yuv->half_width = kinds[i].half_width;
        yuv->half_height = kinds[i].half_height;
        yuv->siting = yuv->bits > 8 ? kinds[i].siting_of_words : kinds[i].siting;
        return yuv->bits;
    }
    return false;
}

/* ---- the header ---- */

/* Returns the next parameter from *at, cut off by a zero, and moves *at behind it. Returns NULL at
 * the end. */
static char *next_parameter(char **at)
{
    char *parameter;
    do
        parameter = strsep(at, " ");
    while (parameter && !*parameter);
    return parameter;
}

static enum gf_status fail_parameter(const char *name, const char *parameter,
                                     struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_INPUT, "%s: '%.40s' in the header of a Y4M is not supported",
                   name, parameter);
}

static bool set_side(const char *text, int *side)
{
    char *end;
    const unsigned long value = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
    *side = value > INT32_MAX ? INT32_MAX : (int)value; /* which gf_size_check() refuses */
    return value && !*end;
}

/* Whether the text is two numbers with a colon between them. */
static bool is_ratio(const char *text)
{
    const size_t first = strspn(text, "0123456789");
    const size_t second = text[first] == ':' ? strspn(text + first + 1, "0123456789") : 0;
    return first && second && !text[first + 1 + second];
}

static bool set_parameter(const char *parameter, struct gf_yuv *yuv, bool *has_chroma,
                          bool *has_range)
{
    const char *const value = parameter + 1;
    switch (*parameter) {
    case 'W':
        return set_side(value, &yuv->width);
    case 'H':
        return set_side(value, &yuv->height);
    case 'C':
        *has_chroma = true;
        return set_chroma(value, yuv);
    case 'F':
    case 'A':
        return is_ratio(value);
    case 'I':
        yuv->interlaced = *value && strchr("tbm", *value);
        return *value && strchr("ptbm?", *value) && !value[1];
    case 'X':
        if (!strncmp(value, "YSCSS=", 6) && !*has_chroma) /* of old programs, which write no C */
            return set_chroma(value + 6, yuv);
        *has_range |= !strncmp(value, "COLORRANGE=", 11);
        yuv->full |= !strcmp(value, "COLORRANGE=FULL");
        return true;
    default:
        return true;
    }
}

enum gf_status gf_y4m_parse(const char *header, const char *name, struct gf_yuv *yuv,
                            struct gf_error *error)
{
    enum { HD_HEIGHT = 720 };
    char copy[GF_Y4M_LINE_MOST], *at = copy, *parameter;
    bool has_chroma = false, has_range = false;
    snprintf(copy, sizeof copy, "%s", header);
    *yuv = (struct gf_yuv){.width = 0};
    (void)set_chroma("420jpeg", yuv); /* what a header without C means */
    parameter = next_parameter(&at);
    if (!parameter || strncmp(parameter, GF_Y4M_MAGIC, sizeof GF_Y4M_MAGIC - 2) != 0)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: the header of a Y4M is missing", name);
    while ((parameter = next_parameter(&at)) != NULL) {
        if (!set_parameter(parameter, yuv, &has_chroma, &has_range))
            return fail_parameter(name, parameter, error);
    }
    if (!yuv->width || !yuv->height)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: the header of a Y4M states no size",
                       name);
    yuv->full |= yuv->mono && !has_range;
    yuv->matrix = yuv->height < HD_HEIGHT ? GF_YUV_BT601 : GF_YUV_BT709;
    return GF_OK;
}

void gf_y4m_choose(const struct gf_options *options, struct gf_yuv *yuv)
{
    static const enum gf_yuv_matrix matrices[] = {[GF_YUV_ITEM_BT601] = GF_YUV_BT601,
                                                  [GF_YUV_ITEM_BT709] = GF_YUV_BT709,
                                                  [GF_YUV_ITEM_BT2020] = GF_YUV_BT2020};
    for (int item = GF_YUV_ITEM_BT601; item <= GF_YUV_ITEM_BT2020; item++)
        yuv->matrix = options->yuv >> item & 1 ? matrices[item] : yuv->matrix;
    if (options->yuv >> GF_YUV_ITEM_LIMITED)
        yuv->full = options->yuv >> GF_YUV_ITEM_FULL;
}

enum gf_status gf_y4m_check_frame(const char *line, const char *name, struct gf_error *error)
{
    return !strncmp(line, "FRAME", 5) && (!line[5] || line[5] == ' ')
               ? GF_OK
               : gf_fail(error, GF_ERROR_INPUT,
                         "%s: damaged: '%.20s' where the next frame should begin", name, line);
}

/* ---- a new header ---- */

static void add(char *line, const char *parameter)
{
    const size_t length = strlen(line);
    snprintf(line + length, GF_Y4M_LINE_MOST - length, "%s%s", length ? " " : "", parameter);
}

void gf_y4m_put_range(const struct gf_options *options, char *header)
{
    char copy[GF_Y4M_LINE_MOST], *at = copy, *parameter;
    if (!(options->yuv >> GF_YUV_ITEM_LIMITED))
        return;
    snprintf(copy, sizeof copy, "%s", header);
    *header = '\0';
    while ((parameter = next_parameter(&at)) != NULL) {
        if (strncmp(parameter, "XCOLORRANGE=", 12) != 0)
            add(header, parameter);
    }
    add(header, options->yuv >> GF_YUV_ITEM_FULL ? "XCOLORRANGE=FULL" : "XCOLORRANGE=LIMITED");
}

/* Makes the parameter of chroma. */
static void put_chroma(bool gray, int bits, const struct gf_options *options, char text[24])
{
    const enum gf_subsampling subsampling = gf_subsampling_of(options);
    const char *const word = gray                                ? "mono"
                             : subsampling == GF_SUBSAMPLING_444 ? "444"
                             : subsampling == GF_SUBSAMPLING_422 ? "422"
                             : bits > 8                          ? "420"
                                                                 : "420jpeg";
    if (bits > 8)
        snprintf(text, 24, "C%s%s%d", word, gray ? "" : "p", bits);
    else
        snprintf(text, 24, "C%s", word);
}

/* Whether the chroma of the header stays. */
static bool keeps_chroma(const struct gf_yuv *yuv, bool gray, const struct gf_options *options)
{
    const bool half_width = options->subsampling != GF_SUBSAMPLING_444,
               half_height = options->subsampling == GF_SUBSAMPLING_420;
    if (yuv->mono)
        return gray;
    return options->subsampling == GF_SUBSAMPLING_AUTO ||
           (yuv->half_width == half_width && yuv->half_height == half_height);
}

void gf_y4m_compose(const char *header, int width, int height, bool gray, int bits,
                    const struct gf_options *options, char line[GF_Y4M_LINE_MOST])
{
    char copy[GF_Y4M_LINE_MOST], *at = copy, *parameter, side[16], chroma[24];
    struct gf_yuv yuv;
    const bool from_y4m = header && !gf_y4m_parse(header, "", &yuv, NULL);
    const bool keeps = from_y4m && keeps_chroma(&yuv, gray, options);
    bool has_chroma = false;
    put_chroma(from_y4m ? yuv.mono && gray : gray, from_y4m ? yuv.bits : bits, options, chroma);
    snprintf(copy, sizeof copy, "%s", from_y4m ? header : "YUV4MPEG2 W1 H1 F25:1 Ip A1:1");
    *line = '\0';
    while ((parameter = next_parameter(&at)) != NULL) {
        if (*parameter == 'W' || *parameter == 'H') {
            snprintf(side, sizeof side, "%c%d", *parameter, *parameter == 'W' ? width : height);
            parameter = side;
        }
        has_chroma |= *parameter == 'C';
        if (!keeps && *parameter == 'C')
            parameter = chroma;
        if (keeps || strncmp(parameter, "XYSCSS=", 7) != 0)
            add(line, parameter);
    }
    if (!keeps && !has_chroma)
        add(line, chroma);
    gf_y4m_put_range(options, line);
}
