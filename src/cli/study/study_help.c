/* Prints the help and the manual about the study: variants of kernels, comparisons and labs. */
#include <string.h>

#include "bench/timing.h"
#include "chain/chain.h"
#include "cli/help/help.h"
#include "cli/study/study.h"
#include "report/text.h"
#include "study/labs/lab.h"
#include "study/report/compare_report.h"
#include "study/report/lab_report.h"

static const char explanation[] =
    "Variants of a filter's CUDA kernels: variant=NAME in a chain chooses one, and each gives the "
    "same picture. The first is the default; the second is the simplest, also called naive; each "
    "further one adds a technique.";

static bool has_variants(const struct gf_filter *filter)
{
    return gf_filter_variant(filter, 1, NULL);
}

/* Whether two filters have the same variants, by their names. */
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
    const enum gf_status status = name ? gf_filter_named(name, "", &filter, error) : GF_OK;
    if (status)
        return status;
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

static void put_compare(FILE *file)
{
    char times[160];
    fputs(".SH COMPARISON\n", file);
    gf_man_prose(
        file, "*--profile=compare* runs each stage of the chain on the whole picture in every "
              "variant that its filter has, and each histogram that a stage wants in every way of "
              "counting, and compares the result with the CPU backend's: a difference larger than "
              "the filter declares is an error. No picture is written unless *-o* is given.");
    snprintf(
        times, sizeof times,
        "Times are of the device's clock: the median of up to %d runs, the least and the most.",
        GF_TIMING_RUNS_MAX);
    gf_man_line(file, times);
    gf_man_prose(
        file, "_warm_ runs follow one another; before _cold_ ones the second-level cache is "
              "flushed. _GB/s_ counts the input once and the result once, which is the least that "
              "must move. A filter that was fused with its neighbours shows its variants under "
              "*--no-fuse*.\nThe rows of the whole chain differ from the first in one setting "
              "each. _estimate_ is that of the Best Practices Guide (9.1.2): the longer of the "
              "kernels' and the copies' time and the n-th part of the shorter, n being the lanes. "
              "It counts copies up and down one after the other; a GPU with two copy engines can "
              "beat it.\nWithout a GPU the rows are the CPU backend's, on one thread up to all. A "
              "filter with hand-written vector instructions is also timed without them (_no "
              "intrinsics_); those of the compiler remain.\n*--profile=compare:json* prints one "
              "object with these keys, which later versions keep:");
    gf_man_keys(file, gf_compare_keys);
    fputs(".PP\n", file);
    gf_man_prose(file,
                 "*--profile=compare:csv* prints these columns (RFC 4180), empty where nothing is "
                 "known:");
    gf_man_keys(file, gf_compare_columns);
}

static void put_lab(FILE *file, const struct gf_lab *lab)
{
    fprintf(file, ".SS %s\n", lab->name);
    gf_man_text(file, lab->summary);
    fputs(" (guide ", file);
    gf_man_text(file, lab->guide);
    fputs(").\n", file);
    for (const struct gf_param *param = lab->params; param && param->name; param++)
        gf_man_param(file, param);
}

static void put_labs(FILE *file)
{
    fputs(".SH LABS\n", file);
    gf_man_prose(file,
                 "*--lab* lists the microbenchmarks of single techniques of the CUDA guides; "
                 "*--lab=*_name_[*:*_key_*=*_value_...] runs one, *--lab=all* every one, "
                 "*--lab=*_name_*:help* explains one. Each prints the guide's figure and this "
                 "GPU's, and checks what it computes: a wrong result is an error. The GPU is that "
                 "of *--device*. All take these parameters (plot only where there is a curve):");
    for (const struct gf_param *param = gf_lab_common_params(); param->name; param++)
        gf_man_param(file, param);
    const struct gf_lab *lab;
    for (int i = 0; (lab = gf_lab_at(i)); i++)
        put_lab(file, lab);
    fputs(".PP\n", file);
    gf_man_prose(file, "With format=json a lab is one object, all of them an array of such, with "
                       "these keys, which later versions keep:");
    gf_man_keys(file, gf_lab_keys);
}

static void put_variants(FILE *file)
{
    const struct gf_filter *filter;
    const char *name, *summary;
    char heading[600];
    fputs(".SH KERNEL VARIANTS\n", file);
    gf_man_line(file, explanation);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        if (!variants_heading(i, heading, sizeof heading))
            continue;
        fprintf(file, ".SS %s\n", heading);
        for (int k = 0; (name = gf_filter_variant(filter, k, &summary)); k++) {
            gf_man_tag(file, name);
            gf_man_line(file, summary ? summary : "");
        }
    }
}

void gf_study_man(FILE *file)
{
    put_compare(file);
    put_labs(file);
    put_variants(file);
}
