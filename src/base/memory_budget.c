#include "base/memory_budget.h"

#include <pthread.h>
#include <unistd.h>

static uint64_t machine_bytes;

static void find_machine_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t bytes =
                       pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : (uint64_t)1 << 30,
                   group = gf_cgroup_limits()->memory_bytes;
    machine_bytes = group < bytes ? group : bytes;
}

uint64_t gf_memory_machine_bytes(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_machine_bytes);
    return machine_bytes;
}

uint64_t gf_memory_picture_bytes(void)
{
    return gf_memory_machine_bytes() / 4 * 3;
}

uint64_t gf_memory_pictures_bytes(void)
{
    return gf_memory_machine_bytes() / 4;
}

void gf_memory_budget_open(struct gf_memory_budget *budget, uint64_t limit, int users)
{
    *budget = (struct gf_memory_budget){.limit = limit,
                                        .share = limit / (uint64_t)(users > 0 ? users : 1)};
    pthread_mutex_init(&budget->lock, NULL);
    pthread_cond_init(&budget->changed, NULL);
}

void gf_memory_budget_close(struct gf_memory_budget *budget)
{
    pthread_cond_destroy(&budget->changed);
    pthread_mutex_destroy(&budget->lock);
}

void gf_memory_budget_acquire(struct gf_memory_budget *budget, uint64_t bytes)
{
    pthread_mutex_lock(&budget->lock);
    const uint64_t ticket = budget->next_ticket++;
    while (ticket != budget->serving ||
           (budget->held && (bytes > budget->limit || budget->held > budget->limit - bytes)))
        pthread_cond_wait(&budget->changed, &budget->lock);
    budget->serving++;
    budget->held += bytes;
    pthread_cond_broadcast(&budget->changed);
    pthread_mutex_unlock(&budget->lock);
}

void gf_memory_budget_release(struct gf_memory_budget *budget, uint64_t bytes)
{
    pthread_mutex_lock(&budget->lock);
    budget->held -= bytes;
    pthread_cond_broadcast(&budget->changed);
    pthread_mutex_unlock(&budget->lock);
}

bool gf_memory_budget_is_awaited(struct gf_memory_budget *budget)
{
    pthread_mutex_lock(&budget->lock);
    const bool awaited = budget->serving != budget->next_ticket;
    pthread_mutex_unlock(&budget->lock);
    return awaited;
}
