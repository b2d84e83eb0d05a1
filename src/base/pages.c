#include "base/pages.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };

void *gf_pages_alloc(size_t size)
{
    void *pages = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    if (size >= 2 * (size_t)HUGE_PAGE)
        (void)madvise(pages, size, MADV_HUGEPAGE); /* a refusal costs only speed */
    return pages;
}

/* Linux has had MADV_POPULATE_WRITE since 5.14. An older kernel refuses it and provides pages when
 * they are touched. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct part {
    pthread_t thread;
    void *begin;
    size_t size;
};

static void *populate_part(void *argument)
{
    const struct part *const part = argument;
    (void)madvise(part->begin, part->size, MADV_POPULATE_WRITE);
    return NULL;
}

enum { PART_LEAST = 8 << 20 }; /* smaller parts take less time than starting a thread */

void gf_pages_populate(void *pages, size_t size)
{
    enum { PARTS_MAX = 8, ALIGNMENT = HUGE_PAGE };
    struct part part[PARTS_MAX];
    const size_t wanted = size / PART_LEAST, count = wanted < PARTS_MAX ? wanted : PARTS_MAX;
    const size_t each = count ? (size / count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;
    size_t started = 0;
    for (size_t at = 0; count && at < size; at += each) {
        part[started] =
            (struct part){.begin = (char *)pages + at, .size = size - at < each ? size - at : each};
        if (started + 1 == PARTS_MAX ||
            pthread_create(&part[started].thread, NULL, populate_part, &part[started])) {
            (void)populate_part(&part[started]);
            continue;
        }
        started++;
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(part[i].thread, NULL);
}

void gf_pages_expect(void *memory, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t before = (page - (uintptr_t)memory % page) % page;
    const size_t bytes = size > before ? (size - before) / page * page : 0;
    char *const first = (char *)memory + before;
    unsigned char there;
    if (bytes && !mincore(first + bytes - page, page, &there) && !(there & 1))
        (void)madvise(first, bytes, MADV_POPULATE_WRITE);
}

static void *populate_ahead(void *argument)
{
    const struct gf_pages_ahead *const ahead = argument;
    (void)madvise(ahead->pages, ahead->size, MADV_POPULATE_WRITE);
    return NULL;
}

void gf_pages_ahead_begin(struct gf_pages_ahead *ahead, void *pages, size_t size)
{
    *ahead = (struct gf_pages_ahead){.pages = pages, .size = size};
    if (size >= PART_LEAST)
        ahead->started = !pthread_create(&ahead->thread, NULL, populate_ahead, ahead);
}

void gf_pages_ahead_end(struct gf_pages_ahead *ahead)
{
    if (ahead->started)
        pthread_join(ahead->thread, NULL);
    ahead->started = false;
}

void gf_pages_free(void *pages, size_t size)
{
    if (pages)
        munmap(pages, size ? size : 1);
}
