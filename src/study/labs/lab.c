/* The list of labs. Parses a request for labs, runs a lab, and fills its result. */
#include "study/labs/lab.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text/plain_text.h"
#include "base/threads/times.h"
#include "chain/params.h"

static const struct gf_lab *const lab_list[] = {
#define GF_LAB(stem) &gf_lab_##stem,
#include "study/labs/labs.def"
#undef GF_LAB
};
enum { LAB_COUNT = sizeof lab_list / sizeof *lab_list };

static const char all[] = "all";
static const char *const forms[] = {"table", "json", NULL};

/* "all" accepts only the first three, because it draws no plot. */
enum { COMMON_OF_ALL = 3 };
static const struct gf_param common_params[] = {
    GF_PARAM_INT(struct gf_lab_common, runs, 15, 1, 1000,
                 "timings that each figure is the median of"),
    {.name = "format",
     .type = GF_TYPE_CHOICE,
     .offset = offsetof(struct gf_lab_common, form),
     .choices = forms,
     .help = "a table to read, or JSON"},
    {.name = "html",
     .type = GF_TYPE_FILE,
     .offset = offsetof(struct gf_lab_common, html),
     .help = "write a page with the curves and the guide's figures to this file"},
    {.name = "plot",
     .type = GF_TYPE_FILE,
     .offset = offsetof(struct gf_lab_common, plot),
     .help = "draw the curve to this file (.png or .svg) by gnuplot"},
    {0},
};

const struct gf_lab *gf_lab_at(int index)
{
    return index >= 0 && index < LAB_COUNT ? lab_list[index] : NULL;
}

const struct gf_lab *gf_lab_find(const char *name)
{
    for (int i = 0; i < LAB_COUNT; i++) {
        if (!strcmp(name, lab_list[i]->name))
            return lab_list[i];
    }
    return NULL;
}

void gf_lab_params(const struct gf_lab *lab, struct gf_param params[GF_LAB_PARAMS_MAX])
{
    int count = 0;
    for (const struct gf_param *own = lab ? lab->params : NULL; own && own->name; own++)
        params[count++] = *own;
    for (int i = 0; common_params[i].name; i++) {
        if (i < COMMON_OF_ALL || (lab && lab->axes.x))
            params[count++] = common_params[i];
    }
    params[count] = (struct gf_param){0};
}

const struct gf_param *gf_lab_common_params(void)
{
    return common_params;
}

static enum gf_status unknown(const char *name, struct gf_error *error)
{
    const char *best = NULL;
    int distance = 0;
    for (int i = 0; i < LAB_COUNT; i++)
        gf_suggest_consider(name, lab_list[i]->name, &best, &distance);
    gf_suggest_consider(name, all, &best, &distance);
    return gf_fail(error, GF_ERROR_USAGE, "unknown lab '%.60s'%s%s%s", name,
                   best ? "; did you mean '" : " (--lab lists them)", best ? best : "",
                   best ? "'?" : "");
}

static enum gf_status check_plot(const struct gf_lab *lab, const char *path, struct gf_error *error)
{
    const char *const dot = strrchr(path, '.');
    if (*path && (!dot || (strcmp(dot, ".png") && strcmp(dot, ".svg"))))
        return gf_fail(error, GF_ERROR_USAGE, "%s: plot=%.100s ends in neither .png nor .svg",
                       lab->name, path);
    return GF_OK;
}

/* Parses the values by the parser of filters' parameters. The block that it fills is the struct of
 * the common parameters, followed by the lab's own struct. */
static enum gf_status parse_values(const char *name, const char *text,
                                   struct gf_lab_request *request, struct gf_error *error)
{
    const struct gf_lab *const lab = request->lab;
    const size_t own_size = lab ? lab->params_size : 0;
    struct gf_param params[GF_LAB_PARAMS_MAX];
    gf_lab_params(lab, params);
    for (int i = 0; lab && lab->params && lab->params[i].name; i++)
        params[i].offset += sizeof request->common;
    const struct gf_filter declared = {.name = name,
                                       .kind = GF_GEOMETRY, /* a kind of filter without variants */
                                       .params = params,
                                       .params_size = sizeof request->common + own_size};
    char *const block = calloc(1, declared.params_size + 1);
    if (!block)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    enum gf_status status = gf_params_parse(&declared, &text, block, NULL, error);
    if (!status && *text)
        status =
            gf_fail(error, GF_ERROR_USAGE, "%s: one lab at a time, or all: '%.60s'", name, text);
    memcpy(&request->common, block, sizeof request->common);
    if (lab && !status)
        status = check_plot(lab, request->common.plot, error);
    if (!lab) { /* each lab runs with its own defaults */
        free(block);
        return status;
    }
    memmove(block, block + sizeof request->common, own_size);
    request->params = block;
    struct gf_error detail = {0};
    if (lab->check && !status && (status = lab->check(block, &detail)))
        gf_fail(error, status, "%s: %s", name, detail.text);
    return status;
}

