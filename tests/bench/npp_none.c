/* A build without NVIDIA's NPP: nothing to compare with. */
#include "bench.h"

bool npp_open(int width, int height, char *version, size_t size)
{
    (void)width, (void)height, (void)version, (void)size;
    return false;
}

void npp_close(void)
{
}

const char *npp_way(const char *name, int way)
{
    (void)name, (void)way;
    return NULL;
}

int npp_run(void *context, int turn, void *stream)
{
    (void)context, (void)turn, (void)stream;
    return -1;
}
