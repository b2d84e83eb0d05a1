#include "faults/trial.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults/inject.h"
#include "faults/pictures.h"

enum { WORDS_MAX = 40, SECONDS_MAX = 60 };

static const char *program, *library;
static struct fault_state *state;

void must(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    _exit(2);
}

static void put_text(const char *path, const char *text)
{
    FILE *const file = fopen(path, "w");
    must(file && fputs(text, file) >= 0 && !fclose(file), path);
}

void trial_setup(const char *program_path, const char *library_path)
{
    static const char *const folders[] = {"in", "few", "out", "tmp"};
    program = program_path;
    library = library_path;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        must(!mkdir(folders[i], 0755), folders[i]);
    make_pictures("in");
    must(!link("in/rgb.ppm", "few/rgb.ppm") && !link("in/full.png", "few/full.png") &&
             !link("in/progressive.jpg", "few/progressive.jpg"),
         "few");
    put_text("list", "in/rgb.ppm\nin/gray16.pgm\nin/full.png\n");
    put_text("chain", "blur=2\n# not equalize\nhflip\n");
    const int fd = open("state", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    must(fd >= 0 && !ftruncate(fd, sizeof *state), "state");
    state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(state != MAP_FAILED, "state");
}

/* The environment of the program: where its libraries lie, and nothing else of the caller's. */
static void make_environment(const struct trial *trial, char *environment[16])
{
    int count = 0;
    char *entry = NULL;
#define ADD(...) (must(asprintf(&entry, __VA_ARGS__) > 0, "asprintf"), environment[count++] = entry)
    ADD("PATH=/usr/bin:/bin");
    if (getenv("LD_LIBRARY_PATH"))
        ADD("LD_LIBRARY_PATH=%s", getenv("LD_LIBRARY_PATH"));
    ADD("LC_ALL=C");
    ADD("TMPDIR=tmp");
    ADD("MALLOC_PERTURB_=165");
    ADD("ASAN_OPTIONS=verify_asan_link_order=0:exitcode=99:allocator_may_return_null=1");
    ADD("LD_PRELOAD=%s", library);
    ADD("FAULT_STATE=state");
    ADD("FAULT_KIND=%s", trial->fault ? trial->fault->kind : "memory");
    ADD("FAULT_N=%d", trial->n);
    ADD("FAULT_ERRNO=%d", trial->fault ? trial->fault->error : 0);
    if (trial->more)
        ADD("FAULT_MORE=1");
    if (trial->scenario->named)
        ADD("FAULT_NAMED=1");
    environment[count] = NULL;
}

static void split_words(char *text, char *words[WORDS_MAX])
{
    int count = 0;
    words[count++] = (char *)program;
    for (char *word; (word = strsep(&text, " ")) && count + 1 < WORDS_MAX;) {
        if (*word)
            words[count++] = word;
    }
    words[count] = NULL;
}

static void redirect(const char *path, int flags, int as)
{
    const int fd = open(path, flags, 0644);
    must(fd >= 0 && dup2(fd, as) == as, path);
}

/* A small file, so that the pipe holds it. */
static void pipe_in(const char *path)
{
    int ends[2];
    struct file_copy copy = file_read(path);
    must(!pipe(ends) && write(ends[1], copy.data, copy.size) == (ssize_t)copy.size, path);
    close(ends[1]);
    must(dup2(ends[0], 0) == 0, path);
    close(ends[0]);
}

_Noreturn static void start(const struct trial *trial, const char *arguments, const char *piped)
{
    char text[1000], *words[WORDS_MAX], *environment[16];
    snprintf(text, sizeof text, "%s", arguments);
    split_words(text, words);
    make_environment(trial, environment);
    if (piped)
        pipe_in(piped);
    else
        redirect("/dev/null", O_RDONLY, 0);
    redirect("stdout", O_WRONLY | O_CREAT | O_TRUNC, 1);
    redirect("stderr", O_WRONLY | O_CREAT | O_TRUNC, 2);
    alarm(SECONDS_MAX);
    execve(program, words, environment);
    _exit(127);
}

void trial_run(const struct trial *trial, const char *arguments, const char *piped,
               struct outcome *outcome)
{
    atomic_store(&state->calls, 0);
    atomic_store(&state->injected, 0);
    unlink("trace");
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (!child)
        start(trial, arguments, piped);
    must(waitpid(child, &outcome->status, 0) == child, "waitpid");
    outcome->calls = atomic_load(&state->calls);
    outcome->injected = atomic_load(&state->injected);
    outcome->said = file_read("stdout");
    outcome->errors = file_read("stderr");
    outcome->log = file_read("log");
    outcome->trace = file_read("trace");
    snapshot_take("out", &outcome->made);
    snapshot_take("tmp", &outcome->temporary);
}

void trial_print(const struct trial *trial)
{
    char *environment[16], folder[PATH_MAX];
    make_environment(trial, environment);
    must(getcwd(folder, sizeof folder), "getcwd");
    printf("cd %s && env", folder);
    for (int i = 0; environment[i]; i++)
        printf(" %s", environment[i]);
    printf(" %s %s%s%s\n", program, trial->scenario->arguments, trial->scenario->piped ? " <" : "",
           trial->scenario->piped ? trial->scenario->piped : "");
}
