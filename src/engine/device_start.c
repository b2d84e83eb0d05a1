#include "engine/backend.h"

#include <pthread.h>

#include "base/fail.h"

enum state { IDLE, UNDER_WAY, SUCCEEDED, FAILED };

struct start {
    enum state state;
    gf_device_starter *starter;
    enum gf_status status;
    struct gf_error error;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the variables below */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static struct start start_of[GF_STARTS_MOST];
static int under_way;

static void *start_main(void *argument)
{
    struct start *const start = argument;
    struct gf_error error = {0};
    const enum gf_status status = start->starter((int)(start - start_of), &error);
    pthread_mutex_lock(&lock);
    start->status = status;
    start->error = error;
    start->state = status ? FAILED : SUCCEEDED;
    under_way--;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Starts a device in a detached thread, so that a program that does not need the device after all
 * need not wait for it. */
static bool start_thread(struct start *start)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const bool started = !pthread_create(&thread, &attributes, start_main, start);
    pthread_attr_destroy(&attributes);
    return started;
}

static enum gf_status check_number(int device, struct gf_error *error)
{
    return device >= 0 && device < GF_STARTS_MOST
               ? GF_OK
               : gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: no such device", device);
}

enum gf_status gf_device_start(int device, gf_device_starter *starter, struct gf_error *error)
{
    GF_TRY(check_number(device, error));
    enum gf_status status = GF_OK;
    pthread_mutex_lock(&lock);
    struct start *const start = &start_of[device];
    if (start->state == IDLE || start->state == FAILED) {
        const enum state before = start->state;
        start->starter = starter;
        start->state = UNDER_WAY;
        under_way++;
        if (!start_thread(start)) {
            start->state = before;
            under_way--;
            status = gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

enum gf_status gf_device_start_wait(int device, struct gf_error *error)
{
    GF_TRY(check_number(device, error));
    enum gf_status status = GF_OK;
    pthread_mutex_lock(&lock);
    const struct start *const start = &start_of[device];
    while (start->state == UNDER_WAY)
        pthread_cond_wait(&ended, &lock);
    if (start->state == IDLE)
        status = gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: nobody has started it", device);
    else if (start->state == FAILED)
        status = start->status;
    if (start->state == FAILED && error)
        *error = start->error;
    pthread_mutex_unlock(&lock);
    return status;
}

bool gf_device_starting(void)
{
    pthread_mutex_lock(&lock);
    const bool any = under_way > 0;
    pthread_mutex_unlock(&lock);
    return any;
}

void gf_device_starts_wait(void)
{
    pthread_mutex_lock(&lock);
    while (under_way)
        pthread_cond_wait(&ended, &lock);
    pthread_mutex_unlock(&lock);
}
