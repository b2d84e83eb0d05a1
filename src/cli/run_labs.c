/* --lab. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/messages.h"
#include "cli/run.h"
#include "labs/lab.h"
#include "report/lab_report.h"

/* Runs a lab and prints what it found, also if some of it is wrong. *shown: whether anything was
 * printed. */
static enum gf_status show_lab(const struct gf_lab *lab, const struct gf_lab_request *request,
                               const struct gf_device_info *device, const char *separator,
                               bool *shown, struct gf_error *error)
{
    struct gf_lab_result *const result = calloc(1, sizeof *result);
    char said[2 * GF_FILE_NAME_SIZE + 100] = "";
    if (!result)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    enum gf_status status =
        gf_lab_run(lab, device, request->common.runs, request->params, result, error);
    *shown = result->rows || !status;
    if (!*shown)
        goto done;
    fputs(separator, stdout);
    if (request->common.form == GF_LAB_JSON)
        gf_lab_json(stdout, lab, result);
    else
        gf_lab_table(stdout, lab, result);
    if (!status && *request->common.plot)
        status = gf_lab_draw(request->common.plot, lab, result, said, sizeof said, error);
    if (*said)
        gf_message_print("", said);
done:
    free(result);
    return status;
}

/* Runs all labs, even if some fail, and returns the first failure. */
static enum gf_status show_labs(const struct gf_lab_request *request,
                                const struct gf_device_info *device, struct gf_error *error)
{
    const bool json = request->common.form == GF_LAB_JSON;
    const char *separator = "";
    const struct gf_lab *lab;
    enum gf_status status = GF_OK;
    fputs(json ? "[\n" : "", stdout);
    for (int i = 0; (lab = gf_lab_at(i)); i++) {
        struct gf_error detail = {0};
        bool shown = false;
        const enum gf_status one = show_lab(lab, request, device, separator, &shown, &detail);
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

enum gf_status gf_run_labs(const struct gf_command *command, struct gf_error *error)
{
    struct gf_lab_request request;
    struct gf_device_info device;
    bool shown = false;
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
            status = request.lab ? show_lab(request.lab, &request, &device, "", &shown, error)
                                 : show_labs(&request, &device, error);
    }
    gf_lab_request_free(&request);
    return status;
}
