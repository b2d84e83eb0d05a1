/* A program of its own. Ordered work: items come back in their order, no more of them are on the
 * way than there are slots, the first failure in order is the one that counts, and the work is done
 * by as many threads as the system gives. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "support.h"

enum { ITEMS = 300, SLOTS = 5, THREADS = 4, STEP_US = 100, STEPS = 3000 };

static atomic_int threads_left, started; /* threads that the system still gives, and gave */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!create)
        *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    if (!threads_left)
        return EAGAIN;
    threads_left--;
    started++;
    return create(thread, attributes, start, argument);
}

/* What the items of a test share. */
struct trial {
    int threads, slots;
    /* The item that lasts until the next one is begun, or 300 ms; the item that lasts 30 ms; those
     * that fail. -1: none. */
    int slow, lasts, fails[2];
    double limit_s;
    pthread_t caller;
    atomic_int calls[ITEMS], taken, working[THREADS];
    atomic_bool on_caller, on_others, wrong;
    int slot[ITEMS];
};

static struct trial trial_new(void)
{
    threads_left = THREADS;
    started = 0;
    return (struct trial){.threads = THREADS,
                          .slots = SLOTS,
                          .slow = -1,
                          .lasts = -1,
                          .fails = {-1, -1},
                          .limit_s = gf_time_limit(),
                          .caller = pthread_self()};
}

static enum gf_status work(void *context, int thread, int item, struct gf_error *error)
{
    struct trial *const trial = context;
    if (thread < 0 || thread >= trial->threads || trial->working[thread]++ ||
        trial->calls[item]++ || item >= trial->taken + trial->slots ||
        gf_time_limit() != trial->limit_s) {
        trial->wrong = true;
        return GF_OK;
    }
    *(pthread_equal(pthread_self(), trial->caller) ? &trial->on_caller : &trial->on_others) = true;
    for (int i = 0; item == trial->slow && !trial->calls[item + 1] && i < STEPS; i++)
        usleep(STEP_US);
    if (item % 7 == 0 || item == trial->lasts)
        usleep(item == trial->lasts ? STEPS / 10 * STEP_US : STEP_US);
    trial->slot[item % trial->slots] = item;
    trial->working[thread]--;
    return item == trial->fails[0] || item == trial->fails[1]
               ? gf_fail(error, GF_ERROR_INPUT, "item %d", item)
               : GF_OK;
}

static struct gf_ordered *open_for(struct trial *trial, bool helps, bool aside)
{
    const struct gf_ordered_setup setup = {.call = work,
                                           .context = trial,
                                           .threads = trial->threads,
                                           .helps = helps,
                                           .aside = aside,
                                           .slots = trial->slots};
    struct gf_ordered *ordered;
    struct gf_error error = {0};
    assert_int_equal(gf_ordered_open(&setup, &ordered, &error), GF_OK);
    return ordered;
}

/* Returns the number of items that were worked on. */
static int calls_of(const struct trial *trial)
{
    int calls = 0;
    assert_false(trial->wrong);
    for (int i = 0; i < ITEMS; i++)
        calls += trial->calls[i];
    return calls;
}

/* Takes all items by gf_ordered_next(). The slot of an item is its own until the next call. */
static void take_all(struct gf_ordered *ordered, struct trial *trial)
{
    for (int i = 0; i < ITEMS; i++) {
        trial->taken = i;
        assert_int_equal(gf_ordered_next(ordered, ITEMS, NULL), GF_OK);
        assert_int_equal(trial->slot[i % trial->slots], i);
    }
    assert_false(gf_ordered_is_due(ordered, 0));
    assert_int_equal(calls_of(trial), ITEMS);
}

/* Items that exist already, with any number of threads and slots. */
static void test_order(void **state)
{
    for (int threads = 1; threads <= THREADS; threads++) {
        for (int slots = 1; slots <= 2 * SLOTS; slots += SLOTS - 1) {
            struct trial trial = trial_new();
            trial.threads = threads;
            trial.slots = slots;
            struct gf_ordered *const ordered = open_for(&trial, false, false);
            take_all(ordered, &trial);
            gf_ordered_close(ordered);
            assert_int_equal(trial.on_caller, threads == 1);
            assert_int_equal(trial.on_others, threads > 1);
            assert_true(started <= (threads > 1 ? threads : 0) && started <= slots);
        }
    }
}

/* Items that the caller makes, one after another, as a writer does. */
static void test_submitting(void **state)
{
    for (int threads = 1; threads <= THREADS; threads++) {
        struct trial trial = trial_new();
        trial.threads = threads;
        struct gf_ordered *const ordered = open_for(&trial, false, false);
        for (int i = 0; i < ITEMS; i++) {
            while (gf_ordered_is_due(ordered, SLOTS - 1)) {
                assert_int_equal(gf_ordered_take(ordered, NULL), GF_OK);
                assert_int_equal(trial.slot[trial.taken % SLOTS], trial.taken);
                trial.taken++;
            }
            gf_ordered_submit(ordered);
        }
        assert_int_equal(gf_ordered_finish(ordered, NULL), GF_OK);
        assert_int_equal(calls_of(&trial), ITEMS);
        assert_false(gf_ordered_is_due(ordered, 0));
        gf_ordered_close(ordered);
    }
}

