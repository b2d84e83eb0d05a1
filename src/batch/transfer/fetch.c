/* Fetches inputs ahead of the work, in their order. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "batch/names/archive_name.h"
#include "batch/names/url.h"
#include "batch/transfer/folder.h"
#include "batch/transfer/transfer_state.h"
#include "codec/io/spool.h"

static const struct gf_input_name *name_at(const struct gf_transfers *transfers, size_t position)
{
    return &transfers->inputs->item[position];
}

/* Returns the extension of an archive's name, such as ".tar.gz", or of another name. What is long
 * or has other characters, such as the parameters of a URL, is no extension. */
static const char *extension_of(const char *path)
{
    enum { LONGEST = 16 };
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path,
                      *const extension = name + gf_archive_stem(name);
    size_t length = 0;
    while (isalnum((unsigned char)extension[length]) || extension[length] == '.')
        length++;
    return extension[length] || length > LONGEST ? "" : extension;
}

/* Identifies an input by what the list states. An identity that would be too long is hashed. */
static void identify_by_list(const struct gf_input_name *name, struct gf_input_identity *identity)
{
    enum { LONGEST = 56 }; /* as long as gf_identify_member() keeps it */
    const size_t length = strlen(name->etag);
    char word[LONGEST];
    if (length < LONGEST - 24)
        snprintf(word, sizeof word, "%s", name->etag);
    else
        snprintf(word, sizeof word, "%016llx",
                 (unsigned long long)gf_hash(GF_HASH_START, name->etag, length));
    *identity = (struct gf_input_identity){0};
    snprintf(identity->text, sizeof identity->text, "%llu %s", (unsigned long long)name->bytes,
             word);
}

static enum gf_status identify_by_content(struct gf_fetched *fetched, const char *name)
{
    unsigned char part[1 << 16];
    uint64_t hash = GF_HASH_START, size = 0;
    ssize_t got;
    while ((got = pread(fetched->fd, part, sizeof part, (off_t)size)) > 0) {
        hash = gf_hash(hash, part, (size_t)got);
        size += (uint64_t)got;
    }
    if (got < 0)
        return gf_fail(&fetched->error, GF_ERROR_READ, "%s: %s", name, strerror(errno));
    fetched->identity = (struct gf_input_identity){0};
    snprintf(fetched->identity.text, sizeof fetched->identity.text, "%llu %016llx",
             (unsigned long long)size, (unsigned long long)hash);
    return GF_OK;
}

/* Fetches a file and opens it; the file then has no name any more. */
static enum gf_status fetch_file(struct gf_transfers *transfers, struct gf_fetched *fetched)
{
    const struct gf_input_name *const name = name_at(transfers, fetched->position);
    const char *const path = gf_archive_path(name->path);
    struct gf_error *const error = &fetched->error;
    char *const file = gf_transfer_folder_file(fetched->position, "in", extension_of(path));
    if (!file)
        return gf_fail_memory(error);
    const struct gf_command_values values = {.in = name->url ? name->url : path, .file = file};
    enum gf_status status = gf_transfer_run(transfers, transfers->options.fetch, "fetch", &values,
                                            name->bytes, path, GF_ERROR_READ, error);
    if (!status) {
        fetched->fd = open(file, O_RDONLY | O_CLOEXEC);
        if (fetched->fd < 0)
            status = gf_fail(error, GF_ERROR_READ, "%s: %s: %s", path, file, strerror(errno));
    }
    unlink(file);
    free(file);
    return status;
}

/* Looks at an input, and fetches it unless its outputs are done. */
static void get(struct gf_transfers *transfers, struct gf_fetched *fetched)
{
    const struct gf_input_name *const name = name_at(transfers, fetched->position);
    const bool by_content = transfers->options.fetch && !name->etag;
    if (name->etag && transfers->options.fetch)
        identify_by_list(name, &fetched->identity);
    else if (!by_content)
        fetched->identity = gf_identify_file(gf_archive_path(name->path));
    if (!by_content)
        fetched->done = transfers->look(transfers->context, fetched);
    if (fetched->done || !transfers->options.fetch)
        return;
    fetched->status = fetch_file(transfers, fetched);
    if (fetched->status || !by_content)
        return;
    fetched->status = identify_by_content(fetched, name->path);
    if (!fetched->status)
        fetched->done = transfers->look(transfers->context, fetched);
}

/* Sets what the space counts for an input of that many bytes. The caller holds the lock. */
static void count(struct gf_transfers *transfers, struct gf_fetched *fetched, uint64_t bytes)
{
    transfers->held -= fetched->bytes + fetched->output_bytes;
    fetched->bytes = transfers->options.fetch ? bytes : 0;
    fetched->output_bytes = bytes * (uint64_t)transfers->options.outputs;
    transfers->held += fetched->bytes + fetched->output_bytes;
}

/* Returns the bytes of the next input as far as they are known: by the list, or as those of the
 * largest so far. */
