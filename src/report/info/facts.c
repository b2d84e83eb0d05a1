/* What --info says: the facts of a file's header, and the statistics of its levels. */
#include "report/info/facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/plain_text.h"
#include "codec/codec.h"
#include "codec/formats.h"
#include "pixel/histogram/histogram.h"

const struct gf_key_help gf_facts_keys[GF_FACTS + 1] = {
#define FACT(end, key, help) {key, help},
    GF_FACTS_ALL(FACT)
#undef FACT
};

static bool is_switch(int fact)
{
    return fact == GF_FACT_ALPHA || fact == GF_FACT_GPS;
}

/* What a file states of its colours, as texts. */
struct colours {
    char name[GF_ICC_TEXT_SIZE], cicp[24];
    const char *from;
};

static void name_colours(const struct gf_source *source, const char *of_exif, bool gray,
                         struct colours *colours)
{
    const struct gf_metadata *const metadata = &source->metadata;
    unsigned char made[GF_ICC_MADE_MOST];
    char unsaid[GF_COLOURS_TEXT_SIZE];
    struct gf_icc icc = {.data = metadata->icc.data, .size = metadata->icc.size};
    const struct gf_colour_tags *const tags = &metadata->colour;
    const unsigned char *const cicp = tags->cicp;
    *colours = (struct colours){.from = ""};
    if (tags->has_cicp)
        snprintf(colours->cicp, sizeof colours->cicp, "%d/%d/%d/%d", cicp[0], cicp[1], cicp[2],
                 cicp[3]);
    if (gf_colour_tags_unsaid(tags, icc.size, unsaid)) {
        snprintf(colours->name, sizeof colours->name, "%s", unsaid + strlen("the "));
        colours->from = "CICP";
    } else if (gf_colour_tags_win(tags, icc.size)) {
        icc = (struct gf_icc){.data = made, .size = gf_colour_tags_profile(tags, gray, made)};
        colours->from = icc.size ? tags->has_cicp ? "CICP" : gf_file_format_name(source->file) : "";
    } else if (icc.size) {
        colours->from = "ICC";
    } else if (*of_exif) {
        snprintf(colours->name, sizeof colours->name, "%s", of_exif);
        colours->from = "EXIF";
    }
    if (!*colours->name)
        gf_icc_text(icc, colours->name);
}

static void read_numbers(const struct gf_source *source, const struct gf_exif_facts *exif,
                         double number[GF_FACTS])
{
    const struct gf_format format = source->format;
    const struct gf_metadata *const metadata = &source->metadata;
    const bool own =
        metadata->density_x > 0 && metadata->density_y > 0 && !metadata->density_is_ratio;
    const bool inks =
        source->stored.colour == GF_STORED_CMYK || source->stored.colour == GF_STORED_YCCK;
    const double x = own ? metadata->density_x : exif->density_x,
                 y = own ? metadata->density_y : exif->density_y;
    number[GF_FACT_PAGES] = source->stored.pages ? source->stored.pages : NAN;
    number[GF_FACT_LOOPS] = source->stored.is_animation ? metadata->loops : NAN;
    number[GF_FACT_SECONDS] = source->stored.seconds > 0 ? source->stored.seconds : NAN;
    number[GF_FACT_WIDTH] = format.width;
    number[GF_FACT_HEIGHT] = format.height;
    number[GF_FACT_CHANNELS] = format.channels + inks;
    number[GF_FACT_BITS] = source->stored.bits ? source->stored.bits : format.bits;
    number[GF_FACT_ALPHA] = gf_has_alpha(format);
    number[GF_FACT_ORIENTATION] = metadata->orientation;
    number[GF_FACT_DENSITY_X] = x > 0 ? x * 0.0254 : NAN;
    number[GF_FACT_DENSITY_Y] = y > 0 ? y * 0.0254 : NAN;
    number[GF_FACT_GPS] =
        exif->has_gps ||
        (metadata->xmp.size && memmem(metadata->xmp.data, metadata->xmp.size, "GPSLatitude", 11));
    number[GF_FACT_ICC_BYTES] = (double)metadata->icc.size;
    number[GF_FACT_EXIF_BYTES] = (double)metadata->exif.size;
    number[GF_FACT_XMP_BYTES] = (double)metadata->xmp.size;
    number[GF_FACT_IPTC_BYTES] = (double)metadata->iptc.size;
    number[GF_FACT_THUMBNAIL_BYTES] = (double)exif->thumbnail_bytes;
}

