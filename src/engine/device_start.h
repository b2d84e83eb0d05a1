/* Starts devices. A start takes a tenth of a second or more. It is done once for all pipelines of
 * the process, in the background, and may begin before the device is needed. */
#pragma once

#include <stdbool.h>

#include "base/c_linkage.h"
#include "gpufilter/status.h"

GF_C_BEGIN

enum { GF_STARTS_MOST = 64 }; /* device numbers are below this number */

/* Starts a device. It is called in a thread of its own. */
typedef enum gf_status gf_device_starter(int device, struct gf_error *error);

/* Begins the start, unless it is in progress or has succeeded. A start that has failed is tried
 * again. */
enum gf_status gf_device_start(int device, gf_device_starter *starter,
                               struct gf_error *error) GF_CHECKED;
/* Waits until the start has ended, and returns its status. The start must have begun. */
enum gf_status gf_device_start_wait(int device, struct gf_error *error) GF_CHECKED;

/* Whether any start is in progress. The process must then not call exit(), which would destroy what
 * the start builds; _exit() is safe. */
bool gf_device_starting(void);
void gf_device_starts_wait(void); /* waits until no start is in progress */

GF_C_END
