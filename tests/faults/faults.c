/* Lets the n-th call of every kind fail in runs of the program, and looks whether each run ends
 * well: no crash, no partial output, no success that is none, one line that says what failed, and
 * nothing left behind.
 *
 *   faults                            some n of every scenario and fault; with FAULTS=all in the
 *                                     environment every n
 *   faults SCENARIO                   one scenario
 *   faults SCENARIO FAULT N [more]    one run of it, in a folder that stays */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults/inject.h"
#include "faults/trial.h"

/* The library's functions come before those of gcc's address sanitizer, but not of clang's
 * sanitizers, which are part of the program, and gcc's thread sanitizer has to be loaded first. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define CANNOT_INJECT 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define CANNOT_INJECT 1
#endif

enum { SAMPLES = 16, SHOWN_MAX = 5, JOBS_MAX = 16 };

static bool all_calls;
static unsigned seed = 1;

static unsigned next_random(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

/* What is there before each run of a scenario, and after one without a fault. */
struct stage {
    struct snapshot before;
    struct file_copy log;
    struct outcome right;
    int runs, failures;
};

static void put_log(const struct file_copy *log)
{
    unlink("log");
    if (!log->data)
        return;
    FILE *const file = fopen("log", "w");
    must(file && fwrite(log->data, 1, log->size, file) == log->size && !fclose(file), "log");
}

static void set_stage(const struct stage *stage)
{
    static const struct snapshot nothing;
    snapshot_restore("out", &stage->before);
    snapshot_restore("tmp", &nothing);
    put_log(&stage->log);
}

static void tell_failure(struct stage *stage, const struct trial *trial, const char *wrong,
                         const struct outcome *found)
{
    if (stage->failures++ >= SHOWN_MAX)
        return;
    printf("# faults '%s' '%s' %d%s: %s (status 0x%x)\n", trial->scenario->name,
           trial->fault ? trial->fault->name : "none", trial->n, trial->more ? " more" : "", wrong,
           (unsigned)found->status);
    for (const char *at = found->errors.data; at && *at; at += strcspn(at, "\n") + 1) {
        const int length = (int)strcspn(at, "\n");
        printf("#   %.*s\n", length, at);
        if (!at[length])
            break;
    }
}

static void prepare(const struct scenario *scenario, struct stage *stage)
{
    const struct trial trial = {.scenario = scenario};
    const char *wrong = NULL;
    set_stage(stage);
    if (scenario->before) {
        struct outcome outcome;
        trial_run(&trial, scenario->before, NULL, &outcome);
        if (outcome.status)
            tell_failure(stage, &trial, "the run before fails", &outcome);
        stage->before = outcome.made;
        stage->log = outcome.log;
        outcome.made.count = 0;
        outcome.log.data = NULL;
        outcome_free(&outcome);
    }
    trial_run(&trial, scenario->arguments, scenario->piped, &stage->right);
    wrong = verdict(scenario, NULL, &stage->before, &stage->right, &stage->right);
    if (wrong)
        tell_failure(stage, &trial, wrong, &stage->right);
}

/* After a failure the same batch goes on and completes. */
static const char *go_on(const struct trial *trial, const struct stage *stage,
                         struct outcome *found)
{
    const struct trial again = {.scenario = trial->scenario};
    if (!trial->scenario->again || !found->status)
        return NULL;
    outcome_free(found);
    trial_run(&again, trial->scenario->again, NULL, found);
    return verdict(trial->scenario, NULL, &stage->before, &stage->right, found);
}

/* Whether the run failed and told so. */
static bool try(const struct trial *trial, struct stage *stage)
{
    struct outcome found;
    set_stage(stage);
    trial_run(trial, trial->scenario->arguments, trial->scenario->piped, &found);
    stage->runs++;
    const bool failed = found.status;
    const char *wrong =
        verdict(trial->scenario, trial->fault, &stage->before, &stage->right, &found);
    if (!wrong)
        wrong = go_on(trial, stage, &found);
    if (wrong)
        tell_failure(stage, trial, wrong, &found);
    outcome_free(&found);
    return failed;
}

static int count_calls(const struct scenario *scenario, const struct fault *fault,
                       const struct stage *stage)
{
    const struct trial trial = {.scenario = scenario, .fault = fault};
    struct outcome found;
    set_stage(stage);
    trial_run(&trial, scenario->arguments, scenario->piped, &found);
    outcome_free(&found);
    return found.calls;
}

