#include "base/memory_budget.h"

void gf_memory_budget_open(struct gf_memory_budget *memory_budget, uint64_t budget, int users)
{
    *memory_budget = (struct gf_memory_budget){.budget = budget, .share = budget / (uint64_t)(users > 0 ? users : 1)};
    pthread_mutex_init(&memory_budget->lock, NULL);
    pthread_cond_init(&memory_budget->changed, NULL);
}

void gf_memory_budget_close(struct gf_memory_budget *memory_budget)
{
    pthread_cond_destroy(&memory_budget->changed);
    pthread_mutex_destroy(&memory_budget->lock);
}

void gf_memory_budget_acquire(struct gf_memory_budget *memory_budget, uint64_t bytes)
{
    pthread_mutex_lock(&memory_budget->lock);
    const uint64_t ticket = memory_budget->next_ticket++;
    while (ticket != memory_budget->serving ||
           (memory_budget->taken && (bytes > memory_budget->budget || memory_budget->taken > memory_budget->budget - bytes)))
        pthread_cond_wait(&memory_budget->changed, &memory_budget->lock);
    memory_budget->serving++;
    memory_budget->taken += bytes;
    pthread_cond_broadcast(&memory_budget->changed);
    pthread_mutex_unlock(&memory_budget->lock);
}

void gf_memory_budget_release(struct gf_memory_budget *memory_budget, uint64_t bytes)
{
    pthread_mutex_lock(&memory_budget->lock);
    memory_budget->taken -= bytes;
    pthread_cond_broadcast(&memory_budget->changed);
    pthread_mutex_unlock(&memory_budget->lock);
}
