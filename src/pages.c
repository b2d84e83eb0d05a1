#include "pages.h"

#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

void *gf_pages_alloc(size_t size)
{
    void *pages = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    if (size >= 2 * (size_t)HUGE_PAGE)
        (void)madvise(pages, size, MADV_HUGEPAGE); /* advice: refusal changes nothing but speed */
    return pages;
}

void gf_pages_free(void *pages, size_t size)
{
    if (pages)
        munmap(pages, size ? size : 1);
}
