#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "study/saved/saved.h"

static int whole(const struct gf_json_value *value, const char *key)
{
    return gf_json_int_of(value, key, 0, INT32_MAX, 0);
}

/* Reads the times "warm_ms", "warm_least_ms" and "warm_most_ms", or the times with another name in
 * place of "warm". If the first is null, the time was not measured. */
static struct gf_timing read_timing(const struct gf_json_value *value, const char *name, int runs)
{
    char key[40];
    struct gf_timing timing = {0};
    snprintf(key, sizeof key, "%s_ms", name);
    timing.median_s = gf_json_number_of(value, key) * 1e-3;
    snprintf(key, sizeof key, "%s_least_ms", name);
    timing.least_s = gf_json_number_of(value, key) * 1e-3;
    snprintf(key, sizeof key, "%s_most_ms", name);
    timing.most_s = gf_json_number_of(value, key) * 1e-3;
    if (!(timing.median_s >= 0))
        return (struct gf_timing){0};
    if (!(timing.least_s <= timing.median_s && timing.median_s <= timing.most_s))
        timing.least_s = timing.most_s = timing.median_s;
    timing.runs = runs ? runs : 1;
    return timing;
}

static void read_size(const struct gf_json_value *kernel, const char *key, int size[3])
{
    const struct gf_json_value *at = gf_json_first_of(kernel, key);
    for (int i = 0; i < 3; i++, at = at ? at->next : NULL)
        size[i] = at && at->number >= 1 && at->number <= INT32_MAX ? (int)at->number : 1;
}

static void read_kernel(const struct gf_json_value *value, struct gf_kernel_info *kernel)
{
    gf_saved_text(value, "name", kernel->name, sizeof kernel->name);
    read_size(value, "grid", kernel->grid);
    read_size(value, "block", kernel->block);
    kernel->cluster = gf_json_int_of(value, "cluster", 1, INT32_MAX, 1);
    kernel->registers = whole(value, "registers");
    kernel->shared_bytes = (size_t)whole(value, "shared_bytes");
    kernel->local_bytes = (size_t)whole(value, "local_bytes");
    kernel->occupancy = gf_json_number_of(value, "occupancy_percent") / 100;
}

static void read_row(const struct gf_json_value *value, struct gf_compare_row *row)
{
    const struct gf_json_value *kernel = gf_json_first_of(value, "kernels");
    const int runs = whole(value, "runs");
    gf_saved_text(value, "name", row->name, sizeof row->name);
    gf_saved_text(value, "refused", row->refused, sizeof row->refused);
    row->summary = *gf_json_text_of(value, "summary") ? gf_json_text_of(value, "summary") : NULL;
    row->chosen = gf_json_bool_of(value, "chosen");
    row->warm = read_timing(value, "warm", runs);
    row->cold = read_timing(value, "cold", runs);
    row->rate = gf_json_number_of(value, "gb_s") * 1e9;
    row->copy_percent = gf_json_number_of(value, "copy_percent");
    row->over_naive = gf_json_number_of(value, "over_naive");
    row->over_cpu = gf_json_number_of(value, "over_cpu");
    row->difference = gf_json_number_of(value, "difference");
    row->tolerance = whole(value, "tolerance");
    for (; kernel && row->kernels < GF_COMPARE_KERNELS; kernel = kernel->next)
        read_kernel(kernel, &row->kernel[row->kernels++]);
}

static enum gf_status read_group(const struct gf_json_value *value, struct gf_compare_group *group,
                                 struct gf_error *error)
{
    const struct gf_json_value *row = gf_json_first_of(value, "variants");
    gf_saved_text(value, "name", group->name, sizeof group->name);
    group->statistic = !strcmp(gf_json_text_of(value, "kind"), "statistic");
    group->segment = whole(value, "segment");
    group->in = gf_saved_format(value, "in");
    group->out = gf_saved_format(value, "out");
    group->bytes = fmax(0, gf_json_number_of(value, "bytes")); /* NaN becomes 0, too */
    group->cpu = read_timing(value, "cpu", 1);
    group->naive = -1;
    for (; row; row = row->next) {
        struct gf_compare_row *const added = gf_compare_add_row(group, "");
        if (!added)
            return gf_fail_memory(error);
        read_row(row, added);
        /* Other rows are compared with the naive row. */
        if (fabs(added->over_naive - 1) < 1e-9 && group->naive < 0)
            group->naive = group->rows - 1;
        if (!strcmp(added->name, "naive"))
            group->naive = group->rows - 1;
    }
    return GF_OK;
}

static void read_run(const struct gf_json_value *value, struct gf_compare_run *run)
{
    gf_saved_text(value, "name", run->name, sizeof run->name);
    gf_saved_text(value, "refused", run->refused, sizeof run->refused);
    run->lanes = whole(value, "lanes");
    run->band_rows = whole(value, "band_rows");
    run->options.host_memory = strcmp(gf_json_text_of(value, "host_memory"), "pageable")
                                   ? GF_HOST_PINNED
                                   : GF_HOST_PAGEABLE;
    run->options.transfer = strcmp(gf_json_text_of(value, "transfer"), "zero-copy")
                                ? GF_TRANSFER_COPY
                                : GF_TRANSFER_ZERO_COPY;
    run->options.no_fuse = !gf_json_bool_of(value, "fused");
    run->total = read_timing(value, "total", whole(value, "runs"));
    run->window = read_timing(value, "window", whole(value, "runs"));
    run->overlap = gf_json_number_of(value, "overlap");
    run->kernels_s = gf_json_number_of(value, "kernels_ms") * 1e-3;
    run->transfers_s = gf_json_number_of(value, "transfers_ms") * 1e-3;
    run->estimate_s = gf_json_number_of(value, "estimate_ms") * 1e-3;
}

static void read_head(const struct gf_json_value *root, struct gf_comparison *comparison)
{
    const double wall_s = gf_json_number_of(root, "wall_s");
    gf_saved_text(root, "device", comparison->device, sizeof comparison->device);
    gf_saved_text(root, "reason", comparison->reason, sizeof comparison->reason);
    comparison->on_cuda = !strncmp(comparison->device, "cuda:", 5);
    comparison->threads = whole(root, "cpu_threads");
    comparison->in = gf_saved_format(root, "in");
    comparison->out = gf_saved_format(root, "out");
    comparison->copy_peak = gf_saved_peak(root, "device_copy_gb_s");
    comparison->upload_peak = gf_saved_peak(root, "upload_gb_s");
    comparison->download_peak = gf_saved_peak(root, "download_gb_s");
    comparison->wall_s = isnan(wall_s) ? 0 : wall_s;
}

enum gf_status gf_saved_read_comparison(const struct gf_json_value *root, struct gf_saved *saved,
                                        struct gf_error *error)
{
    const struct gf_json_value *group = gf_json_first_of(root, "stages"),
                               *run = gf_json_first_of(root, "pipeline");
    struct gf_comparison *const comparison = &saved->comparison;
    read_head(root, comparison);
    comparison->group = calloc(gf_json_count(group) + 1, sizeof *comparison->group);
    comparison->run = calloc(gf_json_count(run) + 1, sizeof *comparison->run);
    if (!comparison->group || !comparison->run)
        return gf_fail_memory(error);
    for (; group; group = group->next)
        GF_TRY(read_group(group, &comparison->group[comparison->groups++], error));
    for (; run; run = run->next)
        read_run(run, &comparison->run[comparison->runs++]);
    return GF_OK;
}
