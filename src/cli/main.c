/* gpufilter, the program: the only place that prints to the streams and exits. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch/program_words.h"
#include "bench/compare.h"
#include "bench/explain.h"
#include "chain/chain_file.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/help.h"
#include "cli/run.h"
#include "cli/shell_words.h"
#include "codec/codec.h"
#include "gpufilter/gpufilter.h"
#include "labs/lab.h"
#include "report/compare_report.h"
#include "report/explain_report.h"
#include "report/lab_report.h"

/* A closed standard stream would give its number to the next file that is opened, and what is meant
 * for the stream would end in that file. The stand-ins fail as the closed stream would: not for
 * reading, not for writing; standard error takes anything. */
static void occupy_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDWR};
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            _exit(1);
    }
}

static void on_signal(int number)
{
    gf_abandon_outputs();
    _exit(128 + number);
}

static bool pipe_is_ignored; /* by whoever started us: then a closed pipe is told of as an error */

/* Whether standard output is a pipe that nobody reads any more: nothing to complain about, the
 * reader had enough. */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return !pipe_is_ignored && poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/* What the shell ignores for us (a job in the background, nohup) stays ignored. */
static void catch_signals(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction before;
        if (!sigaction(ending[i], NULL, &before) && before.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    }
    /* A closed pipe and a file at its limit are errors of write(). */
    struct sigaction pipe;
    pipe_is_ignored = !sigaction(SIGPIPE, NULL, &pipe) && pipe.sa_handler == SIG_IGN;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* One line, whatever is in it: the name of a file may hold anything. */
static void complain(const char *kind, const char *text)
{
    char line[sizeof((struct gf_error *)0)->text];
    size_t length = 0;
    for (; text[length] && length + 1 < sizeof line; length++)
        line[length] =
            (unsigned char)text[length] < 0x20 || text[length] == 0x7f ? '?' : text[length];
    line[length] = '\0';
    gf_program_words(line);
    fprintf(stderr, "gpufilter: %s%s\n", kind, line);
}

/* Catches what went wrong with standard output up to here: a full disk, a closed stream. */
static enum gf_status flush_stdout(struct gf_error *error)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return GF_OK;
    return gf_fail(error, GF_ERROR_OUTPUT, "standard output: %s",
                   errno ? strerror(errno) : "cannot write");
}

static void warn(void *context, const char *text)
{
    (void)context;
    complain("warning: ", text);
}

/* Standard output, unless it takes the picture or the trace. */
static FILE *report_file(const struct gf_command *command)
{
    const bool taken = (command->output && !strcmp(command->output, "-")) ||
                       (command->trace && !strcmp(command->trace, "-"));
    return taken ? stderr : stdout;
}

static enum gf_status compare(const struct gf_command *command, struct gf_error *error)
{
    struct gf_comparison found;
    enum gf_status status =
        gf_compare_file(command->input[0], command->chain, &command->options, &found, error);
    if (status)
        return status;
    if (command->profile == GF_PROFILE_COMPARE_JSON)
        gf_compare_json(&found, report_file(command));
    else if (command->profile == GF_PROFILE_COMPARE_CSV)
        gf_compare_csv(&found, report_file(command));
    else
        gf_compare_table(&found, report_file(command));
    status = flush_stdout(error);
    if (!status)
        status = gf_compare_judge(&found, error);
    gf_comparison_free(&found);
    return status;
}

/* Nobody types a picture. */
static enum gf_status check_terminal(const struct gf_command *command, struct gf_error *error)
{
    if (!strcmp(command->input[0], "-") && isatty(STDIN_FILENO))
        return gf_fail(error, GF_ERROR_USAGE,
                       "standard input is a terminal: pipe a picture in, or name one with -i");
    return GF_OK;
}

static enum gf_status explain(struct gf_command *command, struct gf_error *error)
{
    struct gf_explanation found;
    command->options.warn = command->quiet ? NULL : warn;
    enum gf_status status = check_terminal(command, error);
    if (!status)
        status = gf_explain_file(command->input[0], command->output, command->chain,
                                 &command->options, &found, error);
    if (status)
        return status;
    gf_explain_print(&found, stdout);
    gf_explain_free(&found);
    return GF_OK;
}