static const char *name_model(const struct gf_source *source)
{
    static const char *const names[] = {
        [GF_STORED_PALETTE] = "palette", [GF_STORED_YCBCR] = "YCbCr",
        [GF_STORED_CMYK] = "CMYK",       [GF_STORED_YCCK] = "YCCK",
        [GF_STORED_BAYER] = "Bayer AHD", [GF_STORED_XTRANS] = "X-Trans"};
    return source->stored.colour                     ? names[source->stored.colour]
           : gf_colour_channels(source->format) == 1 ? "gray"
                                                     : "RGB";
}

/* Lists the kinds of the file's pictures, as "main, preview x 2"; "" for a single picture. */
static void list_pictures(const struct gf_source *source, char *text, size_t size)
{
    uint16_t count[GF_PICTURE_KINDS];
    size_t length = 0;
    int all = 0;
    memcpy(count, source->stored.pictures, sizeof count);
    for (int i = 0; i < GF_PICTURE_KINDS; i++)
        all += count[i];
    *text = '\0';
    if (!all && source->stored.pages > 1)
        snprintf(
            text, size, "%s x %d",
            gf_picture_kind_name(source->file == GF_FILE_TIFF ? GF_PICTURE_PAGE : GF_PICTURE_FRAME),
            source->stored.pages);
    for (int i = 0; all > 1 && i < GF_PICTURE_KINDS; i++) {
        if (count[i] && length < size)
            length += (size_t)snprintf(text + length, size - length,
                                       count[i] > 1 ? "%s%s x %d" : "%s%s", length ? ", " : "",
                                       gf_picture_kind_name((enum gf_picture_kind)i), count[i]);
    }
}

/* Lists the sizes of the levels, as "20000x10000 10000x5000"; "" if there is one size. */
static void list_levels(const struct gf_source *source, char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (int i = 0; i < source->levels && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, i ? " %dx%d" : "%dx%d",
                                   source->level[i].width, source->level[i].height);
}

bool gf_facts_read(struct gf_facts *facts, const char *name, int64_t bytes,
                   const struct gf_source *source)
{
    char format[40], pictures[240], levels[GF_LEVELS_MOST * 24], kinds[GF_METADATA_KINDS_TEXT_SIZE];
    const bool gray = gf_colour_channels(source->format) == 1;
    const struct gf_exif_facts exif = gf_exif_read(&source->metadata.exif);
    struct colours colours;
    *facts = (struct gf_facts){.text = {NULL}};
    snprintf(format, sizeof format, *source->stored.kind ? "%s (%s)" : "%s",
             gf_file_format_name(source->file), source->stored.kind);
    name_colours(source, exif.colour, gray, &colours);
    gf_metadata_kinds_text(gf_metadata_kinds(&source->metadata), kinds);
    list_pictures(source, pictures, sizeof pictures);
    list_levels(source, levels, sizeof levels);
    read_numbers(source, &exif, facts->number);
    facts->number[GF_FACT_BYTES] = bytes < 0 ? NAN : (double)bytes;
    const struct {
        enum gf_fact fact;
        const char *text;
    } texts[] = {{GF_FACT_FILE, name},
                 {GF_FACT_FORMAT, format},
                 {GF_FACT_PICTURES, pictures},
                 {GF_FACT_LEVELS, levels},
                 {GF_FACT_SAMPLES, source->stored.is_float ? "float" : "integer"},
                 {GF_FACT_MODEL, name_model(source)},
                 {GF_FACT_COLOURS, colours.name},
                 {GF_FACT_COLOURS_FROM, colours.from},
                 {GF_FACT_CICP, colours.cicp},
                 {GF_FACT_CAMERA, exif.camera},
                 {GF_FACT_LENS, exif.lens},
                 {GF_FACT_TIME, exif.time},
                 {GF_FACT_COPYRIGHT, exif.copyright},
                 {GF_FACT_ARTIST, exif.artist},
                 {GF_FACT_DESCRIPTION, exif.description},
                 {GF_FACT_METADATA, kinds},
                 {GF_FACT_DHASH, ""},
                 {GF_FACT_PHASH, ""}};
    bool done = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        done &= (facts->text[texts[i].fact] = strdup(texts[i].text)) != NULL;
    return done;
}

