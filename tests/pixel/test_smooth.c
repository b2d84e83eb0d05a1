/* Histograms of a film's frames: sums over several, whatever the order in which threads count. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "pixel/histogram/histogram.h"

enum { FRAMES = 400, THREADS = 5, ROOM = 7, BINS = 256, FIRST = 3, SECOND = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static size_t next, written; /* frames before `written` are done */
static bool is_done[FRAMES];
static struct gf_smooth *smooth;
static uint64_t sums[FRAMES][2];

/* Frames that fail after their first histogram, and before it. */
static bool fails_late(size_t frame)
{
    return frame % 11 == 5;
}

static bool fails_early(size_t frame)
{
    return frame % 17 == 3;
}

/* Counts the frame's number + 1 in one bin, and returns the sum of the bin. */
static uint64_t add(int frames, size_t frame)
{
    uint64_t count[BINS] = {[9] = frame + 1};
    struct gf_histogram histogram = {.channels = 1, .bins = BINS, .count = count};
    assert_int_equal(gf_smooth_add(frames, &histogram, NULL), GF_OK);
    return count[9];
}

static void filter(size_t frame)
{
    gf_smooth_begin(smooth, frame);
    for (int attempt = 0; attempt < 2 && !fails_early(frame);
         attempt++) { /* the second does the same */
        gf_smooth_attempt();
        if (frame % 3 == 0)
            usleep(200);
        sums[frame][0] = add(FIRST, frame);
        if (!fails_late(frame))
            sums[frame][1] = add(SECOND, frame);
    }
    gf_smooth_end(smooth, frame);
}

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    while (next < FRAMES) {
        if (next >= written + ROOM) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        const size_t frame = next++;
        pthread_mutex_unlock(&lock);
        filter(frame);
        pthread_mutex_lock(&lock);
        is_done[frame] = true;
        while (written < FRAMES && is_done[written])
            written++;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void test_sums_of_frames(void **state)
{
    pthread_t thread[THREADS];
    smooth = gf_smooth_open(ROOM, 1 << 20);
    assert_non_null(smooth);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (size_t frame = 0; frame < FRAMES; frame++) {
        uint64_t wanted[2] = {0, 0};
        for (size_t i = 0; i < SECOND && i <= frame && !fails_early(frame); i++) {
            const bool counts = !fails_early(frame - i);
            wanted[0] += counts && i < FIRST ? frame - i + 1 : 0;
            wanted[1] += counts && !fails_late(frame - i) && !fails_late(frame) ? frame - i + 1 : 0;
        }
        assert_int_equal(sums[frame][0], wanted[0]);
        assert_int_equal(sums[frame][1], wanted[1]);
    }
    gf_smooth_close(smooth);
}

static void test_limits(void **state)
{
    uint64_t count[BINS] = {7};
    struct gf_histogram histogram = {.channels = 1, .bins = BINS, .count = count};
    struct gf_error error = {0};
    gf_smooth_attempt();
    assert_int_equal(gf_smooth_add(4, &histogram, NULL), GF_OK); /* no film */
    assert_int_equal(count[0], 7);
    smooth = gf_smooth_open(ROOM, sizeof count - 1);
    gf_smooth_begin(smooth, 0);
    assert_int_equal(gf_smooth_add(4, &histogram, &error), GF_ERROR_UNFIT);
    assert_string_equal(error.text, "the histograms of 4 frames (smooth) take more than "
                                    "options.memory_bytes");
    gf_smooth_end(smooth, 0);
    gf_smooth_close(smooth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_of_frames),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
