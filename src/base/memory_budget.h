/* A budget of bytes that several pipelines share: who wants more than is left waits, in order of
 * arrival. Somebody alone always gets in: one large picture is no different from a run without a
 * budget. */
#ifndef GF_BASE_MEMORY_BUDGET_H
#define GF_BASE_MEMORY_BUDGET_H

#include <pthread.h>
#include <stdint.h>

struct gf_memory_budget {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t budget, taken;
    uint64_t share; /* what each of its users may keep when it has left */
    uint64_t next_ticket, serving;
};

void gf_memory_budget_open(struct gf_memory_budget *memory_budget, uint64_t budget, int users);
void gf_memory_budget_close(struct gf_memory_budget *memory_budget);
void gf_memory_budget_acquire(struct gf_memory_budget *memory_budget, uint64_t bytes);
void gf_memory_budget_release(struct gf_memory_budget *memory_budget, uint64_t bytes);

#endif