bool gf_facts_add_hashes(struct gf_facts *facts, struct gf_hashes hashes)
{
    const uint64_t hash[] = {hashes.dhash, hashes.phash};
    for (int i = 0; i < 2; i++) {
        char **const text = &facts->text[GF_FACT_DHASH + i];
        free(*text);
        if (asprintf(text, "%016" PRIx64, hash[i]) < 0) {
            *text = NULL;
            return false;
        }
    }
    return true;
}

struct gf_hashes gf_facts_hashes(const struct gf_facts *facts)
{
    return (struct gf_hashes){strtoull(facts->text[GF_FACT_DHASH], NULL, 16),
                              strtoull(facts->text[GF_FACT_PHASH], NULL, 16)};
}

void gf_facts_free(struct gf_facts *facts)
{
    for (int i = 0; i < GF_FACTS; i++)
        free(facts->text[i]);
    *facts = (struct gf_facts){.text = {NULL}};
}

static void put_levels(const char *levels, struct gf_json *json)
{
    char size[24];
    gf_json_array(json, gf_facts_keys[GF_FACT_LEVELS].path, GF_JSON_COMPACT);
    for (int length; sscanf(levels, "%23s%n", size, &length) == 1; levels += length)
        gf_json_string(json, NULL, size);
    gf_json_end(json);
}

void gf_facts_json(const struct gf_facts *facts, struct gf_json *json)
{
    for (int i = 0; i < GF_FACTS; i++) {
        const char *const text = facts->text[i];
        if (i == GF_FACT_LEVELS && *text)
            put_levels(text, json);
        else if (text)
            gf_json_string(json, gf_facts_keys[i].path, *text ? text : NULL);
        else if (is_switch(i))
            gf_json_bool(json, gf_facts_keys[i].path, facts->number[i] != 0);
        else
            gf_json_figure(json, gf_facts_keys[i].path, facts->number[i]);
    }
}

/* Writes a fact as text for people, in at most `size` bytes; "" if it is not known. */
static void put_fact(const struct gf_facts *facts, int fact, char *text, size_t size)
{
    const double number = facts->number[fact];
    if (facts->text[fact])
        snprintf(text, size, "%s", facts->text[fact]);
    else if (is_switch(fact))
        snprintf(text, size, "%s", number ? "yes" : "no");
    else if (isnan(number) || (!number && fact >= GF_FACT_ICC_BYTES))
        *text = '\0';
    else
        snprintf(text, size, "%.9g", number);
    gf_make_printable(text);
}

void gf_facts_heading(bool hashes, FILE *file)
{
    fputs(hashes ? "dhash            phash            file\n"
                 : "format                   size model      bits pages turn colours             "
                   "metadata   "
                   "      "
                   "file\n",
          file);
}

void gf_facts_row(const struct gf_facts *facts, FILE *file)
{
    char size[32], model[32], pages[16], colours[20], metadata[32], name[4096];
    const double *const number = facts->number;
    put_fact(facts, GF_FACT_PAGES, pages, sizeof pages);
    put_fact(facts, GF_FACT_COLOURS, colours, sizeof colours);
    put_fact(facts, GF_FACT_FILE, name, sizeof name);
    if (*facts->text[GF_FACT_DHASH]) {
        fprintf(file, "%s %s %s\n", facts->text[GF_FACT_DHASH], facts->text[GF_FACT_PHASH], name);
        return;
    }
    snprintf(size, sizeof size, "%.0fx%.0f", number[GF_FACT_WIDTH], number[GF_FACT_HEIGHT]);
    snprintf(model, sizeof model, "%s%s", facts->text[GF_FACT_MODEL],
             number[GF_FACT_ALPHA] ? "+A" : "");
    snprintf(metadata, sizeof metadata, "%s%s%s%s", number[GF_FACT_EXIF_BYTES] ? "exif " : "",
             number[GF_FACT_GPS] ? "gps " : "", number[GF_FACT_XMP_BYTES] ? "xmp " : "",
             number[GF_FACT_IPTC_BYTES] ? "iptc " : "");
    fprintf(file, "%-16s %12s %-10s %3.0f %5s %4.0f %-19s %-16s %s\n", facts->text[GF_FACT_FORMAT],
            size, model, number[GF_FACT_BITS], *pages ? pages : "-", number[GF_FACT_ORIENTATION],
            *colours ? colours : "-", *metadata ? metadata : "-", name);
}

