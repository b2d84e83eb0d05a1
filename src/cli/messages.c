#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/program.h"
#include "base/text/plain_text.h"
#include "batch/names/names.h"
#include "batch/request/request.h"

static FILE *own; /* the program's own stream to standard error; NULL: it is stderr */

FILE *gf_message_file(void)
{
    return own ? own : stderr;
}

void gf_message_silence_libraries(void)
{
/* In glibc stderr is a variable, so that libraries can be led to another stream. */
#ifdef __GLIBC__
    static const cookie_io_functions_t nowhere;
    FILE *const discarding = fopencookie(NULL, "w", nowhere);
    if (!discarding)
        return;
    own = stderr;
    stderr = discarding;
#endif
}

void gf_message_print(const char *kind, const char *text)
{
    char line[sizeof((struct gf_error *)0)->text];
    snprintf(line, sizeof line, "%s", text);
    gf_url_hide_all(line);
    gf_make_printable(line);
    gf_name_options_as_typed(line);
    fprintf(gf_message_file(), "gpufilter: %s%s\n", kind, line);
}

void gf_message_add_error(enum gf_status further, const struct gf_error *further_error,
                          enum gf_status *status, struct gf_error *error)
{
    const bool is_graver = gf_graver_status(*status, further) != *status;
    if (*status && further)
        gf_message_print("", is_graver ? error->text : further_error->text);
    if (is_graver) {
        *status = further;
        *error = *further_error;
    }
}

void gf_message_warn(void *context, const char *text)
{
    (void)context;
    gf_message_print("warning: ", text);
}

enum { KINDS_MOST = 64 };

/* The kinds of warnings that were printed. */
static struct {
    char kind[120];  /* the text without the name, each number as # */
    char text[300];  /* the first text, without the name in front */
    char name[200];  /* of the last picture */
    size_t pictures; /* after the first */
    bool others;     /* they have other numbers than the first */
} kinds[KINDS_MOST];

/* Writes the text without the name, and with # in place of each number. */
static void make_kind(const char *text, const char *name, char *kind, size_t size)
{
    const size_t length = strlen(name);
    size_t end = 0;
    while (*text && end + 1 < size) {
        const size_t digits = strspn(text, "0123456789");
        if (length && !strncmp(text, name, length)) {
            text += length;
        } else {
            kind[end++] = digits ? '#' : *text;
            text += digits ? digits : 1;
        }
    }
    kind[end] = '\0';
}

void gf_message_warn_once(const char *text)
{
    const char *const colon = strstr(text, ": "), *const rest = colon ? colon + 2 : text;
    char name[sizeof kinds->name] = "", kind[sizeof kinds->kind];
    if (colon)
        snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
    make_kind(rest, name, kind, sizeof kind);
    int i = 0;
    while (i < KINDS_MOST && *kinds[i].kind && strcmp(kinds[i].kind, kind) != 0)
        i++;
    if (i == KINDS_MOST || !*kinds[i].kind || !strcmp(kinds[i].name, name))
        gf_message_print("warning: ", text);
    else {
        kinds[i].pictures++;
        kinds[i].others |= !strstr(rest, name) && strcmp(kinds[i].text, rest) != 0;
    }
    if (i == KINDS_MOST)
        return;
    if (!*kinds[i].kind)
        snprintf(kinds[i].text, sizeof kinds[i].text, "%s", rest);
    memcpy(kinds[i].kind, kind, sizeof kind);
    memcpy(kinds[i].name, name, sizeof name);
}

void gf_message_more_warnings(void)
{
    for (int i = 0; i < KINDS_MOST && *kinds[i].kind; i++) {
        char line[sizeof((struct gf_error *)0)->text];
        snprintf(line, sizeof line, "%zu more picture%s (-v names %s)%s: %s", kinds[i].pictures,
                 kinds[i].pictures == 1 ? "" : "s", kinds[i].pictures == 1 ? "it" : "them",
                 kinds[i].others ? ", with other numbers" : "", kinds[i].text);
        if (kinds[i].pictures)
            gf_message_print("warning: ", line);
        kinds[i].pictures = 0, kinds[i].others = false;
    }
}

static bool writes_stdout(const struct gf_command *command)
{
    bool any = false;
    for (int i = 0; command->output && i < gf_command_outputs(command); i++)
        any |= !strcmp(gf_command_output_at(command, i).output, "-");
    return any;
}

FILE *gf_report_file(const struct gf_command *command)
{
    const bool taken = writes_stdout(command) || (command->trace && !strcmp(command->trace, "-"));
    return taken ? gf_message_file() : stdout;
}

enum gf_status gf_flush_stdout(struct gf_error *error)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return GF_OK;
    /* The error comes from an earlier write, and stdio has not kept its reason. Another write fails
     * for the same reason. */
    if (!errno && write(STDOUT_FILENO, "\n", 1) > 0)
        errno = 0;
    return gf_fail(error, GF_ERROR_OUTPUT, "standard output: %s",
                   errno ? strerror(errno) : "cannot write");
}

enum gf_status gf_check_stdin(struct gf_error *error)
{
    if (!isatty(STDIN_FILENO))
        return GF_OK;
    return gf_fail(error, GF_ERROR_USAGE,
                   "standard input is a terminal: pipe a picture in, or name one with -i");
}

/* A stream that writes to an output and keeps its first error. */
struct output_stream {
    struct gf_output *output;
    enum gf_status status;
    struct gf_error *error;
};

static ssize_t write_to_output(void *context, const char *data, size_t size)
{
    struct output_stream *const stream = context;
    GF_THEN(stream->status, gf_output_write(stream->output, data, size, stream->error));
    return stream->status ? 0 : (ssize_t)size;
}

enum gf_status gf_report_open(const char *path, struct gf_output **output, struct gf_error *error)
{
    const enum gf_status status = gf_output_open(path, output, error);
    return status == GF_ERROR_UNFIT ? GF_ERROR_USAGE : status;
}

enum gf_status gf_report_write(struct gf_output *output, gf_report_writer *write,
                               const void *context, struct gf_error *error)
{
    struct output_stream stream = {.output = output, .error = error};
    FILE *const file = fopencookie(&stream, "w", (cookie_io_functions_t){.write = write_to_output});
    GF_ALLOCATED(file, error);
    /* For a stream of pictures each report replaces the one before, so that the file keeps the
     * last. */
    enum gf_status status = gf_output_rewind(output, error);
    GF_THEN(status, write(file, context, error));
    if (fclose(file) && !status && !stream.status)
        status = gf_fail_memory(error);
    GF_THEN(status, stream.status);
    return status ? status : gf_output_commit(output, error);
}
