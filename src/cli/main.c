/* The program gpufilter: its streams, its signals, the action that the command line names, and the
 * exit status. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/program.h"
#include "base/threads/times.h"
#include "batch/transfer/transfer.h"
#include "chain/chain.h"
#include "cli/cli.h"
#include "cli/command/command.h"
#include "cli/help/help.h"
#include "cli/study/study.h"
#include "codec/cell/cell.h"
#include "codec/codec.h"
#include "codec/formats.h"
#include "codec/io/output.h"
#include "codec/layouts/layouts.h"
#include "pipeline/pipeline_internal.h"

/* Opens /dev/null for each standard stream that is closed. Otherwise the next file that is opened
 * would get the stream's number, and what is meant for the stream would end up in that file. The
 * modes make reading standard input and writing standard output fail, as on the closed stream. */
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
    gf_commands_abandon();
    gf_outputs_end();
    gf_summary_interrupted();
    _exit(128 + number);
}

/* The parent has set SIGPIPE to be ignored, and so wants a closed pipe to be an error. */
static bool sigpipe_was_ignored;

/* Whether standard output is a pipe that nobody reads any more. This is no error, since the reader
 * has read enough. */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return !sigpipe_was_ignored && poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/* Catches signals that end the program. Those that the parent ignores, as nohup and shells with
 * background jobs do, stay ignored. */
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
    /* With these signals ignored, a closed pipe and a file at its size limit become errors of
     * write(). */
    struct sigaction pipe;
    sigpipe_was_ignored = !sigaction(SIGPIPE, NULL, &pipe) && pipe.sa_handler == SIG_IGN;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* If the parent ignores this signal, the kernel drops the exit statuses of child processes. */
    signal(SIGCHLD, SIG_DFL);
}

static void print_line(void *context, const char *text)
{
    (void)context;
    puts(text);
}

static enum gf_status selftest(const struct gf_command *command, struct gf_error *error)
{
    const bool small_only = command->form == GF_SELFTEST_SMALL;
    struct gf_selftest_counts counts = {0};
    const char *why = "";
    if (command->options.device == GF_DEVICE_CUDA && !gf_device_count(&why))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "no CUDA device: %s", why);
    /* If a device crashes the process, the earlier lines have already been printed. */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    const enum gf_status status =
        gf_selftest(small_only, command->chain, print_line, NULL, &counts, error);
    if (status != GF_ERROR_USAGE)
        printf("%d passed, %d failed, %d skipped\n", counts.passed, counts.failed, counts.skipped);
    return status;
}

/* Whether the output is a pyramid of tiles in files, or a folder of such. */
static bool has_tiles(const struct gf_command_output *output)
{
    struct gf_pyramid_choice choice;
    return gf_tiles_named(output->output, &output->options) ||
           (!gf_pyramid_choose(&output->options, &choice, NULL) && choice.layout > GF_LAYOUT_ANY &&
            choice.layout < GF_LAYOUT_COG);
}

/* Warns of options that change nothing in an output of this format. */
static void warn_of_options(const struct gf_command *command, int index)
{
    const struct gf_command_output output = gf_command_output_at(command, index);
    const bool tiles = has_tiles(&output);
    enum gf_file_format format = output.options.format;
    if (format == GF_FILE_AUTO && output.output)
        format = tiles ? GF_FILE_JPEG : gf_file_format_named(output.output);
    const struct gf_file_type *const type = gf_file_type(format);
    /* Options for all outputs are not warned of: each is meant for the outputs whose format uses
     * it. */
    const uint64_t given = output.given & ~command->all.given;
    const struct gf_option *option;
    for (int i = 0; !command->quiet && type && (option = gf_option_at(i)); i++) {
        const bool of_tiles = gf_word_in_list("pyramid tile-size", option->name);
        char line[120];
        if (!option->of_output || !(given >> i & 1) || (tiles && of_tiles) ||
            !gf_file_type_ignores(type, &output.options, option->name))
            continue;
        snprintf(line, sizeof line, "--%s changes nothing in %s%s", option->name,
                 tiles ? "tiles of " : "this ", type->name);
        gf_message_warn(NULL, line);
    }
}

/* Warns of values that may be meant otherwise, writes the picture if -o is given, and compares the
 * variants if that is asked for. */
static enum gf_status filter(struct gf_command *command, struct gf_error *error)
{
    uint64_t told = 0;
    for (int i = 0; i < gf_command_outputs(command); i++) {
        const char *const chain = gf_command_output_at(command, i).chain;
        warn_of_options(command, i);
        if (chain && !command->quiet)
            gf_chain_hint(chain, &told, gf_message_warn, NULL);
    }
    if (command->output)
        GF_TRY(gf_act_filter(command, error));
    return command->profile >= GF_PROFILE_COMPARE ? gf_act_study(command, error) : GF_OK;
}

