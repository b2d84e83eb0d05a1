/* Begins an input archive, follows its links, and ends its reading; reads all pictures of one. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "batch/archives/archive_ring.h"

#ifdef GF_LIBRARY_archive
#include "batch/names/names.h"
#include "batch/transfer/transfer.h"

/* ---- links from one member to another ---- */

struct known {
    char *name, *target; /* name of a member; target of a link, else NULL */
    int64_t position;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct known *)a)->name, ((const struct known *)b)->name);
}

static void free_known(void *known)
{
    struct known *const it = known;
    free(it->name);
    free(it->target);
    free(it);
}

char *gf_archive_resolve(const char *folder, size_t length, const char *name)
{
    char *text, *rest;
    size_t size = 0;
    if (asprintf(&text, "%.*s/%s", (int)length, folder, name) < 0)
        return NULL;
    for (char *part = strtok_r(text, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        const size_t bytes = strlen(part);
        if (!strcmp(part, "."))
            continue;
        if (strcmp(part, "..")) {
            if (size)
                text[size++] = '/';
            memmove(text + size, part, bytes);
            size += bytes;
            continue;
        }
        if (!size)
            break; /* the name leads out of the archive */
        while (size && text[size - 1] != '/')
            size--;
        size -= size > 0;
    }
    text[size] = '\0';
    return text;
}

/* Returns the name that a link leads to. A hard link names a member; a symbolic link names a place
 * as seen from its own folder. */
static char *target_of(const struct gf_archive_member *member, const char *target)
{
    const char *const slash = strrchr(member->name, '/');
    if (gf_archive_member_is_hard_link(member))
        return gf_archive_resolve("", 0, target);
    return *target == '/' ? strdup("")
                          : gf_archive_resolve(member->name,
                                               slash ? (size_t)(slash - member->name) : 0, target);
}

bool gf_archive_links_note(struct gf_archive_links *links, const struct gf_archive_reader *reader,
                           const struct gf_archive_member *member)
{
    const char *const target = gf_archive_member_target(member);
    struct known *const known = calloc(1, sizeof *known);
    if (!known || (!target && !member->is_file)) {
        free(known);
        return known != NULL;
    }
    known->name = gf_archive_resolve("", 0, member->name);
    known->target = target ? target_of(member, target) : NULL;
    known->position = gf_archive_position(reader);
    void *const *const found =
        known->name && (!target || known->target) ? tsearch(known, &links->members, compare) : NULL;
    if (found && *found != known) { /* if several members have one name, the last counts */
        struct known *const before = *found;
        const struct known swapped = *before;
        *before = *known;
        *known = swapped;
    }
    if (!found || *found != known)
        free_known(known);
    return found != NULL;
}

bool gf_archive_links_add(struct gf_archive_links *links, const char *name)
{
    if (!GF_GROW(links->name, links->count))
        return false;
    links->name[links->count] = strdup(name);
    return links->name[links->count++];
}

/* Returns the file to which the member `name` leads after following all links; NULL if there is
 * none. */
static const struct known *file_behind_link(const struct gf_archive_links *links, const char *name)
{
    enum { LINKS_MAX = 40 };
    char *const own = gf_archive_resolve("", 0, name);
    struct known key = {.name = own};
    const struct known *known = NULL;
    for (int i = 0; own && i < LINKS_MAX; i++) {
        void *const *const found = tfind(&key, &links->members, compare);
        known = found ? *found : NULL;
        if (!known || !known->target)
            break;
        key.name = known->target;
        known = NULL;
    }
    free(own);
    return known;
}

/* Finds the member at `position` for link number `number`. A packed archive is read further, as
 * long as the member lies ahead. */
static enum gf_status find_member_at(struct gf_archive_links *links,
                                     const struct gf_archive_reader *reader, size_t number,
                                     int64_t position, struct gf_archive_member *member,
                                     struct gf_error *error)
{
    bool found = true;
    const bool packed = gf_archive_reader_size(reader) < 0;
    if (links->again && (!packed || gf_archive_position(links->again) >= position)) {
        gf_archive_reader_close(links->again);
        links->again = NULL;
    }
    if (!links->again)
        GF_TRY(gf_archive_reader_again(reader, position, &links->again, error));
    while (found) {
        GF_TRY(gf_archive_next(links->again, member, &found, error));
        if (!found || gf_archive_position(links->again) == position)
            break;
        gf_archive_member_free(member);
    }
    return found
               ? GF_OK
               : gf_fail(error, GF_ERROR_READ, "%s: the archive was changed", links->name[number]);
}

enum gf_status gf_archive_links_open(struct gf_archive_links *links,
                                     const struct gf_archive_reader *reader, size_t number,
                                     struct gf_archive_member *member, const char **why,
                                     struct gf_error *error)
{
    struct stat file;
    char *const name = strdup(links->name[number]);
    const struct known *const known = name ? file_behind_link(links, name) : NULL;
    enum gf_status status = name ? GF_OK : gf_fail_memory(error);
    *member = (struct gf_archive_member){0};
    *why = NULL;
    if (!known)
        *why = "a link to what is no file of the archive";
    else if (!gf_archive_reader_file(reader, &file))
        *why = "a link, which a stream cannot be read again for: use an archive that is a file";
    else
        status = find_member_at(links, reader, number, known->position, member, error);
    if (status) {
        free(name);
        return status;
    }
    free(member->name);
    member->name = name;
    return GF_OK;
}

static void archive_links_free(struct gf_archive_links *links)
{
    tdestroy(links->members, free_known);
    for (size_t i = 0; i < links->count; i++)
        free(links->name[i]);
    free(links->name);
    gf_archive_reader_close(links->again);
}

/* ---- beginning an archive and its outputs ---- */

static const char *name_for_messages(const char *argument, const char *stream)
{
    const char *const path = gf_archive_path(argument);
    return strcmp(path, "-") ? path : stream;
}

/* Describes the output archives and their records. */
static void name_archives(const struct gf_archive_ring *ring, struct gf_archive *archive,
                          size_t index)
{
    const struct gf_batch *const batch = ring->batch;
    for (int k = 0; k < ring->outputs; k++) {
        struct gf_archive_output *const output = &archive->output[k];
        const struct gf_batch_output given = gf_batch_output_at(batch->request, k);
        if (!given.name->is_archive)
            continue;
        output->argument = ring->from_archives ? batch->item[index].output[k] : given.name->text;
        /* The members of an archive of files have names that begin with the archive's path. */
        output->to = ring->from_archives ? name_for_messages(output->argument, "stdout")
                                         : gf_archive_path(output->argument);
        output->record = (struct gf_archive_record){.input = archive->from,
                                                    .identity = archive->identity.text,
                                                    .output = gf_archive_path(output->argument),
                                                    .file = gf_archive_path(output->argument),
                                                    .chain = given.chain,
                                                    .job = batch->fingerprint[k],
                                                    .list = batch->request->inputs->list,
                                                    .begun = gf_batch_log_now()};
    }
}

/* Whether the record that the user's command --probe prints says that an earlier run has made the
 * output. */
static bool fits_probed(const struct gf_archive_ring *ring, struct gf_archive *archive, int number)
{
    struct gf_archive_output *const output = &archive->output[number];
    const char *const given = gf_batch_output_at(ring->batch->request, number).name->given;
    size_t size = 0;
    char *const text = gf_transfers_probe(ring->transfers, output->record.output, given, &size);
    const bool fits = text && gf_archive_record_fits_text(
                                  &output->record, text, size,
                                  gf_command_has(ring->batch->request->transfer->probe, "{out}"));
    output->is_outdated = text && size && !fits;
    free(text);
    return fits;
}

/* Whether an earlier run has made all outputs. */
static bool is_done(const struct gf_archive_ring *ring, struct gf_archive *archive)
{
    const struct gf_batch_request *const request = ring->batch->request;
    const bool probes = request->transfer && request->transfer->probe;
    bool done = ring->from_archives && (request->resume || request->skip_existing || probes);
    for (int k = 0; (done || probes) && k < ring->outputs; k++) {
        struct gf_archive_output *const output = &archive->output[k];
        const bool fits = output->argument && (probes ? fits_probed(ring, archive, k)
                                                      : gf_archive_record_fits(&output->record));
        done = done && fits;
    }
    for (int k = 0; !done && k < ring->outputs; k++)
        archive->output[k].record.done = 0; /* from now on it counts the pictures of this run */
    return done;
}

/* Returns a new structure for the archive that is input `index`, without its identity; NULL when
 * out of memory. */
static struct gf_archive *make(const struct gf_archive_ring *ring, size_t index)
{
    struct gf_archive *const archive = calloc(1, sizeof *archive);
    if (!archive)
        return NULL;
    archive->argument = ring->batch->request->inputs->item[index].path;
    archive->index = ring->batch->request->inputs->item[index].index;
    archive->from = name_for_messages(archive->argument, "stdin");
    archive->fetched.fd = archive->members = -1;
    name_archives(ring, archive, index);
    return archive;
}

bool gf_archive_look(void *context, struct gf_fetched *fetched)
{
    const struct gf_archive_ring *const ring = context;
    struct gf_archive *const archive = make(ring, fetched->position);
    fetched->item = archive;
    if (!archive)
        return false;
    archive->identity = fetched->identity;
    archive->skipped = is_done(ring, archive);
    return archive->skipped;
}

/* Notes whether the reader waits for the next archive. While it waits, no further pictures may
 * come, since the fetch may need the space of earlier archives; so the choice of devices must not
 * wait for more. */
static void note_wait(struct gf_archive_ring *ring, bool waits)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    ring->full = waits && ring->first_size;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

/* Takes the next archive from the transfers. The structure is made here if the fetch failed before
 * the archive was identified. Returns NULL when out of memory, or if the run has stopped
 * (*stopped). */
static struct gf_archive *take_fetched(struct gf_archive_ring *ring, bool *stopped)
{
    struct gf_fetched fetched;
    note_wait(ring, true);
    *stopped = !gf_transfers_take(ring->transfers, &fetched);
    note_wait(ring, false);
    if (*stopped)
        return NULL;
    struct gf_archive *const archive = fetched.item ? fetched.item : make(ring, fetched.position);
    if (archive)
        archive->fetched = fetched;
    return archive;
}

static struct gf_archive *make_identified(const struct gf_archive_ring *ring, size_t index)
{
    struct gf_archive *const archive = make(ring, index);
    if (!archive)
        return NULL;
    archive->identity = gf_identify_file(gf_archive_path(archive->argument));
    archive->skipped = is_done(ring, archive);
    return archive;
}

struct gf_archive *gf_archive_begin(struct gf_archive_ring *ring, size_t index)
{
    struct gf_batch *const batch = ring->batch;
    bool stopped = false;
    struct gf_archive *const archive =
        ring->transfers ? take_fetched(ring, &stopped) : make_identified(ring, index);
    if (stopped)
        return NULL;
    pthread_mutex_lock(&batch->lock);
    if (!archive) {
        ring->failure = gf_fail_memory(&ring->error);
        batch->stopped = true;
    } else if (ring->last) {
        ring->last->next = archive;
    } else {
        ring->first = archive;
    }
    ring->last = archive;
    pthread_mutex_unlock(&batch->lock);
    return archive;
}

enum gf_status gf_archive_open(struct gf_archive_ring *ring, struct gf_archive *archive,
                               struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    struct gf_archive_reader *reader;
    const int fd = archive->fetched.fd;
    const bool whole = batch->request->inputs->item[archive->fetched.position].bytes;
    archive->fetched.fd = -1;
    if (archive->fetched.status)
        *error = archive->fetched.error;
    GF_TRY(archive->fetched.status ? archive->fetched.status
           : fd >= 0 ? gf_archive_reader_open_descriptor(fd, archive->from, whole, &reader, error)
                     : gf_archive_reader_open(archive->argument, &reader, error));
    if (batch->request->options.max_output_bytes)
        gf_archive_reader_allow_any_proportion(reader);
    archive->is_file = gf_archive_reader_file(reader, &archive->file);
    pthread_mutex_lock(&batch->lock);
    /* The file of a transferred archive is not kept open for workers, since its space must be freed
     * when the reader closes. */
    if (!ring->transfers && ring->files_open < GF_ARCHIVE_FILES)
        archive->members = gf_archive_reader_members(reader);
    ring->files_open += archive->members >= 0;
    archive->reader = reader;
    archive->is_opened = true;
    ring->open = archive;
    if (!ring->first_size)
        ring->first_size = gf_archive_reader_size(reader);
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    return GF_OK;
}

void gf_archive_close(struct gf_archive_ring *ring, struct gf_archive *archive)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    ring->open = NULL;
    pthread_mutex_unlock(&batch->lock);
    archive_links_free(&archive->links);
    gf_archive_reader_close(archive->reader);
    archive->links = (struct gf_archive_links){0};
    archive->reader = NULL;
    gf_claims_free(&archive->claims);
    if (!ring->transfers)
        return;
    /* The next archive may wait for the space that was counted for the outputs of this one. */
    const uint64_t outputs = archive->is_opened ? 0 : archive->fetched.output_bytes;
    gf_transfers_release(ring->transfers, archive->fetched.bytes + outputs);
    archive->fetched.bytes = 0;
    archive->fetched.output_bytes -= outputs;
}

