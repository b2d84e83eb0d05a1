/* Scores pairs of pictures on a GPU. A GPU has a few measurers, each with a stream and memory of
 * its own, which threads take in turn, so that one's copies overlap with another's kernels. They
 * are kept until the process ends, or a server's worker rests. */
#include "engine/device_score.h"

#include <pthread.h>

#include "base/fail.h"

enum { MEASURERS = 4, LARGE_PIXELS = 4 << 20 };

struct place {
    bool taken;
    int device;
    uint64_t most;                /* the budget of its memory */
    struct gf_measurer *measurer; /* NULL: not created */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `taken` */
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static struct place places[MEASURERS];

/* Takes a place, and waits until one is free. A budget of memory is for one of them, and large
 * pictures, which keep a GPU busy one by one, take the first one's memory alone. */
static struct place *take_place(const struct gf_options *options, struct gf_format format)
{
    const bool large = (int64_t)format.width * format.height > LARGE_PIXELS;
    const int count = options->device_memory_bytes || large ? 1 : MEASURERS;
    int i = 0;
    pthread_mutex_lock(&lock);
    while (places[i].taken) {
        if (++i < count)
            continue;
        pthread_cond_wait(&given_back, &lock);
        i = 0;
    }
    places[i].taken = true;
    pthread_mutex_unlock(&lock);
    return &places[i];
}

static void give_place(struct place *place)
{
    pthread_mutex_lock(&lock);
    place->taken = false;
    pthread_cond_broadcast(&given_back);
    pthread_mutex_unlock(&lock);
}

/* Makes sure that the place, which the thread has taken, has a measurer of the device. */
static enum gf_status fill(struct place *place, const struct gf_options *options,
                           struct gf_error *error)
{
    const uint64_t most = options->device_memory_bytes ? options->device_memory_bytes : UINT64_MAX;
    const int device = options->device_index;
    if (place->measurer && place->device == device && place->most == most)
        return GF_OK;
    gf_measurer_destroy(place->measurer);
    place->measurer = NULL;
    place->device = device;
    place->most = most;
    return gf_measurer_create(device, most, &place->measurer, error);
}

void gf_score_rest(void)
{
    for (int i = 0; i < MEASURERS; i++) {
        pthread_mutex_lock(&lock);
        const bool rests = !places[i].taken;
        places[i].taken = true;
        pthread_mutex_unlock(&lock);
        if (!rests)
            continue;
        gf_measurer_destroy(places[i].measurer);
        places[i].measurer = NULL;
        give_place(&places[i]);
    }
}

enum gf_status gf_score_on_gpu(struct gf_measure_picture *pair, const struct gf_options *options,
                               struct gf_error *error)
{
    struct place *const place = take_place(options, pair->original->format);
    enum gf_status status = fill(place, options, error);
    GF_THEN(status, gf_measurer_run(place->measurer, pair, 1, error));
    give_place(place);
    pair->measured &= !status;
    return status == GF_ERROR_DEVICE_MEMORY ? GF_OK : status;
}