/* Explains what is named by --help or, as in "resize --help", by a chain's first filter. */
static enum gf_status help(const struct gf_command *command, struct gf_error *error)
{
    const struct gf_topic *page = command->subject;
    const struct gf_filter *filter = command->topic;
    if (command->about)
        gf_help_option(stdout, command->about);
    if (command->about)
        return GF_OK;
    if (page && !page->text) {
        if (!command->chain) {
            GF_TRY(gf_help_topic(stdout, page, error));
            putc('\n', stdout);
        }
        return gf_study_help(stdout, command->chain, error);
    }
    if (!page && !filter && command->chain) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(command->chain, "=,"), command->chain);
        page = gf_topic_find(name);
        if (!page)
            GF_TRY(gf_filter_named(name, "", &filter, error));
    }
    if (page)
        return gf_help_topic(stdout, page, error);
    if (filter)
        gf_help_filter(stdout, filter);
    else
        gf_help_print(stdout);
    return GF_OK;
}

static enum gf_status act(struct gf_command *command, struct gf_error *error)
{
    switch (command->action) {
    case GF_ACTION_FILTER:
        return filter(command, error);
    case GF_ACTION_REPORT:
        return gf_account_asked(command) ? gf_act_account(command, error)
                                         : gf_act_study(command, error);
    case GF_ACTION_EXPLAIN:
    case GF_ACTION_LAB:
        return gf_act_study(command, error);
    case GF_ACTION_HELP:
        return help(command, error);
    case GF_ACTION_LIST:
        gf_help_list(stdout, command->form);
        break;
    case GF_ACTION_EXAMPLES:
        return gf_help_examples(stdout, command->examples, error);
    case GF_ACTION_DEVICES:
        if (command->form == GF_DEVICES_JSON)
            return gf_help_devices_json(stdout, error);
        return gf_help_devices(stdout, command->form == GF_DEVICES_MEASURE, error);
    case GF_ACTION_CALIBRATE:
        return gf_act_calibrate(command, error);
    case GF_ACTION_VERSION:
        gf_help_version(stdout);
        break;
    case GF_ACTION_SELFTEST:
        return selftest(command, error);
    case GF_ACTION_COMPARE:
        return gf_act_compare(command, error);
    case GF_ACTION_INFO:
        return gf_act_info(command, error);
    case GF_ACTION_SERVE:
        return gf_act_serve(command, error);
    case GF_ACTION_MAN:
        if (command->man)
            return gf_man_topic(stdout, command->man, error);
        gf_man_print(stdout);
        break;
    case GF_ACTION_COMPLETION:
        gf_completion_print(stdout, command->form);
        break;
    }
    return GF_OK;
}

int main(int argc, char **argv)
{
    struct gf_command command = {0};
    struct gf_error error = {0};
    const char *const environment = getenv("GPUFILTER_OPTS");
    char **words = NULL;
    int count = 0;
    if (argc == 3 && !strcmp(argv[1], GF_CELL_ARGUMENT))
        return gf_cell_main(argv[2]);
    gf_start_origin();
    occupy_streams();
    catch_signals();
    enum gf_status status =
        gf_shell_words_split(environment ? environment : "", &words, &count, &error);
    if (status == GF_ERROR_USAGE) {
        const struct gf_error detail = error;
        (void)gf_fail(&error, status, "GPUFILTER_OPTS: %s", detail.text);
    }
    GF_THEN(status, gf_command_parse_after(count, words, argc, argv, &command, &error));
    gf_second_pictures_set_limits(&command.options);
    GF_THEN(status, gf_command_join_chains(&command, &error));
    if (!command.verbose)
        gf_message_silence_libraries();
    GF_THEN(status, act(&command, &error));
    struct gf_error flush_error = {0};
    const enum gf_status flushed = gf_flush_stdout(&flush_error);
    /* With GF_ERROR_OUTPUT the flush may have failed for the same reason. */
    if (status != GF_ERROR_OUTPUT)
        gf_message_add_error(flushed, &flush_error, &status, &error);
    gf_command_free(&command);
    free(words);
    if (status == GF_ERROR_OUTPUT && reader_is_gone()) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    if (status) {
        gf_temporary_wait();
        gf_message_print("", error.text);
    }
    gf_leave(gf_exit_status(status));
}
