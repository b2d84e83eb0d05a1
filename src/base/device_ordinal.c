#include "base/device_ordinal.h"

static int only = -1, count_of_all; /* the only device that CUDA sees; -1: CUDA sees all devices */

void gf_device_see_only(int device, int count)
{
    only = device;
    count_of_all = count;
}

int gf_device_ordinal(int device)
{
    if (only < 0)
        return device;
    return device == only ? 0 : -1;
}

int gf_device_count_of(int seen)
{
    return only < 0 || !seen ? seen : count_of_all;
}
