/* The start of devices in the background, by starters of the test, and the memory of one, by malloc
 * in the place of the driver. */
#include <pthread.h>
#include <semaphore.h>

#include "base/memory/buffers.h"
#include "base/threads/times.h"
#include "engine/backend.h"
#include "runner.h"

/* ---- starts ---- */

static sem_t gate; /* a starter goes on when the test posts it */
static int begun[GF_STARTS_MOST];

static void pass_gate(void)
{
    while (sem_wait(&gate))
        ;
}

static enum gf_status start_well(int device, struct gf_error *error)
{
    pass_gate();
    begun[device]++;
    return GF_OK;
}

static enum gf_status start_badly(int device, struct gf_error *error)
{
    pass_gate();
    begun[device]++;
    snprintf(error->text, sizeof error->text, "cuda:%d: it is ill", device);
    return GF_ERROR_DEVICE;
}

struct waiter {
    pthread_t thread;
    int device;
    enum gf_status begun, status;
    struct gf_error error;
};

static void *wait_main(void *argument)
{
    struct waiter *const waiter = argument;
    waiter->begun = gf_device_start(waiter->device, start_well, NULL);
    waiter->status = gf_device_start_wait(waiter->device, &waiter->error);
    return NULL;
}

/* Many begin it and all wait for it, but it is done once. */
static void test_once(void **state)
{
    enum { WAITERS = 16, DEVICE = 3 };
    struct waiter waiter[WAITERS];
    for (int i = 0; i < WAITERS; i++) {
        waiter[i] = (struct waiter){.device = DEVICE};
        assert_int_equal(pthread_create(&waiter[i].thread, NULL, wait_main, &waiter[i]), 0);
    }
    assert_int_equal(gf_device_start(DEVICE, start_well, NULL), GF_OK);
    assert_true(gf_device_starting());
    sem_post(&gate);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(waiter[i].thread, NULL);
        assert_int_equal(waiter[i].begun, GF_OK);
        assert_int_equal(waiter[i].status, GF_OK);
    }
    gf_device_starts_wait();
    assert_false(gf_device_starting());
    assert_int_equal(begun[DEVICE], 1);
    assert_int_equal(gf_device_start(DEVICE, start_badly, NULL), GF_OK); /* it has succeeded */
    assert_int_equal(gf_device_start_wait(DEVICE, NULL), GF_OK);
    assert_int_equal(begun[DEVICE], 1);
}

/* Whoever waits gets the error; whoever begins again tries again. */
static void test_failure(void **state)
{
    enum { DEVICE = 5 };
    struct gf_error error = {0};
    assert_int_equal(gf_device_start(DEVICE, start_badly, NULL), GF_OK);
    sem_post(&gate);
    for (int i = 0; i < 2; i++) {
        error = (struct gf_error){0};
        assert_int_equal(gf_device_start_wait(DEVICE, &error), GF_ERROR_DEVICE);
        assert_string_equal(error.text, "cuda:5: it is ill");
    }
    assert_int_equal(begun[DEVICE], 1);
    sem_post(&gate);
    assert_int_equal(gf_device_start(DEVICE, start_well, NULL), GF_OK);
    assert_int_equal(gf_device_start_wait(DEVICE, &error), GF_OK);
    assert_int_equal(begun[DEVICE], 2);
}

/* One device's start does not wait for another's. */
static void test_several(void **state)
{
    struct gf_error error;
    assert_int_equal(gf_device_start(0, start_well, NULL), GF_OK);
    assert_int_equal(gf_device_start(1, start_badly, NULL), GF_OK);
    sem_post(&gate);
    sem_post(&gate);
    assert_int_equal(gf_device_start_wait(1, &error), GF_ERROR_DEVICE);
    assert_int_equal(gf_device_start_wait(0, &error), GF_OK);
    assert_int_equal(gf_device_start(GF_STARTS_MOST, start_well, &error), GF_ERROR_UNAVAILABLE);
    assert_non_null(strstr(error.text, "no such device"));
    assert_int_equal(gf_device_start(-1, start_well, &error), GF_ERROR_UNAVAILABLE);
    assert_int_equal(gf_device_start_wait(7, &error), GF_ERROR_UNAVAILABLE); /* nobody began it */
}

/* ---- the arena ---- */

enum { SLOTS = 64, ROUNDS = 20000, SIZE_MOST = 5000 };

struct heap {
    size_t limit, held;
    int takes, gives;
};

/* The memory begins with its size, which the arena knows nothing of. */
static void *heap_take(void *context, size_t size)
{
    struct heap *const heap = context;
    if (size > heap->limit - heap->held)
        return NULL;
    char *const memory = aligned_alloc(
        GF_ARENA_ALIGNMENT, GF_ARENA_ALIGNMENT + (size + GF_ARENA_ALIGNMENT - 1) /
                                                     GF_ARENA_ALIGNMENT * GF_ARENA_ALIGNMENT);
    assert_non_null(memory);
    memcpy(memory, &size, sizeof size);
    heap->held += size;
    heap->takes++;
    return memory + GF_ARENA_ALIGNMENT;
}

static void heap_give(void *context, void *memory)
{
    struct heap *const heap = context;
    char *const start = (char *)memory - GF_ARENA_ALIGNMENT;
    size_t size;
    memcpy(&size, start, sizeof size);
    heap->held -= size;
    heap->gives++;
    free(start);
}

struct slot {
    unsigned char *data;
    size_t size;
    unsigned char mark;
};

static void put(struct gf_arena *arena, struct slot *slot, size_t size, unsigned char mark)
{
    *slot = (struct slot){.data = gf_arena_alloc(arena, size), .size = size, .mark = mark};
    if (!slot->data)
        return;
    assert_int_equal((uintptr_t)slot->data % GF_ARENA_ALIGNMENT, 0);
    memset(slot->data, mark, size);
}

