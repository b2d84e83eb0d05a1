/* What the driver and the preloaded library share: a page of memory that outlives the program. The
 * rest goes through the environment:
 *   FAULT_STATE    path of the file that holds struct fault_state
 *   FAULT_KIND     a name of FAULT_KINDS: calls of this kind are counted from main() on
 *   FAULT_N        the call that fails; 0: none does
 *   FAULT_ERRNO    what it fails with; 0: it transfers only half of the bytes (read, write)
 *   FAULT_MORE     set: every later call of the kind fails, too
 *   FAULT_NAMED    set: there are no unnamed files, as on file systems without O_TMPFILE */
#pragma once

#include <stdatomic.h>

#define FAULT_KINDS(KIND) \
    KIND(memory) /* malloc and what is like it */ \
    KIND(map) \
    KIND(thread) \
    KIND(open) \
    KIND(read) \
    KIND(write) \
    KIND(close) \
    KIND(rename) /* and link */ \
    KIND(sync) \
    KIND(stat) /* and access, readlink, realpath, readdir */ \
    KIND(other)

struct fault_state {
    atomic_int calls;    /* of the kind that is asked for */
    atomic_int injected; /* failures */
};
