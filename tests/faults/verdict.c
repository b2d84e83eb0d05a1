#include "faults/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/process/program.h"

void outcome_free(struct outcome *outcome)
{
    free(outcome->said.data);
    free(outcome->errors.data);
    free(outcome->log.data);
    free(outcome->trace.data);
    snapshot_free(&outcome->made);
    snapshot_free(&outcome->temporary);
}

/* An output is what it was before or what it should be, complete. */
static const char *judge_outputs(const struct snapshot *before, const struct snapshot *right,
                                 const struct snapshot *made, bool success)
{
    for (int i = 0; i < made->count; i++) {
        const struct file_copy *const file = &made->file[i];
        const struct file_copy *const old = snapshot_find(before, file->name);
        const struct file_copy *const wanted = snapshot_find(right, file->name);
        if (!old && !wanted)
            return "a file was left behind";
        if (!same_bytes(file, wanted) && (success || !same_bytes(file, old)))
            return success ? "success, but an output is wrong" : "an output is incomplete";
    }
    for (int i = 0; i < right->count; i++) {
        const char *const name = right->file[i].name;
        if (!snapshot_find(made, name) && (success || snapshot_find(before, name)))
            return success ? "success, but an output is missing" : "the old output is gone";
    }
    return NULL;
}

static bool names_something(const char *text, size_t length)
{
    static const char *const subjects[] = {"memory", "thread", "in/",   "in:",    "few",
                                           "out/",   "tmp",    "stdin", "stdout", "standard",
                                           "log",    "list",   "chain", "trace"};
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (memmem(text, length, subjects[i], strlen(subjects[i])))
            return true;
    }
    return false;
}

/* Each line is the program's, and a single picture has one line that says what failed. A dry run
 * tells the failures on standard output. */
static const char *judge_errors(const struct scenario *scenario, const struct outcome *found)
{
    int lines = 0, named = 0;
    for (const char *at = found->errors.data; *at; lines++) {
        const char *const end = strchr(at, '\n');
        if (strncmp(at, "gpufilter: ", 11) || !end)
            return "a line on standard error is not the program's";
        if (!strncmp(at + 11, "warning: ", 9))
            lines--;
        named += names_something(at, (size_t)(end - at));
        at = end + 1;
    }
    if (!lines)
        return "it failed without a word";
    if (!named && !(scenario->batch && names_something(found->said.data, found->said.size)))
        return "the error names neither a file nor memory";
    return lines > 1 && !scenario->batch ? "one failure is told on several lines" : NULL;
}

/* What remains after success is warnings and summaries. */
static const char *judge_success(const char *text)
{
    for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
        if (strncmp(at, "gpufilter: ", 11) || !strchr(at, '\n'))
            return "a line on standard error is not the program's";
        if (strncmp(at + 11, "warning: ", 9) && !strstr(at, " done"))
            return "success, but an error is told";
    }
    return NULL;
}

static bool ends_with(const struct file_copy *file, const char *end)
{
    const size_t length = strlen(end);
    return file->size >= length && !strcmp(file->data + file->size - length, end);
}

/* Every line that says "ok" is true, and none but the last is torn. */
static const char *judge_log(const struct scenario *scenario, const struct outcome *right,
                             const struct outcome *found, bool success)
{
    int lines = 0;
    if (!scenario->log_lines)
        return NULL;
    for (char *at = found->log.data; at && *at;) {
        char *const end = strchr(at, '\n');
        char name[100];
        if (!end)
            return success ? "success, but the log is torn" : NULL;
        *end = '\0';
        const char *const output = strstr(at, "\"output\":\"out/");
        if (*at != '{' || end[-1] != '}')
            return "a line of the log is torn";
        if (strstr(at, "\"status\":\"ok\"")) {
            if (!output || sscanf(output + 14, "%99[^\"]", name) != 1 ||
                !same_bytes(snapshot_find(&found->made, name), snapshot_find(&right->made, name)))
                return "the log says ok of an output that is not there";
            lines++;
        }
        *end = '\n';
        at = end + 1;
    }
    return success && lines < scenario->log_lines ? "success, but lines are missing in the log"
                                                  : NULL;
}

static const char *judge_report(const struct scenario *scenario, const struct outcome *right,
                                const struct outcome *found, bool success)
{
    if (found->trace.data && !ends_with(&found->trace, "}\n"))
        return "the trace is incomplete";
    if (!success)
        return NULL;
    if (right->trace.data && !found->trace.data)
        return "success, but the trace is missing";
    /* A report in JSON ends with its brace; what one in words leaves out, it may leave out last. */
    const char *const end = ends_with(&right->said, "}\n") ? "}\n" : "\n";
    if (scenario->report ? !ends_with(&found->said, end) : !same_bytes(&found->said, &right->said))
        return "success, but standard output is wrong";
    return NULL;
}

const char *verdict(const struct scenario *scenario, const struct fault *fault,
                    const struct snapshot *before, const struct outcome *right,
                    const struct outcome *found)
{
    if (WIFSIGNALED(found->status))
        return WTERMSIG(found->status) == SIGALRM ? "it hangs" : "it crashed";
    const int status = WEXITSTATUS(found->status);
    const bool success = !status;
    const char *wrong = NULL;
    if (scenario->loads_driver && status == 1 && !found->errors.size)
        return NULL;
    /* What the system refuses once, it may grant another time. */
    if (status != GF_EXIT_DONE && status != GF_EXIT_AGAIN)
        return "the exit status is neither 0 nor 75";
    if (!success && (!found->injected || fault->harmless))
        return "it failed without a reason";
    if (success && fault && fault->must_fail && found->injected)
        return "success, although it cannot be known";
    if (found->temporary.count)
        return "a temporary file was left behind";
    wrong = judge_outputs(before, &right->made, &found->made, success);
    if (!wrong)
        wrong = success ? judge_success(found->errors.data) : judge_errors(scenario, found);
    if (!wrong)
        wrong = judge_log(scenario, right, found, success);
    return wrong ? wrong : judge_report(scenario, right, found, success);
}
