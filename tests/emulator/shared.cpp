/* Shared memory: of each block, a part of the host's memory in which the address sanitizer forbids what is no array. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "blocks.h"
#include "written.h"

#ifdef EMULATED_ASAN
#include <sanitizer/asan_interface.h> /* whose macros do nothing here, since this file is not instrumented */
#else
#define __asan_poison_memory_region(at, bytes) (void)(at), (void)(bytes)
#define __asan_unpoison_memory_region(at, bytes) (void)(at), (void)(bytes)
#define __asan_region_is_poisoned(at, bytes) ((void)(at), (void)(bytes), false)
#endif

namespace emulated
{

/* Addresses of shared memory count from `memory` on; 0 is none. */
enum { MEMORY_BYTES = 1 << 20, ZONE = 128, FIRST_ADDRESS = 1024 };

static void allow(unsigned char *at, size_t bytes)
{
    __asan_unpoison_memory_region(at, bytes);
    memset(at, GARBAGE, bytes);
    mark_memory(at, bytes, UNWRITTEN);
}

void open_shared(block *block, size_t dynamic_bytes)
{
    if (!block->memory) {
#ifdef EMULATED_WRITTEN
        block->memory = (unsigned char *)place_memory(MEMORY_BYTES);
        mark_memory(block->memory, MEMORY_BYTES, ABSENT);
#else
        block->memory =
            (unsigned char *)mmap(nullptr, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block->memory == MAP_FAILED)
            die("no memory for a block");
#endif
        __asan_poison_memory_region(block->memory, MEMORY_BYTES);
    }
    __asan_poison_memory_region(block->memory, block->used);
    mark_memory(block->memory, block->used, ABSENT);
    block->arrays.clear();
    block->used = FIRST_ADDRESS + dynamic_bytes;
    block->shared_bytes = dynamic_bytes;
    allow(block->memory + FIRST_ADDRESS, dynamic_bytes);
}

void *dynamic_shared() { return current->block->memory + FIRST_ADDRESS; }

void *shared_array(const void *key, size_t bytes, size_t alignment)
{
    block *const own = current->block;
    const size_t unit = max(alignment, (size_t)ZONE);
    for (const array &it : own->arrays) {
        if (it.key == key)
            return it.at;
    }
    unsigned char *const at = own->memory + (own->used + ZONE + unit - 1) / unit * unit;
    own->used = (size_t)(at - own->memory) + bytes;
    own->shared_bytes += bytes;
    if (own->shared_bytes > max(allowed_shared(kernel_run), (size_t)SHARED_UNASKED) || own->used > MEMORY_BYTES)
        die("%zu bytes of shared memory", own->shared_bytes);
    allow(at, bytes);
    own->arrays.push_back({key, at});
    return at;
}

void *shared_of_rank(const void *own, unsigned rank)
{
    return blocks[rank]->memory + ((const unsigned char *)own - current->block->memory);
}

uint32_t shared_address(const void *at) { return (uint32_t)((const unsigned char *)at - current->block->memory); }

void *shared_at(uint32_t address, size_t bytes)
{
    unsigned char *const at = current->block->memory + address;
    if (address + bytes > MEMORY_BYTES || __asan_region_is_poisoned(at, bytes))
        die("%zu bytes at %#x of shared memory, which are in no array", bytes, address);
    return at;
}

} // namespace emulated
