/* Tells whether a command that runs still moves bytes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Sets *bytes to what the processes of a group have read and written so far. Returns false if the
 * kernel tells that of none of them. */
bool gf_bytes_moved(pid_t group, uint64_t *bytes);