static uint64_t expected_bytes(const struct gf_transfers *transfers)
{
    const uint64_t bytes = name_at(transfers, transfers->begun)->bytes;
    return bytes ? bytes : transfers->largest;
}

/* An input without a known size is fetched alone, and one that is larger than the space is in it
 * alone. */
bool gf_transfer_may_fetch(const struct gf_transfers *transfers)
{
    if (transfers->stopped || transfers->begun == transfers->inputs->count ||
        transfers->begun - transfers->taken == GF_TRANSFER_AHEAD)
        return false;
    const uint64_t bytes = expected_bytes(transfers), files = (uint64_t)transfers->options.outputs +
                                                              (transfers->options.fetch ? 1 : 0);
    if (!bytes)
        return !transfers->fetching;
    return !transfers->held || transfers->held + bytes * files <= transfers->options.space;
}

void gf_transfer_fetch_next(struct gf_transfers *transfers)
{
    struct gf_fetched fetched = {.fd = -1};
    struct stat file;
    count(transfers, &fetched, expected_bytes(transfers));
    fetched.position = transfers->begun++;
    transfers->fetching++;
    pthread_mutex_unlock(&transfers->lock);
    get(transfers, &fetched);
    const char *const path = gf_archive_path(name_at(transfers, fetched.position)->path);
    const bool known =
        fetched.fd >= 0 ? !fstat(fetched.fd, &file) : !fetched.status && !stat(path, &file);
    const uint64_t bytes = known && !fetched.done ? (uint64_t)file.st_size : 0;
    if (fetched.done && fetched.fd >= 0) {
        close(fetched.fd);
        fetched.fd = -1;
    }
    pthread_mutex_lock(&transfers->lock);
    count(transfers, &fetched, bytes);
    transfers->largest = bytes > transfers->largest ? bytes : transfers->largest;
    transfers->fetching--;
    transfers->input[fetched.position % GF_TRANSFER_AHEAD] =
        (struct gf_transfer_input){true, fetched};
    pthread_cond_broadcast(&transfers->changed);
}

/* Returns the input that is taken next; NULL: there is none. */
static struct gf_transfer_input *next_input(struct gf_transfers *transfers)
{
    return transfers->taken < transfers->inputs->count
               ? &transfers->input[transfers->taken % GF_TRANSFER_AHEAD]
               : NULL;
}

bool gf_transfers_take(struct gf_transfers *transfers, struct gf_fetched *fetched)
{
    pthread_mutex_lock(&transfers->lock);
    struct gf_transfer_input *next = next_input(transfers);
    while (!transfers->stopped && next && !next->ready) {
        pthread_cond_wait(&transfers->changed, &transfers->lock);
        next = next_input(transfers);
    }
    const bool taken = next && !transfers->stopped;
    if (taken) {
        *fetched = next->fetched;
        next->ready = false;
        transfers->taken++;
        pthread_cond_broadcast(&transfers->changed);
    }
    pthread_mutex_unlock(&transfers->lock);
    return taken;
}

void gf_transfers_stop(struct gf_transfers *transfers)
{
    pthread_mutex_lock(&transfers->lock);
    transfers->stopped = true;
    pthread_cond_broadcast(&transfers->changed);
    pthread_mutex_unlock(&transfers->lock);
}

void gf_transfers_release(struct gf_transfers *transfers, uint64_t bytes)
{
    pthread_mutex_lock(&transfers->lock);
    transfers->held -= bytes;
    pthread_cond_broadcast(&transfers->changed);
    pthread_mutex_unlock(&transfers->lock);
}

char *gf_transfers_probe(const struct gf_transfers *transfers, const char *out, const char *given,
                         size_t *size)
{
    enum { MOST = 64 << 20 };
    const int printed = gf_spool_open();
    struct stat file;
    char *text = NULL, *name = NULL;
    if (asprintf(&name, "%s.json", out) < 0)
        name = NULL;
    char *const url = gf_url_sign(out, given), *const record =
                                                   name ? gf_url_sign(name, given) : NULL;
    const struct gf_command_values values = {.out = url, .record = record};
    if (printed >= 0 && url && record && gf_transfer_run_probe(transfers, &values, printed) &&
        !fstat(printed, &file) && file.st_size < MOST)
        text = malloc((size_t)file.st_size + 1);
    if (text) {
        const ssize_t got = pread(printed, text, (size_t)file.st_size, 0);
        *size = got > 0 ? (size_t)got : 0;
        text[*size] = '\0';
    }
    if (printed >= 0)
        close(printed);
    free(name);
    free(url);
    free(record);
    return text;
}

void gf_transfer_free_inputs(struct gf_transfers *transfers)
{
    for (size_t i = 0; i < GF_TRANSFER_AHEAD; i++) {
        const struct gf_transfer_input *const input = &transfers->input[i];
        if (!input->ready)
            continue;
        if (input->fetched.fd >= 0)
            close(input->fetched.fd);
        free(input->fetched.item);
    }
}
