#include "cli/exit_status.h"

int gf_exit_status(enum gf_status status)
{
    switch (status) {
    case GF_OK:
        return 0;
    case GF_ERROR_USAGE:
        return 2;
    case GF_ERROR_UNAVAILABLE:
        return 3;
    case GF_ERROR_INPUT:
    case GF_ERROR_OUTPUT:
    case GF_ERROR_MEMORY:
    case GF_ERROR_DEVICE_MEMORY:
    case GF_ERROR_DEVICE:
    case GF_STATUS_COUNT:
        break;
    }
    return 1;
}
