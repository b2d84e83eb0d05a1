/* Copies to shared memory that a thread starts and waits for. They are made when it waits: whoever reads before that
 * reads what was there. */
#pragma once

#include <stddef.h>

namespace emulated
{
void copy_later(void *to, const void *from, size_t bytes);
void commit_copies();
void finish_copies(unsigned but_groups);
} // namespace emulated

#define __pipeline_memcpy_async(to, from, bytes) emulated::copy_later(to, from, bytes)
#define __pipeline_commit() emulated::commit_copies()
#define __pipeline_wait_prior(groups) emulated::finish_copies(groups)
