/* A budget of bytes that several pipelines share: who wants more than is left waits, in order of
 * arrival. Somebody alone always gets in: one large picture is no different from a run without a
 * budget. */
#ifndef GF_GATE_H
#define GF_GATE_H

#include <pthread.h>
#include <stdint.h>

struct gf_gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t budget, taken;
    uint64_t share; /* what each of its users may keep when it has left */
    uint64_t next_ticket, serving;
};

void gf_gate_open(struct gf_gate *gate, uint64_t budget, int users);
void gf_gate_close(struct gf_gate *gate);
void gf_gate_enter(struct gf_gate *gate, uint64_t bytes);
void gf_gate_leave(struct gf_gate *gate, uint64_t bytes);

#endif
