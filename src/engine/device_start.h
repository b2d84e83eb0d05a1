/* The start of a device takes a tenth of a second and more. It is done once for all pipelines of
 * the process, in the background, and may begin before anybody needs the device. */
#ifndef GF_ENGINE_DEVICE_START_H
#define GF_ENGINE_DEVICE_START_H

#include <stdbool.h>

#include "base/c_linkage.h"
#include "gpufilter/status.h"

GF_C_BEGIN

enum { GF_STARTS_MOST = 64 }; /* devices are numbered below that */

/* Starts a device, in a thread of its own. */
typedef enum gf_status gf_device_starter(int device, struct gf_error *error);

/* Begins the start, unless it is under way or has succeeded; a start that has failed is tried
 * again. */
enum gf_status gf_device_start(int device, gf_device_starter *starter,
                               struct gf_error *error) GF_CHECKED;
/* Waits until the start, which must have begun, has ended, and returns its status. */
enum gf_status gf_device_start_wait(int device, struct gf_error *error) GF_CHECKED;

/* Whether any start is under way. The process must not call exit() meanwhile, since exit() would
 * destroy what the start builds; _exit() is safe. */
bool gf_device_starting(void);
void gf_device_starts_wait(void); /* until none is */

GF_C_END
#endif
