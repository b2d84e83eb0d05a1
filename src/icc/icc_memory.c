/* Memory for Little CMS, which does not check all of its allocations: it crashes if it gets no
 * memory for a mutex or a matrix. While a thread uses Little CMS, it has a reserve for allocations
 * that malloc() refuses. If the reserve was touched, the whole use fails at its end. */
#ifdef GF_WITH_LCMS
#include "icc/icc_memory.h"

#include <lcms2_plugin.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* The thread's reserve, between gf_icc_memory_begin() and gf_icc_memory_end(). Its pages use no
 * memory until they are written. */
static _Thread_local struct {
    unsigned char *data;
    size_t size, used;
    bool touched;
} reserve;

/* The header of a block in the reserve: its size, and the alignment of what follows. */
union head {
    size_t size;
    max_align_t aligned;
};

static bool is_reserved(const void *block)
{
    const uintptr_t at = (uintptr_t)block, begin = (uintptr_t)reserve.data;
    return reserve.data && at >= begin && at < begin + reserve.size;
}

static void *take(size_t size)
{
    const size_t whole = sizeof(union head) +
                         (size + sizeof(union head) - 1) / sizeof(union head) * sizeof(union head);
    reserve.touched = true;
    if (!reserve.data || whole > reserve.size - reserve.used)
        return NULL;
    union head *const head = (union head *)(void *)(reserve.data + reserve.used);
    head->size = size;
    reserve.used += whole;
    return head + 1;
}

/* Whether Little CMS asks for a block that a table in the profiles cannot need, since it is larger
 * than the reserve. It takes up to 512 MB for a table that a profile claims to contain, before it
 * reads that table; its own limit fails in the same way. */
static bool is_too_large(size_t size)
{
    return reserve.data && size > reserve.size;
}

static void *allocate(cmsContext context, cmsUInt32Number size)
{
    (void)context;
    if (is_too_large(size))
        return NULL;
    void *const block = malloc(size);
    return block ? block : take(size);
}

static void release(cmsContext context, void *block)
{
    (void)context;
    if (!is_reserved(block))
        free(block);
}

static void *resize(cmsContext context, void *block, cmsUInt32Number size)
{
    (void)context;
    if (!block)
        return allocate(context, size);
    if (is_too_large(size))
        return NULL;
    void *const grown = is_reserved(block) ? NULL : realloc(block, size);
    if (grown)
        return grown;
    /* The size of a block from malloc() is unknown, so that it cannot be copied to the reserve: the
     * allocation fails. */
    if (!is_reserved(block)) {
        reserve.touched = true;
        return NULL;
    }
    void *const other = allocate(context, size);
    const size_t old = ((const union head *)block)[-1].size;
    if (other)
        memcpy(other, block, old < size ? old : size);
    return other;
}

enum gf_status gf_icc_memory_begin(size_t profiles, cmsContext *context, struct gf_error *error)
{
    enum { LEAST = 8 << 20, TIMES = 16 };
    static cmsPluginMemHandler handler = {
        {cmsPluginMagicNumber, 2000, cmsPluginMemHandlerSig, NULL},
        allocate,
        release,
        resize,
        NULL,
        NULL,
        NULL};
    reserve.size = LEAST + TIMES * profiles;
    reserve.used = 0;
    reserve.touched = false;
    reserve.data = malloc(reserve.size);
    *context = reserve.data ? cmsCreateContext(&handler, NULL) : NULL;
    if (*context)
        return GF_OK;
    free(reserve.data);
    reserve.data = NULL;
    return gf_fail_memory(error);
}

enum gf_status gf_icc_memory_end(cmsContext context, enum gf_status status, struct gf_error *error)
{
    cmsDeleteContext(context);
    free(reserve.data);
    reserve.data = NULL;
    return reserve.touched ? gf_fail_memory(error) : status;
}
#endif