void gf_facts_list(const struct gf_facts *facts, FILE *file)
{
    char text[4096];
    for (int i = 0; i < GF_FACTS; i++) {
        put_fact(facts, i, text, sizeof text);
        if (*text)
            fprintf(file, "%-16s %s\n", gf_facts_keys[i].path, text);
    }
}

enum { BINS = 256 };

const struct gf_key_help gf_levels_keys[] = {
    {"statistics.width", "columns of the result, upright"},
    {"statistics.height", "its rows"},
    {"statistics.bits", "bits of its samples"},
    {"statistics.range", "0 and M (1 of floats); histograms' ends count what lies beyond"},
    {"statistics.pixels", "pixels, but those of zero alpha"},
    {"statistics.channels[].name", "gray, red, green or blue"},
    {"statistics.channels[].nan", "NaN among floats"},
    {"statistics.channels[].infinite", "infinite ones"},
    {"statistics.channels[].least", "the least finite sample"},
    {"statistics.channels[].most", "the greatest"},
    {"statistics.channels[].mean", "the mean"},
    {"statistics.channels[].deviation", "the standard deviation; null of floats"},
    {"statistics.channels[].median", "the least level that half the pixels do not exceed, or null"},
    {"statistics.channels[].entropy", "Shannon's entropy in bits"},
    {"statistics.channels[].histogram", "256 counts, in equal parts"},
    {0},
};

struct summary {
    const char *name;
    uint64_t pixels, bin[BINS], nan, infinite;
    double least, most, mean, deviation, median, entropy; /* all NaN if there are no pixels */
};

static void add_moments(const uint64_t *count, int levels, struct summary *summary)
{
    const double pixels = (double)summary->pixels;
    double squares = 0;
    summary->mean = summary->entropy = 0;
    for (int v = 0; v < levels; v++)
        summary->mean += v * ((double)count[v] / pixels);
    for (int v = 0; v < levels; v++) {
        const double part = (double)count[v] / pixels, distance = v - summary->mean;
        squares += part * distance * distance;
        summary->entropy -= part > 0 ? part * log2(part) : 0;
    }
    summary->deviation = sqrt(squares);
    summary->entropy = fmax(summary->entropy, 0); /* turns -0 into 0 */
}

/* Replaces what floats have that is exact. A median beyond 0..1 is unknown. */
static void add_exact(const struct gf_histogram *histogram, int channel, struct summary *summary)
{
    const uint64_t *const exact = gf_histogram_exact(histogram, channel);
    summary->nan = exact[GF_EXACT_NAN];
    summary->infinite = exact[GF_EXACT_INFINITE];
    const uint64_t finite = summary->pixels - summary->infinite;
    summary->pixels += summary->nan;
    summary->least = finite ? (double)histogram->low[channel] : NAN;
    summary->most = finite ? (double)histogram->high[channel] : NAN;
    summary->mean = finite ? gf_histogram_sum(histogram, channel) / (double)finite : NAN;
    summary->median /= GF_FLOAT_LEVELS - 1;
    if ((summary->median >= 1 && summary->most > 1) || (summary->median <= 0 && summary->least < 0))
        summary->median = NAN;
    summary->deviation = NAN;
}

static struct summary summarise(const struct gf_histogram *histogram, int channel)
{
    static const char *const names[] = {"red", "green", "blue"};
    const uint64_t *const count = histogram->count + (ptrdiff_t)channel * histogram->bins;
    struct summary summary = {.name = histogram->channels == 1 ? "gray" : names[channel],
                              .least = NAN,
                              .most = NAN,
                              .mean = NAN,
                              .deviation = NAN,
                              .median = NAN,
                              .entropy = NAN};
    uint64_t passed = 0;
    for (int v = 0; v < histogram->bins; v++) {
        summary.pixels += count[v];
        summary.bin[(int64_t)v * BINS / histogram->bins] += count[v];
    }
    if (!summary.pixels) {
        if (histogram->exact)
            add_exact(histogram, channel, &summary);
        return summary;
    }
    for (int v = histogram->bins - 1; v >= 0; v--) {
        if (count[v])
            summary.least = v;
    }
    for (int v = 0; v < histogram->bins; v++) {
        passed += count[v];
        if (count[v])
            summary.most = v;
        if (isnan(summary.median) && passed >= summary.pixels - passed)
            summary.median = v;
    }
    add_moments(count, histogram->bins, &summary);
    if (histogram->exact)
        add_exact(histogram, channel, &summary);
    return summary;
}