/* Drops the temporary files of an archive that were not stored. */
static void drop_transfers(struct gf_archive_ring *ring, struct gf_archive *archive)
{
    for (int k = 0; k < ring->outputs; k++) {
        if (archive->output[k].file)
            unlink(archive->output[k].file);
        free(archive->output[k].file);
    }
    if (archive->fetched.fd >= 0)
        close(archive->fetched.fd);
    gf_transfers_release(ring->transfers, archive->fetched.output_bytes);
}

void gf_archive_free_first(struct gf_archive_ring *ring)
{
    pthread_mutex_lock(&ring->batch->lock);
    struct gf_archive *const archive = ring->first;
    ring->first = archive->next;
    if (!ring->first)
        ring->last = NULL;
    ring->files_open -= archive->members >= 0;
    pthread_mutex_unlock(&ring->batch->lock);
    for (int k = 0; k < ring->outputs; k++) {
        struct gf_archive_output *const output = &archive->output[k];
        gf_archive_writer_close(output->writer);
        gf_archive_record_free(&output->record);
        tdestroy(output->lost, free);
    }
    if (ring->transfers)
        drop_transfers(ring, archive);
    if (archive->members >= 0)
        close(archive->members);
    free(archive);
}

/* ---- all pictures of an archive ---- */

/* Reads a member into memory and hands it over as "ARCHIVE/NAME", or says why it alone cannot be
 * read. */
