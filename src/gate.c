#include "gate.h"

void gf_gate_open(struct gf_gate *gate, uint64_t budget, int users)
{
    *gate = (struct gf_gate){.budget = budget, .share = budget / (uint64_t)(users > 0 ? users : 1)};
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

void gf_gate_close(struct gf_gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->lock);
}

void gf_gate_enter(struct gf_gate *gate, uint64_t bytes)
{
    pthread_mutex_lock(&gate->lock);
    const uint64_t ticket = gate->next_ticket++;
    while (ticket != gate->serving ||
           (gate->taken && (bytes > gate->budget || gate->taken > gate->budget - bytes)))
        pthread_cond_wait(&gate->changed, &gate->lock);
    gate->serving++;
    gate->taken += bytes;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

void gf_gate_leave(struct gf_gate *gate, uint64_t bytes)
{
    pthread_mutex_lock(&gate->lock);
    gate->taken -= bytes;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}