/* Every call where they are few or all are asked for, else one of each of SAMPLES equal parts. */
static void try_calls(const struct scenario *scenario, const struct fault *fault,
                      struct stage *stage)
{
    const int calls = count_calls(scenario, fault, stage), runs = stage->runs;
    const int parts = all_calls || calls < SAMPLES ? calls : SAMPLES;
    const bool both = !fault->once_only && (all_calls || 2 * calls <= SAMPLES);
    int failed = 0;
    for (int i = 0; i < parts; i++) {
        const int first = (int)((long)calls * i / parts);
        const unsigned size = (unsigned)((long)calls * (i + 1) / parts) - (unsigned)first;
        struct trial trial = {.scenario = scenario, .fault = fault};
        trial.n = first + 1 + (int)(size > 1 ? next_random() % size : 0);
        trial.more = !both && !fault->once_only && i % 2;
        failed += try(&trial, stage);
        trial.more = true;
        if (both)
            failed += try(&trial, stage);
    }
    if (calls && fault->some_fail && !failed && strstr(scenario->arguments, "-o ")) {
        printf("# '%s' '%s': no call is missed\n", scenario->name, fault->name);
        stage->failures++;
    }
    printf("# %s: %s: %d calls, %d runs, %d failed\n", scenario->name, fault->name, calls,
           stage->runs - runs, failed);
}

static void try_scenario(const struct scenario *scenario)
{
    struct stage stage = {0};
    prepare(scenario, &stage);
    for (int i = 0; i < fault_count; i++)
        try_calls(scenario, &faults[i], &stage);
    printf("%s - faults: %s # %d runs, %d ended badly\n", stage.failures ? "not ok" : "ok",
           scenario->name, stage.runs, stage.failures);
    outcome_free(&stage.right);
    snapshot_free(&stage.before);
    free(stage.log.data);
    fflush(stdout);
}

/* ---- all of them, by several processes ---- */

static void enter(const char *parent, int job)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%d", parent, job);
    must(!mkdir(path, 0755) && !chdir(path), path);
}

_Noreturn static void work(const char *program, const char *library, atomic_int *next)
{
    must(freopen("report", "w", stdout), "report");
    trial_setup(program, library);
    for (int i; (i = atomic_fetch_add(next, 1)) < scenario_count;)
        try_scenario(&scenarios[i]);
    exit(0);
}

static int run_workers(const char *parent, const char *program, const char *library)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const int workers = processors < 1 ? 1 : processors > JOBS_MAX ? JOBS_MAX : (int)processors;
    int status, failed = 0;
    atomic_int *const next =
        mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(next != MAP_FAILED, "mmap");
    fflush(stdout);
    for (int i = 0; i < workers; i++) {
        const pid_t child = fork();
        must(child >= 0, "fork");
        if (child)
            continue;
        enter(parent, i);
        work(program, library, next);
    }
    while (wait(&status) > 0)
        failed += status != 0;
    return failed;
}

static void print_reports(const char *parent)
{
    char path[PATH_MAX];
    for (int i = 0; i < JOBS_MAX; i++) {
        snprintf(path, sizeof path, "%s/%d/report", parent, i);
        const struct file_copy report = file_read(path);
        fputs(report.data ? report.data : "", stdout);
        free(report.data);
    }
}

static const struct scenario *find_scenario(const char *name)
{
    for (int i = 0; i < scenario_count; i++) {
        if (!strcmp(scenarios[i].name, name))
            return &scenarios[i];
    }
    must(false, name);
    return NULL;
}

static const struct fault *find_fault(const char *name)
{
    for (int i = 0; i < fault_count; i++) {
        if (!strcmp(faults[i].name, name))
            return &faults[i];
    }
    must(false, name);
    return NULL;
}

/* One scenario, or one run of it, here. */
static void run_one(int count, char **words)
{
    struct stage stage = {0};
    const struct scenario *const scenario = find_scenario(words[1]);
    if (count < 4) {
        try_scenario(scenario);
        return;
    }
    const struct trial trial = {.scenario = scenario,
                                .fault = find_fault(words[2]),
                                .n = atoi(words[3]),
                                .more = count > 4};
    prepare(scenario, &stage);
    try(&trial, &stage);
    set_stage(&stage);
    trial_print(&trial);
}

int main(int count, char **words)
{
    const char *const base = getenv("TMPDIR"), *const all = getenv("FAULTS"),
                      *const own = getenv("FAULTS_SEED");
    char parent[PATH_MAX / 2], program[PATH_MAX], library[PATH_MAX + 20], clean[PATH_MAX];
#ifdef CANNOT_INJECT
    puts("1..1\nok - faults # SKIP this sanitizer lets no library stand before it");
    return 0;
#endif
    must(getenv("GPUFILTER") && realpath(getenv("GPUFILTER"), program), "GPUFILTER");
    must(realpath("/proc/self/exe", library), "/proc/self/exe");
    strcpy(strrchr(library, '/') + 1, "inject.so");
    snprintf(parent, sizeof parent, "%s/gpufilter-faults.XXXXXX", base && *base ? base : "/tmp");
    must(mkdtemp(parent), parent);
    all_calls = all && !strcmp(all, "all");
    seed = own ? (unsigned)atoi(own) : seed;
    int failed = 0;
    if (count > 1) {
        enter(parent, 0);
        trial_setup(program, library);
        run_one(count, words);
    } else {
        failed = run_workers(parent, program, library);
        print_reports(parent);
        printf("1..%d\n", scenario_count);
    }
    if (count < 4) {
        snprintf(clean, sizeof clean, "rm -rf '%s'", parent);
        failed += system(clean) != 0;
    }
    return failed != 0;
}