/* What was written is still there: no two pieces overlap. */
static void drop(struct gf_arena *arena, struct slot *slot)
{
    for (size_t i = 0; slot->data && i < slot->size; i++)
        assert_int_equal(slot->data[i], slot->mark);
    gf_arena_free(arena, slot->data);
    slot->data = NULL;
}

static void use(size_t least, size_t most, size_t limit)
{
    struct heap heap = {.limit = limit};
    struct gf_arena arena = GF_ARENA_INITIAL(heap_take, heap_give, &heap, least, most);
    struct slot slot[SLOTS] = {{0}};
    uint64_t seed = least + most + limit;
    size_t held = 0;
    int refused = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct slot *const it = &slot[random_below(&seed, SLOTS)];
        drop(&arena, it);
        put(&arena, it, (size_t)random_below(&seed, SIZE_MOST), (unsigned char)i);
        refused += !it->data;
        assert_true(heap.held <= heap.limit);
        const size_t idle = gf_arena_idle(&arena, &held);
        assert_true(idle <= held);
        assert_int_equal(held, heap.held);
    }
    assert_true(limit < SLOTS * SIZE_MOST / 2 ? refused > 0 : !refused);
    for (int i = 0; i < SLOTS; i++)
        drop(&arena, &slot[i]);
    const size_t idle = gf_arena_idle(&arena, &held);
    assert_int_equal(idle, held);
    gf_arena_trim(&arena);
    assert_int_equal(heap.held, 0);
    assert_int_equal(heap.takes, heap.gives);
    if (most >= 2 * SIZE_MOST && !refused)
        assert_true(heap.takes < 100);
    if (!most)
        assert_true(heap.takes >= ROUNDS);
}

static void test_arena(void **state)
{
    use(10000, 100000, 10000000); /* in chunks */
    use(2000, 6000, 10000000);    /* some pieces have memory of their own */
    use(0, 0, 10000000);          /* all have */
    use(4000, 50000, 60000);      /* memory is short */
}

/* A piece is given the memory that freed neighbours leave together, without another chunk. */
static void test_arena_joins(void **state)
{
    enum { EACH = 1024, COUNT = 8 };
    struct heap heap = {.limit = COUNT * EACH};
    struct gf_arena arena =
        GF_ARENA_INITIAL(heap_take, heap_give, &heap, COUNT * EACH, 4 * COUNT * EACH);
    void *piece[COUNT];
    for (int i = 0; i < COUNT; i++)
        assert_non_null(piece[i] = gf_arena_alloc(&arena, EACH));
    assert_null(gf_arena_alloc(&arena, 1));
    for (int i = 0; i < COUNT; i++)
        gf_arena_free(&arena, piece[(i * 3) % COUNT]); /* out of order */
    void *const whole = gf_arena_alloc(&arena, COUNT * EACH);
    assert_non_null(whole);
    assert_int_equal(heap.takes, 1);
    gf_arena_free(&arena, whole);
    gf_arena_free(&arena, NULL);
    gf_arena_trim(&arena);
    assert_int_equal(heap.held, 0);
}

struct user {
    pthread_t thread;
    struct gf_arena *arena;
    unsigned char mark;
};

static void *use_main(void *argument)
{
    const struct user *const user = argument;
    struct slot slot[4] = {{0}};
    uint64_t seed = user->mark;
    for (int i = 0; i < 2000; i++) {
        struct slot *const it = &slot[i % 4];
        drop(user->arena, it);
        put(user->arena, it, (size_t)random_below(&seed, SIZE_MOST), user->mark);
    }
    for (int i = 0; i < 4; i++)
        drop(user->arena, &slot[i]);
    return NULL;
}

static void test_arena_shared(void **state)
{
    enum { USERS = 4 };
    struct heap heap = {.limit = 10000000};
    struct gf_arena arena = GF_ARENA_INITIAL(heap_take, heap_give, &heap, 10000, 100000);
    struct user user[USERS];
    for (int i = 0; i < USERS; i++) {
        user[i] = (struct user){.arena = &arena, .mark = (unsigned char)(i + 1)};
        assert_int_equal(pthread_create(&user[i].thread, NULL, use_main, &user[i]), 0);
    }
    for (int i = 0; i < USERS; i++)
        pthread_join(user[i].thread, NULL);
    gf_arena_trim(&arena);
    assert_int_equal(heap.held, 0);
}

/* ---- times ---- */

static void test_times(void **state)
{
    char text[160];
    gf_start_origin();
    const double now_s = gf_now();
    assert_false(gf_start_describe(GF_START_KERNELS, text, sizeof text));
    gf_start_note(GF_START_KERNELS, now_s);
    assert_true(gf_start_describe(GF_START_KERNELS, text, sizeof text));
    assert_non_null(strstr(text, "start: kernels loaded ahead: once, from "));
    gf_start_note(GF_START_KERNELS, now_s - 2);
    gf_start_note(GF_START_KERNELS, now_s - 1);
    assert_true(gf_start_describe(GF_START_KERNELS, text, sizeof text));
    assert_non_null(strstr(text, ": 3 times, from -2000.0 to "));
    const char *const sum = strstr(text, "ms, ");
    assert_non_null(sum);
    assert_true(atof(sum + 4) >= 3000);
    for (int part = 0; part < GF_START_PARTS; part++) {
        gf_start_note((enum gf_start_part)part, now_s);
        assert_true(gf_start_describe((enum gf_start_part)part, text, sizeof text));
        assert_null(strstr(text, "(null)"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_several),     cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_joins), cmocka_unit_test(test_arena_shared),
        cmocka_unit_test(test_times),
    };
    sem_init(&gate, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
