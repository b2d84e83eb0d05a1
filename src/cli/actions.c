/* The actions that are short: --report=json:FILE, --calibrate, --serve. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "batch/devices/figures.h"
#include "batch/log/batch_log.h"
#include "bench/calibrate.h"
#include "bench/likeness.h"
#include "engine/device_score.h"
#include "server/server.h"

static const char form[] = "json:";

bool gf_account_asked(const struct gf_command *command)
{
    return !strncmp(command->page, form, sizeof form - 1);
}

static enum gf_status put(FILE *file, const void *account, struct gf_error *error)
{
    (void)error;
    gf_account_put((struct gf_account *)account, file);
    return GF_OK;
}

/* Reads the logs, records and folders that the command line names. A list, @LIST, names the inputs
 * that should be in them. */
static enum gf_status add_all(const struct gf_command *command, struct gf_account *account,
                              struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < command->inputs; i++) {
        if (command->input[i][0] != '@')
            status = gf_account_add(account, command->input[i], error);
    }
    for (int i = 0; !status && i < command->inputs; i++) {
        const struct gf_inputs_request request = {.argument = &command->input[i],
                                                  .count = 1,
                                                  .recursive = command->recursive,
                                                  .nul_separated = command->nul_separated};
        struct gf_inputs inputs;
        if (command->input[i][0] != '@')
            continue;
        status = gf_inputs_expand(&request, &inputs, error);
        if (!status) {
            status = gf_account_expect(account, &inputs, error);
            gf_inputs_free(&inputs);
        }
    }
    return status;
}

enum gf_status gf_act_account(const struct gf_command *command, struct gf_error *error)
{
    struct gf_account *account = NULL;
    struct gf_output *output = NULL;
    enum gf_status status = gf_account_open(&account, error);
    GF_THEN(status, gf_report_open(command->page + sizeof form - 1, &output, error));
    GF_THEN(status, add_all(command, account, error));
    GF_THEN(status, gf_report_write(output, put, account, error));
    gf_output_close(output);
    GF_THEN(status, gf_account_conclude(account, error));
    if (!status && !command->quiet && *error->text)
        gf_message_print("", error->text);
    gf_account_close(account);
    return status;
}

/* ---- --calibrate: measures the figures of this machine, prints them and keeps them ---- */

static void print_figure(const struct gf_calibration *calibration, int figure)
{
    const struct gf_figure_info info = gf_figure_info(figure);
    const double found = calibration->figures.calibrated[figure];
    if (found > 0)
        printf("%-18s %9.4g %c%8.4g  %-8s  %s\n", info.name, info.declared,
               calibration->derived[figure] ? '~' : ' ', found, info.unit, info.what);
}

enum gf_status gf_act_calibrate(const struct gf_command *command, struct gf_error *error)
{
    struct gf_calibration calibration;
    struct gf_figures_file file;
    struct gf_error why;
    /* The measured runs must not use the options that the user has set in the environment. */
    (void)unsetenv("GPUFILTER_OPTS");
    GF_TRY(gf_calibrate("/proc/self/exe", GF_CALIBRATE_SECONDS, &calibration, error));
    printf("%-18s %9s %9s  %-8s  %s\n", "figure", "declared", "measured", "unit", "what it is");
    const int count = gf_figure_count();
    for (int i = 0; i < count; i++)
        print_figure(&calibration, i);
    printf("\n~: by the mean factor of the measured figures of its kind\nmeasured in %.1f s%s%s\n",
           calibration.seconds,
           calibration.gpu ? "" : "; no GPU: ", calibration.gpu ? "" : calibration.why_no_gpu);
    const bool kept = gf_figures_keep(&calibration.figures, &why);
    if (kept && gf_figures_file_find(&file))
        printf("kept in %s\nfor %s\n", file.path, file.machine);
    else if (!command->quiet) {
        struct gf_error text;
        (void)gf_fail(&text, GF_OK, "the figures are not kept: %s", why.text);
        gf_message_warn(NULL, text.text);
    }
    return GF_OK;
}

/* ---- --serve, and --serve=stop ---- */

static void tell(void *context, const char *text)
{
    const struct gf_command *const command = context;
    if (!command->quiet)
        gf_message_print("", text);
}

static enum gf_status stop(struct gf_command *command, struct gf_error *error)
{
    bool was_there;
    GF_TRY(gf_server_stop(&was_there, error));
    if (!was_there)
        tell(command, "there is no server");
    return GF_OK;
}

enum gf_status gf_act_serve(struct gf_command *command, struct gf_error *error)
{
    if (command->form == GF_SERVE_STOP)
        return stop(command, error);
    if (command->options.device == GF_DEVICE_CPU || command->devices > 1 || command->all_devices)
        return gf_fail(error, GF_ERROR_USAGE, "--serve works with one GPU: --device=cuda:N");
    const struct gf_server_settings settings = {.device = command->options.device_index,
                                                .memory_bytes = command->options.memory_bytes,
                                                .device_memory_bytes =
                                                    command->options.device_memory_bytes,
                                                .workers = command->options.threads,
                                                .idle_s = command->idle_s,
                                                .sandbox = command->options.sandbox,
                                                .ready = tell,
                                                .context = command,
                                                .compare = gf_likeness_for_client,
                                                .rest = gf_score_rest};
    return gf_serve(&settings, error);
}
