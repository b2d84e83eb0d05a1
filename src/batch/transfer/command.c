/* Runs the commands of the user that transfer a file, and tells whether they still move bytes. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/process.h"
#include "base/threads/times.h"
#include "batch/names/names.h"
#include "batch/transfer/transfer.h"
#include "codec/io/output.h"

/* Opens /proc/PROCESS/NAME for reading. */
static FILE *open_file(const char *process, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/%s", process, name);
    return fopen(path, "re");
}

static bool is_of_group(const char *process, pid_t group)
{
    char line[512] = "";
    long of = 0;
    FILE *const file = open_file(process, "stat");
    if (file) {
        line[fread(line, 1, sizeof line - 1, file)] = '\0';
        fclose(file);
    }
    const char *const name_end = strrchr(line, ')');
    return name_end && sscanf(name_end, ") %*c %*d %ld", &of) == 1 && of == group;
}

static bool read_bytes(const char *process, uint64_t *bytes)
{
    unsigned long long read = 0, written = 0;
    FILE *const file = open_file(process, "io");
    const bool known = file && fscanf(file, "rchar: %llu wchar: %llu", &read, &written) == 2;
    if (file)
        fclose(file);
    *bytes += read + written;
    return known;
}

bool gf_bytes_moved(pid_t group, uint64_t *bytes)
{
    DIR *const processes = opendir("/proc");
    bool known = false;
    *bytes = 0;
    for (const struct dirent *entry; processes && (entry = readdir(processes));) {
        if (isdigit((unsigned char)*entry->d_name) && is_of_group(entry->d_name, group))
            known |= read_bytes(entry->d_name, bytes);
    }
    if (processes)
        closedir(processes);
    return known;
}

/* The process of each running command, which leads a process group; 0: none. */
static _Atomic pid_t running[GF_COMMANDS_MAX];
static atomic_int starting; /* the number of commands that are being started */
static atomic_bool ended, abandoned;

/* ---- the words of a command ---- */

bool gf_command_has(char *const *words, const char *field)
{
    bool has = false;
    for (; !has && *words; words++)
        has = strstr(*words, field) != NULL;
    return has;
}

/* If the text begins with a field, such as "{in}", returns the field's value and sets *length to
 * the length of its name; else returns NULL. */
static const char *value_at(const char *text, const struct gf_command_values *values,
                            size_t *length)
{
    const struct {
        const char *name, *value;
    } fields[] = {{"{in}", values->in},
                  {"{out}", values->out},
                  {"{file}", values->file},
                  {"{record}", values->record}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        *length = strlen(fields[i].name);
        if (fields[i].value && !strncmp(text, fields[i].name, *length))
            return fields[i].value;
    }
    return NULL;
}

/* Returns the word with the values of its fields, from malloc(); NULL when out of memory. */
static char *expand_word(const char *word, const struct gf_command_values *values)
{
    char *text = NULL;
    size_t size, length;
    FILE *const memory = open_memstream(&text, &size);
    if (!memory)
        return NULL;
    while (*word) {
        const char *const value = value_at(word, values, &length);
        fprintf(memory, "%.*s", value ? (int)strlen(value) : 1, value ? value : word);
        word += value ? length : 1;
    }
    if (!fclose(memory))
        return text;
    free(text);
    return NULL;
}

static void free_words(char **words)
{
    for (char **word = words; words && *word; word++)
        free(*word);
    free(words);
}

static char **expand(char *const *words, const struct gf_command_values *values)
{
    size_t count = 0;
    while (words[count])
        count++;
    char **const expanded = calloc(count + 1, sizeof *expanded);
    for (size_t i = 0; expanded && i < count; i++) {
        expanded[i] = expand_word(words[i], values);
        if (!expanded[i]) {
            free_words(expanded);
            return NULL;
        }
    }
    return expanded;
}