/* The threads have the time limit of the one that submits, which may move. */
static void test_time_limit(void **state)
{
    struct trial trial = trial_new();
    struct gf_ordered *const ordered = open_for(&trial, false, false);
    for (int i = 0; i < ITEMS; i++) {
        trial.limit_s = i ? 1e9 + i : 0;
        gf_time_limit_set(trial.limit_s);
        gf_ordered_submit(ordered);
        trial.taken = i;
        assert_int_equal(gf_ordered_take(ordered, NULL), GF_OK);
    }
    gf_ordered_close(ordered);
    gf_time_limit_set(0);
    assert_true(calls_of(&trial) == ITEMS && trial.on_others);
}

/* Threads are started as items need them. */
static void test_starting(void **state)
{
    struct trial trial = trial_new();
    struct gf_ordered *ordered = open_for(&trial, false, false);
    assert_int_equal(started, 0);
    trial.slow = 0;
    gf_ordered_submit(ordered);
    assert_int_equal(started, 1);
    gf_ordered_submit(ordered);
    assert_int_equal(started, 2);
    assert_int_equal(gf_ordered_finish(ordered, NULL), GF_OK);
    gf_ordered_close(ordered);
    trial = trial_new();
    trial.threads = 1;
    ordered = open_for(&trial, false, true);
    take_all(ordered, &trial);
    gf_ordered_close(ordered);
    assert_true(started == 1 && trial.on_others && !trial.on_caller);
}

/* Where the system gives fewer threads than wanted, these do the work, or the caller. */
static void test_few_threads(void **state)
{
    for (int helps = 0; helps < 2; helps++) {
        for (int threads = 0; threads <= THREADS; threads++) {
            struct trial trial = trial_new();
            trial.slow = helps && threads ? 0 : -1;
            threads_left = threads;
            struct gf_ordered *const ordered = open_for(&trial, helps, !helps);
            take_all(ordered, &trial);
            gf_ordered_close(ordered);
            assert_true(started <= threads);
            assert_int_equal(trial.on_others, threads > 0);
            assert_true(helps || trial.on_caller == !threads);
        }
    }
}

/* Item 3 fails after item 4, but comes before it. */
static void test_first_failure(void **state)
{
    for (int threads = 1; threads <= THREADS; threads++) {
        struct trial trial = trial_new();
        trial.threads = threads;
        trial.fails[0] = 3;
        trial.slow = threads > 1 ? 3 : -1;
        trial.fails[1] = 4;
        struct gf_ordered *const ordered = open_for(&trial, false, false);
        for (int i = 0; i < 6; i++) {
            struct gf_error error = {0};
            trial.taken = i < 3 ? i : 3;
            assert_int_equal(gf_ordered_next(ordered, ITEMS, &error),
                             i < 3 ? GF_OK : GF_ERROR_INPUT);
            assert_string_equal(error.text, i < 3 ? "" : "item 3");
        }
        gf_ordered_close(ordered);
        assert_true(calls_of(&trial) <= 3 + SLOTS);
    }
}

/* No thread works any more after the end of all, whether an item has failed or not. */
static void test_finishing(void **state)
{
    for (int fails = -1; fails < 1; fails++) {
        struct trial trial = trial_new();
        struct gf_error error = {0};
        trial.fails[0] = fails;
        trial.slow = 0;
        trial.lasts = 1;
        struct gf_ordered *const ordered = open_for(&trial, false, false);
        for (int i = 0; i < SLOTS; i++)
            gf_ordered_submit(ordered);
        assert_int_equal(gf_ordered_finish(ordered, &error), fails < 0 ? GF_OK : GF_ERROR_INPUT);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(trial.working[i], 0);
        assert_true(fails == 0 || calls_of(&trial) == SLOTS);
        gf_ordered_close(ordered);
    }
}

/* The end of the work waits for the items that have begun, and begins no other. */
static void test_stop(void **state)
{
    struct trial trial = trial_new();
    trial.threads = 1;
    trial.slow = 0;
    struct gf_ordered *const ordered = open_for(&trial, false, true);
    for (int i = 0; i < SLOTS; i++)
        gf_ordered_submit(ordered);
    while (!trial.calls[0])
        usleep(10);
    gf_ordered_close(ordered);
    assert_int_equal(trial.working[0], 0);
    assert_int_equal(calls_of(&trial), 1);
    gf_ordered_close(NULL);
}

static void test_run(void **state)
{
    for (int threads = 1; threads <= THREADS; threads++) {
        struct trial trial = trial_new();
        struct gf_error error = {0};
        trial.threads = threads;
        trial.slots = ITEMS;
        trial.slow = threads > 1 ? 0 : -1;
        assert_int_equal(gf_ordered_run(threads, ITEMS, work, &trial, &error), GF_OK);
        assert_int_equal(calls_of(&trial), ITEMS);
        assert_true(started <= threads - 1);
        assert_int_equal(trial.on_others, threads > 1);
        trial = trial_new();
        trial.threads = threads;
        trial.slots = ITEMS;
        trial.fails[0] = 9;
        trial.fails[1] = 8;
        trial.slow = threads > 1 ? 8 : -1;
        assert_int_equal(gf_ordered_run(threads, ITEMS, work, &trial, &error), GF_ERROR_INPUT);
        assert_string_equal(error.text, "item 8");
        assert_true(calls_of(&trial) < ITEMS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),       cmocka_unit_test(test_submitting),
        cmocka_unit_test(test_time_limit),  cmocka_unit_test(test_starting),
        cmocka_unit_test(test_few_threads), cmocka_unit_test(test_first_failure),
        cmocka_unit_test(test_finishing),   cmocka_unit_test(test_stop),
        cmocka_unit_test(test_run),
    };
    return cmocka_run_group_tests_name("ordered", tests, NULL, NULL);
}
