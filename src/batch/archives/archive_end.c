/* Ends a batch with archives: reports how the input archive ended, and makes the output archives
 * visible under their names. */
#include <sys/stat.h>

#include "base/exit_status.h"
#include "base/fail.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

bool gf_archive_in_place(const struct gf_archive_ring *ring, int number)
{
    struct stat file;
    return ring->reader && ring->writer[number] && gf_archive_reader_file(ring->reader, &file) &&
           gf_archive_writer_goes_to(ring->writer[number], &file);
}

/* Returns the run's failure: a failure of its members, or of the end of the input archive. If data
 * follow the end marker, the run fails where the archive is rewritten in place, since the data
 * would be lost; elsewhere the data are left out. */
static enum gf_status failure_of_run(const struct gf_archive_ring *ring, bool in_place,
                                     struct gf_error *error)
{
    const enum gf_status failed = gf_batch_conclude(ring->batch, error);
    enum gf_status end = ring->end_status;
    struct gf_error why = ring->end_error;
    if (ring->batch->stopped)
        return failed;
    if (ring->more && !end) {
        (void)gf_fail(&why, GF_ERROR_INPUT,
                      "%s: more follows the archive's end marker, and is left out; "
                      "tar --concatenate joins archives",
                      ring->from);
        if (in_place)
            end = GF_ERROR_INPUT;
        else
            gf_batch_tell(ring->batch->request, GF_MESSAGE_WARNING, "%s", why.text);
    }
    if (end && failed)
        gf_batch_tell(ring->batch->request, GF_MESSAGE_ERROR, "%s", why.text);
    else if (end)
        *error = why;
    return gf_graver_status(failed, end);
}

/* Makes the archive visible under its name, unless it lacks a member that only the archive which it
 * would replace has. */
static enum gf_status commit_archive(struct gf_archive_ring *ring, int number, bool lacks,
                                     struct gf_error *error)
{
    struct gf_error why = {0};
    enum gf_status status = GF_OK;
    if (lacks && gf_archive_in_place(ring, number)) {
        gf_batch_tell(ring->batch->request, GF_MESSAGE_ERROR,
                      "%s: is its own output, and stays as it was", ring->from);
        return GF_OK;
    }
    status = gf_archive_commit(ring->writer[number], &why);
    if (status && ring->outputs > 1)
        gf_batch_tell(ring->batch->request, GF_MESSAGE_ERROR, "%s", why.text);
    else if (status)
        *error = why;
    return status;
}

/* Members that were left out make the run fail, but the archives are whole. A failure that stopped
 * the run leaves no archive. */
enum gf_status gf_archive_conclude(struct gf_archive_ring *ring, struct gf_error *error)
{
    bool in_place = false;
    for (int k = 0; k < ring->outputs; k++)
        in_place |= gf_archive_in_place(ring, k);
    const enum gf_status failed = failure_of_run(ring, in_place, error);
    enum gf_status status = GF_OK;
    if (ring->batch->stopped || (failed && ring->batch->request->fail_fast))
        return failed;
    for (int k = 0; k < ring->outputs; k++) {
        if (ring->writer[k] && !ring->written_status[k])
            ring->written_status[k] = commit_archive(ring, k, failed != GF_OK, error);
        status = status ? status : ring->written_status[k];
    }
    if (status && ring->outputs > 1 && !failed)
        (void)gf_fail(error, status, "not all outputs were written");
    return gf_graver_status(failed, status);
}

#endif