enum gf_status gf_command_find(char *const *words, const char *option, struct gf_error *error)
{
    const char *const program = words[0], *const path = getenv("PATH");
    bool found = strchr(program, '/') && !access(program, X_OK);
    for (const char *folder = path ? path : "/usr/bin:/bin"; !found && !strchr(program, '/');) {
        const size_t length = strcspn(folder, ":");
        char *name;
        if (asprintf(&name, "%.*s/%s", (int)length, length ? folder : ".", program) < 0)
            return gf_fail_memory(error);
        found = !access(name, X_OK);
        free(name);
        if (!folder[length])
            break;
        folder += length + 1;
    }
    return found ? GF_OK
                 : gf_fail(error, GF_ERROR_UNAVAILABLE, "--%s: '%s' is not on this machine", option,
                           program);
}

/* ---- running and ending processes ---- */

static void sleep_ms(long time)
{
    nanosleep(&(struct timespec){.tv_nsec = time * 1000000}, NULL);
}

static pid_t start(int number, char **words, int printed, int said)
{
    pid_t process = -1;
    atomic_fetch_add(&starting, 1);
    errno = ECANCELED;
    if (!ended)
        process = gf_spawn(&(struct gf_spawn){.program = words[0],
                                              .arguments = words,
                                              .environment = environ,
                                              .handed = {printed, said},
                                              .count = 2,
                                              .is_tool = true,
                                              .apart = POSIX_SPAWN_SETPGROUP});
    if (process > 0)
        running[number] = process;
    atomic_fetch_sub(&starting, 1);
    return process;
}

/* Waits until the process has ended, for `wait_ms` at most; the process stays a zombie. Returns
 * whether it has ended. */
static bool ends_within(pid_t process, int64_t wait_ms)
{
    enum { LONGEST_MS = 20 };
    siginfo_t end = {.si_pid = 0};
    const double until_s = gf_now() + 1e-3 * (double)wait_ms;
    bool gone = false;
    for (long pause_ms = 1; !gone && !end.si_pid && gf_now() < until_s;
         pause_ms = pause_ms < LONGEST_MS ? 2 * pause_ms : LONGEST_MS) {
        sleep_ms(pause_ms);
        gone = waitid(P_PID, (id_t)process, &end, WEXITED | WNOWAIT | WNOHANG) && errno == ECHILD;
    }
    return gone || end.si_pid;
}

/* Ends a process and its group if it takes longer than timeout_s seconds or, if this is 0, moves no
 * byte for idle_s seconds. Returns whether it had to be ended. */
static bool end_late(pid_t process, int timeout_s, int idle_s)
{
    enum { MERCY_MS = 2000, LOOKS = 4 };
    const int64_t wait_ms = (timeout_s ? timeout_s : idle_s) * INT64_C(1000) / LOOKS;
    uint64_t moved = 0, before = 0;
    for (int idle = 0; idle < LOOKS; before = moved) {
        if (ends_within(process, wait_ms))
            return false;
        const bool moves = !timeout_s && (!gf_bytes_moved(process, &moved) || moved != before);
        idle = moves ? 0 : idle + 1;
    }
    kill(-process, SIGTERM);
    if (!ends_within(process, MERCY_MS))
        kill(-process, SIGKILL);
    return true;
}

/* Waits until the process has ended, ends what it has left running, and returns its status. The
 * process is removed from the table `running` before it is reaped, so that its number cannot yet be
 * another process's. Orphans of its group become children of this process if this is process 1. */
static int wait_for_end(int number, pid_t process)
{
    siginfo_t end;
    int status = W_EXITCODE(1, 0); /* the status if the kernel gives none */
    while (waitid(P_PID, (id_t)process, &end, WEXITED | WNOWAIT) && errno == EINTR)
        continue;
    kill(-process, SIGKILL);
    running[number] = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    while (waitpid(-process, NULL, 0) > 0)
        continue;
    return status;
}

static void remove_word(char *line, const char *word, size_t length)
{
    for (char *at = line; length > 1 && (at = memmem(at, strlen(at), word, length));)
        memmove(at, at + length, strlen(at + length) + 1);
}

/* Removes the signature of the URL `name` from a line, even where the line has the URL without its
 * host. */