void gf_levels_json(const struct gf_levels *levels, struct gf_json *json)
{
    const bool floats = gf_is_float(levels->format);
    gf_json_object(json, "statistics", GF_JSON_COMPACT);
    gf_json_number(json, "width", levels->format.width, 0);
    gf_json_number(json, "height", levels->format.height, 0);
    gf_json_number(json, "bits", levels->format.bits, 0);
    gf_json_array(json, "range", GF_JSON_COMPACT);
    gf_json_number(json, NULL, 0, 0);
    gf_json_number(json, NULL, floats ? 1 : levels->histogram.bins - 1, 0);
    gf_json_end(json);
    for (int c = 0; c < levels->histogram.channels; c++) {
        const struct summary summary = summarise(&levels->histogram, c);
        if (!c) {
            gf_json_number(json, "pixels", (double)summary.pixels, 0);
            gf_json_array(json, "channels", GF_JSON_COMPACT);
        }
        gf_json_object(json, NULL, GF_JSON_COMPACT);
        gf_json_string(json, "name", summary.name);
        if (floats) {
            gf_json_number(json, "nan", (double)summary.nan, 0);
            gf_json_number(json, "infinite", (double)summary.infinite, 0);
        }
        gf_json_figure(json, "least", summary.least);
        gf_json_figure(json, "most", summary.most);
        gf_json_figure(json, "mean", summary.mean);
        gf_json_figure(json, "deviation", summary.deviation);
        gf_json_figure(json, "median", summary.median);
        gf_json_figure(json, "entropy", summary.entropy);
        gf_json_array(json, "histogram", GF_JSON_COMPACT);
        for (int i = 0; i < BINS; i++)
            gf_json_number(json, NULL, (double)summary.bin[i], 0);
        gf_json_end(json);
        gf_json_end(json);
    }
    gf_json_end(json);
    gf_json_end(json);
}

/* Draws the histogram in a line of 64 bars; a bar's height is the square root of its count relative
 * to the largest, so that small counts show. */
static void draw(const struct summary *summary, FILE *file)
{
    static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    enum { COLUMNS = 64, STEPS = 8 };
    uint64_t column[COLUMNS] = {0}, most = 1;
    for (int i = 0; i < BINS; i++) {
        column[i * COLUMNS / BINS] += summary->bin[i];
        most = column[i * COLUMNS / BINS] > most ? column[i * COLUMNS / BINS] : most;
    }
    fputs("  ", file);
    for (int i = 0; i < COLUMNS; i++)
        fputs(bars[(int)ceil(sqrt((double)column[i] / (double)most) * STEPS)], file);
    putc('\n', file);
}

void gf_levels_plot(const struct gf_levels *levels, FILE *file)
{
    for (int c = 0; c < levels->histogram.channels; c++) {
        const struct summary summary = summarise(&levels->histogram, c);
        char median[24] = "beyond 0..1";
        if (!isnan(summary.median) || isnan(summary.least))
            snprintf(median, sizeof median, "%.5f", summary.median);
        if (levels->histogram.exact)
            fprintf(file,
                    "%-5s  %.9g..%.9g, mean %.9g, median %s, entropy %.3f, %" PRIu64
                    " NaN, %" PRIu64 " infinite; 0..1:\n",
                    summary.name, summary.least, summary.most, summary.mean, median,
                    summary.entropy, summary.nan, summary.infinite);
        else
            fprintf(file,
                    "%-5s  %.0f..%.0f, mean %.2f, deviation %.2f, median %.0f, entropy %.3f\n",
                    summary.name, summary.least, summary.most, summary.mean, summary.deviation,
                    summary.median, summary.entropy);
        draw(&summary, file);
    }
}
