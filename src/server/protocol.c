#include "server/protocol.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/process/process.h"
#include "cuda/measure/coders.h"

static const size_t sizes[] = {
    [GF_SERVER_HELLO] = sizeof(struct gf_server_hello),
    [GF_SERVER_WELCOME] = sizeof(struct gf_server_welcome),
    [GF_SERVER_REQUEST] = sizeof(struct gf_server_request),
    [GF_SERVER_BEAT] = sizeof(struct gf_server_beat),
    [GF_SERVER_WARNING] = sizeof(struct gf_server_warning),
    [GF_SERVER_RESULT] = sizeof(struct gf_server_result),
};

void gf_server_prepare(union gf_server_message *message, enum gf_server_type type)
{
    memset(message, 0, sizes[type]);
    message->head = (struct gf_server_head){GF_SERVER_VERSION, type, (uint32_t)sizes[type]};
}

static bool ends(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static struct gf_options read_options(const struct gf_server_request *request)
{
    struct gf_options options = gf_options_default();
    const struct gf_option_member *member;
    for (int i = 0; (member = gf_option_member_at(i)); i++) {
        void *const at = (char *)&options + member->offset;
        if (member->word > 0 && member->type == GF_OPTION_SWITCH)
            *(bool *)at = request->word[member->word - 1];
        else if (member->word > 0)
            memcpy(at, &request->word[member->word - 1], member->size);
    }
    return options;
}

static void write_options(struct gf_server_request *request, const struct gf_options *options)
{
    const struct gf_option_member *member;
    for (int i = 0; (member = gf_option_member_at(i)); i++) {
        const void *const at = (const char *)options + member->offset;
        if (member->word > 0 && member->type == GF_OPTION_SWITCH)
            request->word[member->word - 1] = *(const bool *)at;
        else if (member->word > 0)
            memcpy(&request->word[member->word - 1], at, member->size);
    }
}

static bool pair_is_good(const struct gf_server_request *request)
{
    return !*request->chain && !request->files && !request->in_offset &&
           request->compares <= GF_SCORE_ALL &&
           (request->compares & GF_SCORE_SSIM || !(request->compares & GF_SCORE_MS_SSIM));
}

/* Whether a request is well formed. gf_options_check() later checks the ranges of the options. */
static bool request_is_good(const struct gf_server_request *request)
{
    const struct gf_option_member *member;
    uint32_t flags = request->word[GF_SERVER_WARN] | request->keeps_slow_files;
    for (int i = 0; (member = gf_option_member_at(i)); i++)
        flags |= member->word > 0 && member->type == GF_OPTION_SWITCH
                     ? request->word[member->word - 1]
                     : 0;
    bool files = request->files >= 0 && request->files <= GF_REMOTE_FILES;
    for (int i = 0; files && i < request->files; i++)
        files = ends(request->file_name[i], sizeof request->file_name[i]);
    return flags <= 1 && files && request->in_offset >= 0 && request->in_page >= -1 &&
           request->in_last_page >= -1 &&
           (request->compares ? pair_is_good(request)
                              : (int)read_options(request).format > GF_FILE_AUTO) &&
           ends(request->chain, sizeof request->chain) &&
           ends(request->in_name, sizeof request->in_name) &&
           ends(request->out_name, sizeof request->out_name);
}

static bool is_amount(double value)
{
    return isfinite(value) && value >= 0;
}

static bool times_are_good(const struct gf_times *times)
{
    return times->count >= 0 && is_amount(times->sum_s) && is_amount(times->most_s) &&
           isfinite(times->first_s) && isfinite(times->last_s);
}

static bool result_is_good(const struct gf_server_result *result)
{
    const struct gf_remote_result *const picture = &result->picture;
    bool good = result->status < GF_STATUS_COUNT &&
                (picture->device_decoded | picture->device_encoded) <= 1 && picture->in_end >= 0 &&
                picture->frames >= 0 && picture->out_bytes >= 0 &&
                ends(picture->device, sizeof picture->device) &&
                ends(result->text, sizeof result->text);
    for (int i = 0; i < GF_SPAN_KINDS; i++)
        good &= times_are_good(&picture->spans[i]);
    return good && is_amount(picture->run_s) && is_amount(picture->largest) &&
           is_amount(picture->mean) && !isnan(picture->psnr) && !isinf(picture->ssim) &&
           !isinf(picture->ms_ssim) && !isinf(picture->score);
}

enum gf_server_type gf_server_check(const union gf_server_message *message, size_t size)
{
    if (size < sizeof message->head || message->head.version != GF_SERVER_VERSION ||
        message->head.type < GF_SERVER_HELLO || message->head.type > GF_SERVER_RESULT ||
        message->head.size != size || size != sizes[message->head.type])
        return 0;
    const enum gf_server_type type = (enum gf_server_type)message->head.type;
    bool good = true;
    if (type == GF_SERVER_HELLO)
        good = message->hello.wish < GF_SERVER_WISHES;
    else if (type == GF_SERVER_WELCOME)
        good = message->welcome.verdict < GF_SERVER_VERDICTS;
    else if (type == GF_SERVER_REQUEST)
        good = request_is_good(&message->request);
    else if (type == GF_SERVER_BEAT)
        good = message->beat.done >= 0 && message->beat.total >= 0;
    else if (type == GF_SERVER_WARNING)
        good = ends(message->warning.text, sizeof message->warning.text);
    else
        good = result_is_good(&message->result);
    return good ? type : 0;
}

static bool put_text(char *to, size_t size, const char *text)
{
    return snprintf(to, size, "%s", text ? text : "") < (int)size;
}

bool gf_server_write_work(const struct gf_remote_work *work, union gf_server_message *message)
{
    struct gf_server_request *const request = &message->request;
    gf_server_prepare(message, GF_SERVER_REQUEST);
    write_options(request, &work->options);
    request->word[GF_SERVER_WARN] = work->options.warn != NULL;
    request->keeps_slow_files = work->keeps_slow_files;
    request->compares = work->compares;
    request->in_offset = work->in_offset;
    request->in_page = work->in_pages.first;
    request->in_last_page = work->in_pages.last;
    request->number = work->number;
    bool fits = true;
    request->files = work->files;
    for (int i = 0; i < work->files; i++)
        fits &= put_text(request->file_name[i], sizeof request->file_name[i], work->file_name[i]);
    return fits && put_text(request->chain, sizeof request->chain, work->chain) &&
           put_text(request->in_name, sizeof request->in_name, work->in_name) &&
           put_text(request->out_name, sizeof request->out_name, work->out_name);
}

void gf_server_read_work(const struct gf_server_request *request, struct gf_remote_work *work)
{
    *work = (struct gf_remote_work){.chain = request->chain,
                                    .options = read_options(request),
                                    .keeps_slow_files = request->keeps_slow_files,
                                    .compares = request->compares,
                                    .in = -1,
                                    .out = -1,
                                    .in_offset = request->in_offset,
                                    .in_pages = {request->in_page, request->in_last_page},
                                    .number = request->number,
                                    .in_name = request->in_name,
                                    .out_name = request->out_name,
                                    .files = request->files};
    for (int i = 0; i < GF_REMOTE_FILES; i++) {
        work->file_name[i] = request->file_name[i];
        work->file[i] = -1;
    }
}

void gf_server_write_result(enum gf_status status, const struct gf_error *error,
                            const struct gf_remote_result *result, union gf_server_message *into)
{
    struct gf_server_result *const message = &into->result;
    gf_server_prepare(into, GF_SERVER_RESULT);
    message->status = status;
    if (status)
        snprintf(message->text, sizeof message->text, "%s", error->text);
    else
        message->picture = *result;
}

enum gf_status gf_server_read_result(const struct gf_server_result *message,
                                     struct gf_remote_result *result, struct gf_error *error)
{
    *result = message->picture;
    if (!message->status)
        return GF_OK;
    return gf_fail(error, (enum gf_status)message->status, "%s",
                   *message->text ? message->text
                                  : gf_status_meaning((enum gf_status)message->status));
}

bool gf_server_send(int socket, const union gf_server_message *message, const int *descriptor,
                    int count)
{
    return gf_socket_send(socket, message, message->head.size, descriptor, count, MSG_DONTWAIT);
}

enum gf_server_type gf_server_receive(int socket, union gf_server_message *message,
                                      int descriptor[GF_SERVER_DESCRIPTORS])
{
    const size_t got = gf_socket_receive(socket, message, sizeof *message, descriptor,
                                         GF_SERVER_DESCRIPTORS, MSG_DONTWAIT);
    const enum gf_server_type type = got ? gf_server_check(message, got) : 0;
    if (type || !got)
        return type;
    gf_close_descriptors(descriptor, GF_SERVER_DESCRIPTORS);
    errno = EPROTO;
    return 0;
}
