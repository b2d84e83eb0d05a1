/* The list of labs. Parses a request for labs, runs a lab, and fills its result. */
#include "study/labs/lab.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text/plain_text.h"
#include "base/threads/times.h"
#include "chain/params.h"

static const struct gf_lab *const lab_list[] = {
#define ADDRESS(stem) &gf_lab_##stem,
    GF_LABS(ADDRESS)};
enum { LAB_COUNT = sizeof lab_list / sizeof *lab_list };

static const char all[] = "all";
static const char *const forms[] = {"table", "json", NULL};

/* "all" accepts only the first three, because it draws no plot. */
enum { COMMON_OF_ALL = 3 };
static const struct gf_param common_params[] = {
    GF_PARAM_INT(struct gf_lab_values, runs, 15, 1, 1000,
                 "timings that each figure is the median of"),
    {.name = "format",
     .type = GF_TYPE_CHOICE,
     .offset = offsetof(struct gf_lab_values, form),
     .choices = forms,
     .help = "a table to read, or JSON"},
    {.name = "html",
     .type = GF_TYPE_FILE,
     .offset = offsetof(struct gf_lab_values, html),
     .help = "write a page with the curves and the guide's figures to this file"},
    {.name = "plot",
     .type = GF_TYPE_FILE,
     .offset = offsetof(struct gf_lab_values, plot),
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
    for (; lab && lab->params[count].name; count++) {
        params[count] = lab->params[count];
        params[count].offset = offsetof(struct gf_lab_values, param) + (size_t)count * sizeof(int);
    }
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

/* Parses the values by the parser of filters' parameters. */
static enum gf_status parse_values(const char *name, const char *text,
                                   struct gf_lab_request *request, struct gf_error *error)
{
    const struct gf_lab *const lab = request->lab;
    struct gf_param params[GF_LAB_PARAMS_MAX];
    gf_lab_params(lab, params);
    const struct gf_filter declared = {.name = name,
                                       .kind = GF_GEOMETRY, /* a kind of filter without variants */
                                       GF_PARAMS(struct gf_lab_values, params)};
    enum gf_status status = gf_params_parse(&declared, &text, &request->values, NULL, error);
    if (!status && *text)
        status =
            gf_fail(error, GF_ERROR_USAGE, "%s: one lab at a time, or all: '%.60s'", name, text);
    if (lab && !status)
        status = check_plot(lab, request->values.plot, error);
    struct gf_error detail = {0};
    if (lab && lab->check && !status && (status = lab->check(request->values.param, &detail)))
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
    return request->help ? GF_OK : parse_values(name, text + length, request, error);
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

int gf_lab_columns(const struct gf_lab *lab)
{
    int count = 0;
    while (lab->columns[count].name)
        count++;
    return count;
}

bool gf_lab_has_values(const struct gf_lab *lab, const struct gf_lab_row *row)
{
    for (int i = 0; i < gf_lab_columns(lab); i++) {
        if (!isnan(row->value[i]))
            return true;
    }
    return false;
}

enum gf_status gf_lab_judge(const struct gf_lab *lab, const struct gf_lab_result *result,
                            struct gf_error *error)
{
    bool checked = false, measured = false;
    for (int i = 0; i < result->rows; i++)
        measured = measured || gf_lab_has_values(lab, &result->row[i]);
    for (int i = 0; i < result->remarks; i++) {
        if (result->remark[i].kind == GF_LAB_WRONG)
            return gf_fail(error, GF_ERROR_DIFFERENT, "%s: wrong result: %s", lab->name,
                           result->remark[i].text);
        checked = checked || result->remark[i].kind == GF_LAB_RIGHT;
    }
    if (result->full)
        return gf_fail(error, GF_ERROR_MEMORY, "%s: the lab's result has no room for all it found",
                       lab->name);
    return measured && !checked
               ? gf_fail(error, GF_ERROR_DIFFERENT, "%s: no result was checked", lab->name)
               : GF_OK;
}

/* Writes the parameters as on the command line: "size=256 runs=15". */
static void describe(const struct gf_lab_run *run, char *text, size_t size)
{
    size_t length = 0;
    for (int i = 0; run->lab->params[i].name && length < size; i++) {
        const struct gf_param *const param = &run->lab->params[i];
        char number[16];
        snprintf(number, sizeof number, "%d", run->param[i]);
        length += (size_t)snprintf(text + length, size - length, "%s=%s ", param->name,
                                   param->choices ? param->choices[run->param[i]] : number);
    }
    if (length < size)
        snprintf(text + length, size - length, "runs=%d", run->runs);
}

/* Adds the check of what gf_lab_count() counted. A lab without a text has a check of its own. */
static void conclude(const struct gf_lab_run *run)
{
    const unsigned long long wrong = run->result->wrong;
    const char *const right = run->lab->right;
    if (run->result->counted && (right || wrong))
        gf_lab_check(run, !wrong, right ? right : "%llu results are wrong", wrong);
}

enum gf_status gf_lab_run(const struct gf_lab *lab, const struct gf_device_info *info, int runs,
                          const int *param, struct gf_lab_result *result, struct gf_error *error)
{
    int defaults[GF_LAB_OWN_PARAMS_MAX];
    struct gf_error detail = {0}, end_error = {0};
    const struct gf_lab_run run = {*info, runs, param ? param : defaults, lab, result, &detail};
    for (int i = 0; lab->params[i].name; i++)
        defaults[i] = (int)lab->params[i].value;
    *result = (struct gf_lab_result){0};
    snprintf(result->rows_name, sizeof result->rows_name, "%s", lab->rows ? lab->rows : "");
    snprintf(result->device, sizeof result->device, "cuda:%d %s, sm_%d%d", info->index, info->name,
             info->major, info->minor);
    describe(&run, result->settings, sizeof result->settings);
    const double begin_s = gf_now();
    enum gf_status status = lab->run(&run);
    /* Even after a failure the next lab must find the device in its original state. */
    const enum gf_status ended = gf_lab_device_end(info->index, &end_error);
    if (!status && ended) {
        status = ended;
        detail = end_error;
    }
    result->elapsed_s = gf_now() - begin_s;
    if (status)
        return gf_fail(error, status, "%s: %s", lab->name,
                       *detail.text ? detail.text : "out of memory");
    conclude(&run);
    return gf_lab_judge(lab, result, error);
}

/* ---- the result; if it is full, gf_lab_run() reports that once, at the end ---- */

double *gf_lab_row(const struct gf_lab_run *run, double x, const char *label, ...)
{
    struct gf_lab_result *const result = run->result;
    if (result->rows == GF_LAB_ROWS_MAX) {
        result->full = true;
        result->rows--;
    }
    struct gf_lab_row *const row = &result->row[result->rows++];
    *row = (struct gf_lab_row){.x = x};
    for (int i = 0; i < GF_LAB_COLUMNS_MAX; i++)
        row->value[i] = NAN;
    va_list arguments;
    va_start(arguments, label);
    vsnprintf(row->label, sizeof row->label, label, arguments);
    va_end(arguments);
    return row->value;
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

/* The order of remarks: checks, claims, notes. */
static int rank(enum gf_lab_remark_kind kind)
{
    return kind == GF_LAB_NOTE ? 2 : kind == GF_LAB_AGREES || kind == GF_LAB_DIFFERS;
}

static void remark(const struct gf_lab_run *run, enum gf_lab_remark_kind kind, const char *format,
                   va_list arguments)
{
    struct gf_lab_result *const result = run->result;
    if (result->remarks == GF_LAB_REMARKS_MAX) {
        result->full = true;
        return;
    }
    int at = result->remarks++;
    for (; at > 0 && rank(result->remark[at - 1].kind) > rank(kind); at--)
        result->remark[at] = result->remark[at - 1];
    result->remark[at].kind = kind;
    vsnprintf(result->remark[at].text, GF_LAB_TEXT_SIZE, format, arguments);
}

void gf_lab_count(const struct gf_lab_run *run, uint64_t wrong)
{
    run->result->counted = true;
    run->result->wrong += wrong;
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

/* Notes a claim that is true if the first number of the text is between two others. */
static void claim_between(const struct gf_lab_run *run, double least, double most,
                          const char *format, va_list arguments)
{
    va_list copy;
    va_copy(copy, arguments);
    const double first = va_arg(copy, double);
    va_end(copy);
    remark(run, first > least && first < most ? GF_LAB_AGREES : GF_LAB_DIFFERS, format, arguments);
}

void gf_lab_above(const struct gf_lab_run *run, double least, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    claim_between(run, least, INFINITY, format, arguments);
    va_end(arguments);
}

void gf_lab_below(const struct gf_lab_run *run, double most, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    claim_between(run, -INFINITY, most, format, arguments);
    va_end(arguments);
}

void gf_lab_note(const struct gf_lab_run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(run, GF_LAB_NOTE, format, arguments);
    va_end(arguments);
}
