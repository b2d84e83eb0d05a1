/* Arrays from malloc() that grow by an element at a time. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for another element in the array, a pointer, which is NULL before the first one.
 * Returns false when out of memory; the array then stays as it is. An array that grows in no other
 * way has room for the next power of two of elements. */
#define GF_GROW(array, count) gf_grow(&(array), (size_t)(count), sizeof *(array))

static inline bool gf_grow(void *array, size_t count, size_t element_bytes)
{
    void *data;
    if (count & (count - 1))
        return true;
    memcpy(&data, array, sizeof data);
    void *const grown = realloc(data, (count ? 2 * count : 1) * element_bytes);
    if (grown)
        memcpy(array, &grown, sizeof grown);
    return grown;
}