static enum gf_status take(struct gf_archive_reader *reader, const char *archive,
                           const struct gf_archive_member *member, gf_archive_taker *taker,
                           void *context, struct gf_error *error)
{
    const size_t size = (size_t)member->size;
    char *name = NULL;
    void *const data = malloc(size ? size : 1);
    enum gf_status status =
        data && asprintf(&name, "%s/%s", gf_archive_path(archive), member->name) >= 0
            ? gf_archive_read(reader, data, size, error)
            : gf_fail_memory(error);
    const char *const fault = status ? gf_archive_reader_fault(reader) : NULL;
    struct gf_error failure = {0};
    if (fault)
        status = gf_fail(&failure, status, "%s: %s", name, fault);
    if (!status || fault)
        taker(context, name, data, size, fault ? &failure : NULL);
    free(name);
    free(data);
    return fault ? GF_OK : status;
}

enum gf_status gf_archive_each(const char *archive, gf_archive_taker *taker, void *context,
                               struct gf_error *error)
{
    struct gf_archive_reader *reader = NULL;
    bool found = true, more;
    GF_TRY(gf_archive_reader_open(archive, &reader, error));
    enum gf_status status = GF_OK;
    while (!status && found) {
        struct gf_archive_member member;
        status = gf_archive_next(reader, &member, &found, error);
        if (status || !found)
            break;
        if (gf_archive_member_is_picture(&member))
            status = take(reader, archive, &member, taker, context, error);
        gf_archive_member_free(&member);
    }
    GF_THEN(status, gf_archive_end(reader, &more, error));
    gf_archive_reader_close(reader);
    return status;
}

#else

enum gf_status gf_archive_each(const char *archive, gf_archive_taker *taker, void *context,
                               struct gf_error *error)
{
    (void)taker;
    (void)context;
    return gf_archive_load(archive, error);
}

#endif