enum gf_status gf_lab_parse(const char *text, struct gf_lab_request *request,
                            struct gf_error *error)
{
    char name[64];
    const size_t length = strcspn(text, ":=,");
    *request = (struct gf_lab_request){0};
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    request->lab = gf_lab_find(name);
    if (length >= sizeof name || (!request->lab && strcmp(name, all)))
        return unknown(name, error);
    request->help = request->lab && !strcmp(text + length, ":help");
    if (request->help)
        return GF_OK;
    const enum gf_status status = parse_values(name, text + length, request, error);
    if (status)
        gf_lab_request_free(request);
    return status;
}

void gf_lab_request_free(struct gf_lab_request *request)
{
    free(request->params);
    request->params = NULL;
}

#ifdef GF_WITH_LABS
/* cuda/study/labs/lab.cu */
enum gf_status gf_lab_device_begin(int device, struct gf_error *error);
enum gf_status gf_lab_device_end(int device, struct gf_error *error);
#else
static enum gf_status gf_lab_device_begin(int device, struct gf_error *error)
{
    return gf_fail(
        error, GF_ERROR_UNAVAILABLE,
        "cuda:%d: labs need machine code for the GPU, and this program was built without "
        "(make CUDA_ARCHS=all)",
        device);
}

static enum gf_status gf_lab_device_end(int device, struct gf_error *error)
{
    (void)device;
    (void)error;
    return GF_OK;
}
#endif

enum gf_status gf_lab_open(int device, struct gf_device_info *info, struct gf_error *error)
{
    const char *why = "";
    if (!gf_backend_cuda_likely(&why) || !gf_device_count(&why))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "labs run on a GPU: %s",
                       *why ? why : "there is no CUDA device");
    GF_TRY(gf_device_describe(device, info, error));
    return gf_lab_device_begin(device, error);
}

enum gf_status gf_lab_judge(const struct gf_lab *lab, const struct gf_lab_result *result,
                            struct gf_error *error)
{
    for (int i = 0; i < result->remarks; i++) {
        if (result->remark[i].kind == GF_LAB_WRONG)
            return gf_fail(error, GF_ERROR_DIFFERENT, "%s: wrong result: %s", lab->name,
                           result->remark[i].text);
    }
    if (result->full)
        return gf_fail(error, GF_ERROR_MEMORY, "%s: the lab's result has no room for all it found",
                       lab->name);
    return GF_OK;
}

/* Writes the parameters as on the command line: "size=256 runs=15". */
static void describe(const struct gf_lab *lab, const struct gf_lab_run *run, char *text,
                     size_t size)
{
    size_t length = 0;
    for (const struct gf_param *param = lab->params; param && param->name && length < size;
         param++) {
        const void *const member = (const char *)run->params + param->offset;
        const int whole =
            param->type == GF_TYPE_INT || param->type == GF_TYPE_CHOICE ? *(const int *)member : 0;
        if (param->type == GF_TYPE_CHOICE)
            length += (size_t)snprintf(text + length, size - length, "%s=%s ", param->name,
                                       param->choices[whole]);
        else
            length +=
                (size_t)snprintf(text + length, size - length, "%s=%.9g ", param->name,
                                 param->type == GF_TYPE_INT ? whole : *(const double *)member);
    }
    if (length < size)
        snprintf(text + length, size - length, "runs=%d", run->runs);
}

/* Allocates the lab's own struct with its defaults. Returns NULL when out of memory. */
static void *default_params(const struct gf_lab *lab)
{
    struct gf_lab_request request;
    return gf_lab_parse(lab->name, &request, NULL) ? NULL : request.params;
}