static void hide(char *line, const char *name)
{
    size_t length;
    const char *const parameters = name ? name + gf_url_path(name) : "", *const user = gf_url_user(
                                                                             name ? name : "",
                                                                             &length);
    remove_word(line, user, length);
    remove_word(line, parameters, strlen(parameters));
}

/* Copies the last line that the command wrote to standard error, without the signatures of URLs. A
 * line that is too long is cut at its start, and the cut word is left out. */
static void read_last_line(int said, const struct gf_command_values *values, char *line,
                           size_t size)
{
    const off_t end = lseek(said, 0, SEEK_END),
                from = end > (off_t)size ? end - (off_t)size + 1 : 0;
    const ssize_t got = pread(said, line, size - 1, from);
    size_t length = got > 0 ? (size_t)got : 0;
    while (length && isspace((unsigned char)line[length - 1]))
        length--;
    line[length] = '\0';
    const char *const before = strrchr(line, '\n'), *const blank = line + strcspn(line, " "),
                      *const begin = before ? before + 1
                                     : from ? blank + strspn(blank, " ")
                                            : line;
    memmove(line, begin, strlen(begin) + 1);
    hide(line, values->in);
    hide(line, values->out);
    hide(line, values->record);
    gf_url_hide_all(line);
}

static bool explain_end(int status, int said, const char *late,
                        const struct gf_command_values *values, struct gf_error *error)
{
    char how[80], line[1 << 14];
    if (late)
        snprintf(how, sizeof how, "%s", late);
    else if (WIFEXITED(status) && !WEXITSTATUS(status))
        return true;
    else if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "ended by signal %d", WTERMSIG(status));
    else
        snprintf(how, sizeof how, "exit status %d", WEXITSTATUS(status));
    read_last_line(said, values, line, sizeof line);
    (void)gf_fail(error, GF_OK, "%s%s%.300s", how, *line ? ": " : "", line);
    return false;
}

bool gf_command_run(int number, char *const *words, const struct gf_command_values *values,
                    int timeout_s, int idle_s, int printed, struct gf_error *error)
{
    char how[80];
    char **const expanded = expand(words, values);
    const int said = gf_spool_open();
    bool done = false;
    if (!expanded || said < 0) {
        (void)gf_fail(error, GF_OK, "%s", strerror(expanded ? errno : ENOMEM));
    } else {
        const pid_t process = start(number, expanded, printed, said);
        const bool late = process > 0 && end_late(process, timeout_s, idle_s);
        snprintf(how, sizeof how,
                 timeout_s ? "took longer than --transfer-timeout=%d" : "moved no byte for %d s",
                 timeout_s ? timeout_s : idle_s);
        if (process < 0)
            (void)gf_fail(error, GF_OK, "%s: %s", expanded[0], strerror(errno));
        else
            done =
                explain_end(wait_for_end(number, process), said, late ? how : NULL, values, error);
    }
    if (said >= 0)
        close(said);
    free_words(expanded);
    while (abandoned)
        /* This process is ending; a command that a signal has ended must not count as failed. */
        sleep_ms(100);
    return done;
}

/* ---- ending all running commands ---- */

/* Sends the signal to all commands, and waits until they have ended, for `tries` times 10 ms at
 * most. The threads that run the commands remove them from the table. */
static bool end_by(int signal, int tries)
{
    bool any = true;
    for (int try = 0; any && try < tries; try++) {
        any = false;
        for (int i = 0; i < GF_COMMANDS_MAX; i++) {
            const pid_t process = running[i];
            any |= process > 0;
            if (process > 0 && !try)
                kill(-process, signal);
        }
        if (any)
            sleep_ms(10);
    }
    return !any;
}

void gf_commands_end(void)
{
    ended = true;
    for (int try = 0; starting && try < 2000; try++)
        sleep_ms(1); /* at most 2 s, since a thread may wait for a lock that this thread holds */
    if (!end_by(SIGTERM, 200))
        (void)end_by(SIGKILL, 200);
}

void gf_commands_abandon(void)
{
    abandoned = true;
    gf_commands_end();
}

void gf_commands_begin(void)
{
    ended = false;
}
