/* Prints the help and the manual about the study: variants of kernels, comparisons and labs. */
#include <string.h>

#include "base/fail.h"
#include "base/process/program.h"
#include "bench/timing.h"
#include "chain/chain.h"
#include "cli/help/help.h"
#include "cli/study/study.h"
#include "report/text.h"
#include "study/labs/lab.h"
#include "study/report/study_report.h"

static const char explanation[] =
    "Variants of a filter's CUDA kernels: variant=NAME in a chain chooses one, and each gives the "
    "same picture. The first is the default; the second is the simplest, also called naive; each "
    "further one adds a technique.";

static bool has_variants(const struct gf_filter *filter)
{
    return gf_filter_variant(filter, 1, NULL);
}

/* Whether two filters have variants of the same names. */
static bool has_same_variants(const struct gf_filter *filter, const struct gf_filter *other)
{
    const char *name, *other_name;
    for (int i = 0;; i++) {
        name = gf_filter_variant(filter, i, NULL);
        other_name = gf_filter_variant(other, i, NULL);
        if (!name || !other_name || strcmp(name, other_name))
            return name == other_name;
    }
}

/* Writes the names of the filters that have the same variants as filter `index`: "hue, duotone".
 * Returns false if this filter is not the first of them, or has no variants. */
static bool variants_heading(int index, char *text, size_t size)
{
    const struct gf_filter *const first = gf_filter_at(index), *filter;
    text[0] = '\0';
    for (int i = 0; has_variants(first) && (filter = gf_filter_at(i)); i++) {
        if (!has_same_variants(first, filter))
            continue;
        if (i < index)
            return false;
        gf_text_append(text, size, *text ? ", " : "");
        gf_text_append(text, size, gf_filter_name(filter));
    }
    return *text;
}

static void print_variants(FILE *file, const struct gf_filter *filter, const char *heading)
{
    const char *name, *summary;
    putc('\n', file);
    gf_text_wrap(file, heading, 0, 0);
    for (int i = 0; (name = gf_filter_variant(filter, i, &summary)); i++) {
        const int column = fprintf(file, "  %-12s ", name);
        gf_text_wrap(file, summary ? summary : "", column, 15);
    }
}

enum gf_status gf_study_help(FILE *file, const char *name, struct gf_error *error)
{
    const struct gf_filter *filter = NULL;
    if (name)
        GF_TRY(gf_filter_named(name, "", &filter, error));
    char heading[600];
    gf_text_wrap(file, explanation, 0, 0);
    if (filter && has_variants(filter))
        print_variants(file, filter, gf_filter_name(filter));
    else if (filter)
        fprintf(file, "\n%s has only the default.\n", gf_filter_name(filter));
    for (int i = 0; !name && gf_filter_at(i); i++) {
        if (variants_heading(i, heading, sizeof heading))
            print_variants(file, gf_filter_at(i), heading);
    }
    return GF_OK;
}

GF_EMBED(study_manual, "src/cli/study/manual.txt");

static void put_times(FILE *file)
{
    fprintf(file,
            ".PP\nTimes are of the device's clock: the median of up to %d runs, the least and the "
            "most.\n",
            GF_TIMING_RUNS_MAX);
}

static void put_labs(FILE *file)
{
    for (const struct gf_param *param = gf_lab_common_params(); param->name; param++)
        gf_man_param(file, param);
}

void gf_study_man(FILE *file)
{
    static const struct gf_man_part parts[] = {
        {"times", .put = put_times},
        {"compare-keys", .keys = gf_compare_keys},
        {"labs", .put = put_labs},
        {"lab-keys", .keys = gf_lab_keys},
        {0},
    };
    gf_man_document(file, gf_study_manual, parts);
}
