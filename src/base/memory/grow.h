/* Arrays from malloc() that grow. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for another element in the array, a pointer, which is NULL before the first one.
 * Returns false when out of memory; the array then stays as it is. An array that grows in no other
 * way has room for the next power of two of elements. */
#define GF_GROW(array, count) gf_grow(&(array), (size_t)(count), sizeof *(array))

/* The same for an array whose number of elements that have room is kept, too, in `room`, a size_t:
 * makes room for `count` elements. */
#define GF_RESERVE(array, room, count) \
    gf_reserve(&(array), &(room), (size_t)(count), sizeof *(array))

static inline bool gf_resize(void *array, size_t bytes)
{
    void *data;
    memcpy(&data, array, sizeof data);
    void *const grown = realloc(data, bytes);
    if (grown)
        memcpy(array, &grown, sizeof grown);
    return grown;
}

static inline bool gf_grow(void *array, size_t count, size_t element_bytes)
{
    return count & (count - 1) || gf_resize(array, (count ? 2 * count : 1) * element_bytes);
}

static inline bool gf_reserve(void *array, size_t *room, size_t count, size_t element_bytes)
{
    const size_t larger = count + *room / 2 + 64;
    if (count <= *room)
        return true;
    if (!gf_resize(array, larger * element_bytes))
        return false;
    *room = larger;
    return true;
}