static enum gf_status run(struct gf_command *command, struct gf_error *error)
{
    enum gf_status status =
        command->output ? gf_run_command(command, complain, error) : check_terminal(command, error);
    /* With an output the run has said it. */
    command->options.warn = command->quiet || command->output ? NULL : warn;
    if (!status && command->profile >= GF_PROFILE_COMPARE)
        status = compare(command, error);
    return status;
}

static void print_line(void *context, const char *text)
{
    (void)context;
    puts(text);
}

static enum gf_status selftest(const struct gf_command *command, struct gf_error *error)
{
    const bool small_only = command->detail == GF_SELFTEST_SMALL;
    struct gf_selftest_counts counts = {0};
    /* Should a device take the process with it, the cases before it have been printed. */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    const enum gf_status status =
        gf_selftest(small_only, command->chain, print_line, NULL, &counts, error);
    if (status != GF_ERROR_USAGE)
        printf("%d passed, %d failed, %d skipped\n", counts.passed, counts.failed, counts.skipped);
    return status;
}

/* What a lab found is shown also where some of it is wrong. *shown: whether anything was. */
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
        fprintf(stderr, "gpufilter: %s\n", said);
done:
    free(result);
    return status;
}

/* All of them, in spite of those that fail; the first failure is the program's. */
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
            complain("", detail.text);
        if (one && !status) {
            status = one;
            *error = detail;
        }
        fflush(stdout);
    }
    fputs(json ? "]\n" : "", stdout);
    return status;
}

static enum gf_status run_labs(const struct gf_command *command, struct gf_error *error)
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

static enum gf_status act(struct gf_command *command, struct gf_error *error)
{
    switch (command->action) {
    case GF_ACTION_RUN:
        return run(command, error);
    case GF_ACTION_EXPLAIN:
        return explain(command, error);
    case GF_ACTION_HELP:
        if (command->topic)
            gf_help_filter(stdout, gf_filter_find(command->topic));
        else
            gf_help_print(stdout);
        break;
    case GF_ACTION_LIST:
        gf_help_list(stdout, command->detail);
        break;
    case GF_ACTION_DEVICES:
        return gf_help_devices(stdout, command->detail == GF_DEVICES_MEASURE, error);
    case GF_ACTION_VERSION:
        gf_help_version(stdout);
        break;
    case GF_ACTION_SELFTEST:
        return selftest(command, error);
    case GF_ACTION_LAB:
        return run_labs(command, error);
    case GF_ACTION_MAN:
        gf_man_print(stdout);
        break;
    case GF_ACTION_COMPLETION:
        gf_completion_print(stdout, command->detail);
        break;
    }
    return GF_OK;
}

int main(int argc, char **argv)
{
    struct gf_command command = {0};
    struct gf_error error = {0};
    const char *const environment = getenv("GPUFILTER_OPTS");
    char **words = NULL, *chain = NULL;
    int count = 0;
    occupy_streams();
    catch_signals();
    enum gf_status status =
        gf_shell_words_split(environment ? environment : "", &words, &count, &error);
    if (status == GF_ERROR_USAGE) {
        const struct gf_error detail = error;
        (void)gf_fail(&error, status, "GPUFILTER_OPTS: %s", detail.text);
    }
    if (!status)
        status = gf_command_parse_after(count, words, argc, argv, &command, &error);
    if (!status && command.chain_file) {
        status = gf_chain_file_read(command.chain_file, &chain, &error);
        command.chain = chain;
    }
    if (!status)
        status = act(&command, &error);
    struct gf_error flush_error = {0};
    const enum gf_status flushed = flush_stdout(&flush_error);
    if (!status && flushed) {
        status = flushed;
        error = flush_error;
    }
    free(chain);
    free(words);
    if (status == GF_ERROR_OUTPUT && reader_is_gone()) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    if (status)
        complain("", error.text);
    return gf_exit_status(status);
}
