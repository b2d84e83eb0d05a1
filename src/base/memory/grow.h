/* Arrays from malloc() that grow as elements are added. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for another element after the `count` elements of the array. The array is a pointer,
 * and NULL before the first element. Returns false when out of memory; the array then stays as it
 * is. Use it for each added element, because the array is enlarged only when `count` is a power of
 * two. */
#define GF_GROW(array, count) gf_grow(&(array), (size_t)(count), sizeof *(array))

/* Makes room for `count` elements in an array of which `room`, a size_t, keeps for how many
 * elements it has memory. Returns false when out of memory. */
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
