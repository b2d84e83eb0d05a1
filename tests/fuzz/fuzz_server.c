/* The messages of a server of pictures: whatever bytes come, a message that gf_server_check() takes
 * has strings that end and numbers in their ranges, and says the same after it was read and written
 * again. */
#include "fuzz.h"

#include "server/protocol.h"

static void check_request(const struct gf_server_request *request)
{
    union gf_server_message again;
    struct gf_remote_work work;
    gf_server_read_work(request, &work);
    FUZZ_CHECK(!work.options.warn && work.in < 0 && work.out < 0, "a pointer or a descriptor");
    FUZZ_CHECK(work.in_offset >= 0 && work.in_pages.first >= -1 && work.in_pages.last >= -1,
               "an offset or a page");
    FUZZ_CHECK(gf_server_write_work(&work, &again), "does not fit");
    again.request.word[GF_SERVER_WARN] = request->word[GF_SERVER_WARN];
    FUZZ_CHECK(!memcmp(again.request.word, request->word, sizeof request->word) &&
                   again.request.keeps_slow_files == request->keeps_slow_files &&
                   again.request.compares == request->compares &&
                   again.request.in_offset == request->in_offset,
               "the numbers differ");
    FUZZ_CHECK(again.request.files == request->files, "the files differ");
    for (int i = 0; i < request->files; i++)
        FUZZ_CHECK(work.file[i] < 0 && !strcmp(again.request.file_name[i], request->file_name[i]),
                   "file %d differs", i);
    FUZZ_CHECK(!strcmp(again.request.chain, request->chain) &&
                   !strcmp(again.request.in_name, request->in_name) &&
                   !strcmp(again.request.out_name, request->out_name),
               "the texts differ");
}

static void check_result(const struct gf_server_result *result)
{
    union gf_server_message again;
    struct gf_remote_result read;
    struct gf_error error = {0};
    const enum gf_status status = gf_server_read_result(result, &read, &error);
    FUZZ_CHECK(status == (enum gf_status)result->status && (!status || *error.text), "%d", status);
    gf_server_write_result(status, &error, &read, &again);
    FUZZ_CHECK(gf_server_check(&again, sizeof again.result) == GF_SERVER_RESULT, "%d", status);
}

/* The first byte says the type of a message that is filled in as far as the input goes, or, beyond
 * the types, that the input is all of the message. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    union gf_server_message message;
    struct fuzz_bytes bytes = {data, size};
    const unsigned type = fuzz_byte(&bytes);
    size_t length = bytes.size < sizeof message ? bytes.size : sizeof message;
    memset(&message, 0, sizeof message);
    if (type >= GF_SERVER_HELLO && type <= GF_SERVER_RESULT) {
        gf_server_prepare(&message, (enum gf_server_type)type);
        const size_t room = message.head.size - sizeof message.head;
        if (length)
            memcpy((char *)&message + sizeof message.head, bytes.data,
                   length < room ? length : room);
        length = message.head.size;
    } else if (length) {
        memcpy(&message, bytes.data, length);
    }
    switch (gf_server_check(&message, length)) {
    case GF_SERVER_REQUEST:
        check_request(&message.request);
        break;
    case GF_SERVER_RESULT:
        check_result(&message.result);
        break;
    case GF_SERVER_WARNING:
        FUZZ_CHECK(strlen(message.warning.text) < sizeof message.warning.text, "no end");
        break;
    case GF_SERVER_HELLO:
        FUZZ_CHECK(message.hello.wish < GF_SERVER_WISHES, "%u", message.hello.wish);
        break;
    case GF_SERVER_WELCOME:
    case GF_SERVER_BEAT:
        break;
    default: /* refused */
        break;
    }
    return 0;
}
