#include <stdio.h>
#include <stdlib.h>

#include "cli/messages.h"
#include "cli/report_file.h"
#include "cli/study/study.h"
#include "report/page/html.h"
#include "study/labs/lab.h"
#include "study/report/lab_report.h"

/* The results of the labs that ran, for the page. */
struct findings {
    struct gf_lab_found *found;
    int count;
};

static enum gf_status print_lab(const struct gf_lab *lab, const struct gf_lab_request *request,
                                const struct gf_lab_result *result, struct gf_error *error)
{
    char said[2 * GF_FILE_NAME_SIZE + 100] = "";
    enum gf_status status = GF_OK;
    if (request->common.form == GF_LAB_JSON)
        gf_lab_json(stdout, lab, result);
    else
        gf_lab_table(stdout, lab, result);
    if (*request->common.plot)
        status = gf_lab_draw(request->common.plot, lab, result, said, sizeof said, error);
    if (*said)
        gf_message_print("", said);
    return status;
}

/* Runs a lab and prints its results, even if some are wrong. The results are kept in `findings`.
 * *shown becomes whether anything was printed. */
static enum gf_status show_lab(const struct gf_lab *lab, const struct gf_lab_request *request,
                               const struct gf_device_info *device, const char *separator,
                               struct findings *findings, bool *shown, struct gf_error *error)
{
    struct gf_lab_result *const result = calloc(1, sizeof *result);
    struct gf_error plot_error = {0};
    if (!result)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    enum gf_status status =
        gf_lab_run(lab, device, request->common.runs, request->params, result, error);
    *shown = result->rows || !status;
    if (!*shown) {
        free(result);
        return status;
    }
    fputs(separator, stdout);
    findings->found[findings->count++] = (struct gf_lab_found){lab, result};
    const enum gf_status printed = print_lab(lab, request, result, &plot_error);
    if (printed && !status) {
        status = printed;
        *error = plot_error;
    }
    return status;
}

/* Runs all labs, even if some fail, and returns the first failure. */
static enum gf_status show_labs(const struct gf_lab_request *request,
                                const struct gf_device_info *device, struct findings *findings,
                                struct gf_error *error)
{
    const bool json = request->common.form == GF_LAB_JSON;
    const char *separator = "";
    const struct gf_lab *lab;
    enum gf_status status = GF_OK;
    fputs(json ? "[\n" : "", stdout);
    for (int i = 0; (lab = gf_lab_at(i)); i++) {
        struct gf_error detail = {0};
        bool shown = false;
        const enum gf_status one =
            show_lab(lab, request, device, separator, findings, &shown, &detail);
        if (shown)
            separator = json ? ",\n" : "\n";
        if (one && status)
            gf_message_print("", detail.text);
        if (one && !status) {
            status = one;
            *error = detail;
        }
        fflush(stdout);
    }
    fputs(json ? "]\n" : "", stdout);
    return status;
}

static enum gf_status put_page(FILE *file, const void *context, struct gf_error *error)
{
    const struct findings *const findings = context;
    (void)error;
    gf_html_begin(file, "Labs", "Microbenchmarks of single techniques of the CUDA guides");
    gf_labs_html(file, findings->found, findings->count, "labs", "");
    gf_html_end(file);
    return GF_OK;
}

/* Runs the labs that --lab names, and writes the page even if a lab failed. */
static enum gf_status run_labs(const struct gf_lab_request *request,
                               const struct gf_device_info *device, struct gf_error *error)
{
    struct gf_output *page = NULL;
    struct gf_error page_error = {0};
    struct findings findings = {0};
    bool shown = false;
    int labs = 0;
    while (gf_lab_at(labs))
        labs++;
    findings.found = calloc((size_t)labs, sizeof *findings.found);
    enum gf_status status =
        findings.found ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (!status && *request->common.html)
        status = gf_report_open(request->common.html, &page, error);
    if (!status)
        status = request->lab
                     ? show_lab(request->lab, request, device, "", &findings, &shown, error)
                     : show_labs(request, device, &findings, error);
    if (page && findings.count) {
        const enum gf_status written = gf_report_write(page, put_page, &findings, &page_error);
        if (written && !status) {
            status = written;
            *error = page_error;
        }
    }
    if (page)
        gf_output_close(page);
    for (int i = 0; i < findings.count; i++)
        free((void *)findings.found[i].result);
    free(findings.found);
    return status;
}

enum gf_status gf_act_labs(const struct gf_command *command, struct gf_error *error)
{
    struct gf_lab_request request;
    struct gf_device_info device;
    if (!command->lab) {
        gf_lab_list(stdout);
        return GF_OK;
    }
    enum gf_status status = gf_lab_parse(command->lab, &request, error);
    if (status)
        return status;
    if (request.help) {
        gf_lab_help(stdout, request.lab);
    } else if (command->options.device == GF_DEVICE_CPU) {
        status = gf_fail(error, GF_ERROR_USAGE, "labs run on a GPU: not with --device=cpu");
    } else if (command->all_devices || command->devices > 1) {
        status = gf_fail(error, GF_ERROR_USAGE, "labs run on one GPU at a time: --device=cuda:N");
    } else {
        status = gf_lab_open(command->options.device_index, &device, error);
        if (!status)
            status = run_labs(&request, &device, error);
    }
    gf_lab_request_free(&request);
    return status;
}