enum gf_status gf_lab_run(const struct gf_lab *lab, const struct gf_device_info *info, int runs,
                          const void *params, struct gf_lab_result *result, struct gf_error *error)
{
    void *const defaults = params ? NULL : default_params(lab);
    struct gf_error detail = {0};
    const struct gf_lab_run run = {*info, runs, params ? params : defaults, result, &detail};
    *result = (struct gf_lab_result){0};
    snprintf(result->device, sizeof result->device, "cuda:%d %s, sm_%d%d", info->index, info->name,
             info->major, info->minor);
    const double begin_s = gf_now();
    enum gf_status status = GF_ERROR_MEMORY;
    if (run.params) {
        describe(lab, &run, result->settings, sizeof result->settings);
        status = lab->run(&run);
        /* Even after a failure the next lab must find the device in its original state. */
        struct gf_error end_error = {0};
        const enum gf_status ended = gf_lab_device_end(info->index, &end_error);
        if (!status && ended) {
            status = ended;
            detail = end_error;
        }
    }
    result->elapsed_s = gf_now() - begin_s;
    free(defaults);
    if (status)
        return gf_fail(error, status, "%s: %s", lab->name,
                       *detail.text ? detail.text : "out of memory");
    return gf_lab_judge(lab, result, error);
}

/* ---- the result; if it is full, gf_lab_run() reports that once, at the end ---- */

void gf_lab_rows(const struct gf_lab_run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->result->rows_name, sizeof run->result->rows_name, format, arguments);
    va_end(arguments);
}

int gf_lab_column(const struct gf_lab_run *run, const char *name, const char *unit, int decimals)
{
    struct gf_lab_result *const result = run->result;
    if (result->columns == GF_LAB_COLUMNS_MAX) {
        result->full = true;
        return GF_LAB_COLUMNS_MAX - 1;
    }
    struct gf_lab_column *const column = &result->column[result->columns];
    snprintf(column->name, sizeof column->name, "%s", name);
    snprintf(column->unit, sizeof column->unit, "%s", unit);
    column->decimals = decimals;
    return result->columns++;
}

int gf_lab_row(const struct gf_lab_run *run, double x, const char *label, ...)
{
    struct gf_lab_result *const result = run->result;
    if (result->rows == GF_LAB_ROWS_MAX) {
        result->full = true;
        result->rows--;
    }
    struct gf_lab_row *const row = &result->row[result->rows];
    *row = (struct gf_lab_row){.x = x};
    for (int i = 0; i < GF_LAB_COLUMNS_MAX; i++)
        row->value[i] = NAN;
    va_list arguments;
    va_start(arguments, label);
    vsnprintf(row->label, sizeof row->label, label, arguments);
    va_end(arguments);
    return result->rows++;
}

void gf_lab_value(const struct gf_lab_run *run, int column, double value)
{
    struct gf_lab_result *const result = run->result;
    if (result->rows && column >= 0 && column < result->columns)
        result->row[result->rows - 1].value[column] = value;
    else
        result->full = true;
}

void gf_lab_reason(const struct gf_lab_run *run, const char *format, ...)
{
    struct gf_lab_result *const result = run->result;
    if (!result->rows) {
        result->full = true;
        return;
    }
    struct gf_lab_row *const row = &result->row[result->rows - 1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row->reason, sizeof row->reason, format, arguments);
    va_end(arguments);
}

static void remark(const struct gf_lab_run *run, enum gf_lab_remark_kind kind, const char *format,
                   va_list arguments)
{
    struct gf_lab_result *const result = run->result;
    if (result->remarks == GF_LAB_REMARKS_MAX) {
        result->full = true;
        return;
    }
    struct gf_lab_remark *const at = &result->remark[result->remarks++];
    at->kind = kind;
    vsnprintf(at->text, sizeof at->text, format, arguments);
}

void gf_lab_check(const struct gf_lab_run *run, bool right, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(run, right ? GF_LAB_RIGHT : GF_LAB_WRONG, format, arguments);
    va_end(arguments);
}

void gf_lab_claim(const struct gf_lab_run *run, bool agrees, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(run, agrees ? GF_LAB_AGREES : GF_LAB_DIFFERS, format, arguments);
    va_end(arguments);
}

void gf_lab_note(const struct gf_lab_run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(run, GF_LAB_NOTE, format, arguments);
    va_end(arguments);
}
