/* The program's side of a cell, when the cell's decoder was taken over: the input says what the
 * cell answers. Whatever that is, a picture is read or fails by name, and its format and metadata
 * keep to what the program expects of a file. */
#include "fuzz.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process/process.h"
#include "codec/cell/cell.h"
#include "codec/cell/process.h"
#include "icc/icc_build.h"

struct hostile {
    struct fuzz_bytes bytes;
    int socket;
    unsigned char *shared;
    unsigned bits; /* of the wish for a profile; 0: a picture is read */
    size_t tables; /* bytes of good tables, which lie where the cell's should */
};

static void fill(struct fuzz_bytes *bytes, void *data, size_t size)
{
    const size_t taken = fuzz_byte(bytes) % 64 * 64;
    const size_t most = taken < bytes->size ? taken : bytes->size;
    for (size_t i = 0; i < most && i < size; i++)
        ((unsigned char *)data)[i] ^= bytes->data[i];
    bytes->data += most;
    bytes->size -= most;
}

/* A header of a small picture. */
static void prepare_header(struct gf_cell_header *header)
{
    header->width = header->height = 9;
    header->channels = 3;
    header->bits = 8;
    header->orientation = 1;
    for (int i = 0; i < GF_CELL_BLOBS; i++)
        header->blob[i] = 40;
    header->texts = 2;
    header->text[0][0] = header->text[1][1] = 20;
}

static struct gf_icc_wish wish_of(unsigned bits, struct gf_icc from)
{
    return (struct gf_icc_wish){.from = from,
                                .to = gf_icc_named("srgb", false),
                                .inputs = 3,
                                .outputs = 3,
                                .bits = (int)bits};
}

static size_t write_tables(const struct hostile *hostile)
{
    const struct gf_icc_wish wish = wish_of(hostile->bits, gf_icc_named("display-p3", false));
    struct gf_icc_transform *transform;
    struct gf_error error;
    if (gf_icc_build(&wish, &transform, &error))
        return 0; /* without Little CMS */
    const size_t size = transform->bytes;
    memcpy(hostile->shared + GF_CELL_HALF, transform, size);
    free(transform);
    return size;
}

/* Sends what the next bytes say. False for a warning, behind which an answer is still awaited. */
static bool send_next(struct hostile *hostile)
{
    union gf_cell_message message;
    const unsigned kind = fuzz_byte(&hostile->bytes);
    gf_cell_prepare(&message, hostile->bits && kind & 16
                                  ? GF_CELL_TABLES
                                  : (enum gf_cell_type)(GF_CELL_READY + kind % GF_CELL_CHILD));
    if (message.head.type == GF_CELL_HEADER)
        prepare_header(&message.header);
    if (message.head.type == GF_CELL_TABLES && hostile->bits)
        message.tables.bytes = hostile->tables;
    const size_t size = message.head.size, from = kind & 128 ? 0 : sizeof message.head;
    fill(&hostile->bytes, (char *)&message + from, size - from);
    fill(&hostile->bytes, hostile->shared + (hostile->bits ? GF_CELL_HALF : 0), 4096);
    (void)gf_socket_send(hostile->socket, &message, kind & 64 ? size / 2 : size,
                         kind & 32 ? &hostile->socket : NULL, kind & 32 ? 1 : 0, 0);
    return message.head.type != GF_CELL_WARNING;
}

/* Answers each message, and hangs up when there are no more bytes. */
static void *answer(void *argument)
{
    struct hostile *const hostile = argument;
    union gf_cell_message message;
    int descriptor;
    while (gf_socket_receive(hostile->socket, &message, sizeof message, &descriptor, 1, 0)) {
        gf_close_descriptors(&descriptor, 1);
        while (hostile->bytes.size && !send_next(hostile))
            continue;
        if (!hostile->bytes.size)
            break;
    }
    gf_close_descriptors(&descriptor, 1);
    shutdown(hostile->socket, SHUT_RDWR);
    return NULL;
}

static void check_header(const struct gf_source *source)
{
    const struct gf_metadata *const metadata = &source->metadata;
    FUZZ_CHECK(source->format.width > 0 && source->format.height > 0 &&
                   (int64_t)source->format.width * source->format.height <= 10000,
               "%dx%d", source->format.width, source->format.height);
    FUZZ_CHECK(metadata->orientation >= 1 && metadata->orientation <= 8, "orientation");
    FUZZ_CHECK(metadata->density_x >= 0 && metadata->density_y >= 0, "density");
    FUZZ_CHECK(metadata->palette.size <= 1024 && metadata->palette.size % 4 == 0, "palette");
}

static void read_picture(struct gf_source *source, unsigned steps)
{
    struct gf_error error;
    unsigned char *const row = malloc(gf_row_bytes(source->format) + 1);
    enum gf_status status = GF_OK;
    check_header(source);
    if (steps & 1)
        status = gf_source_reduce(source, gf_source_reduction(source, 2 + steps % 4), &error);
    for (int y = 0; !status && y < source->format.height; y++)
        status = source->read(source, 1, row, gf_row_bytes(source->format), &error);
    if (!status && source->finish)
        status = source->finish(source, &error);
    FUZZ_CHECK(!status || *error.text, "a failure without words");
    free(row);
}

/* The hostile cell makes the tables of a profile that is new each time. */
static void read_profile(unsigned bits)
{
    static uint64_t profile;
    const struct gf_icc_wish wish = wish_of(bits, (struct gf_icc){.data = (unsigned char *)&profile,
                                                                  .size = sizeof profile,
                                                                  .sandbox = GF_SANDBOX_AUTO,
                                                                  .sandbox_program = "fuzz"});
    struct gf_icc_transform *transform = NULL;
    uint16_t in[3 * 64], out[3 * 64];
    struct gf_error error = {0};
    profile++;
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        in[i] = (uint16_t)(i * 40503);
    const enum gf_status status = gf_icc_build(&wish, &transform, &error);
    FUZZ_CHECK(status ? !transform && *error.text : transform != NULL, "%d", status);
    if (transform)
        gf_icc_convert(transform, in, wish.inputs, out, wish.outputs, 64);
    free(transform);
}

static unsigned char *map(int memory)
{
    void *const mapped =
        mmap(NULL, 2 * GF_CELL_HALF, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
    FUZZ_CHECK(mapped != MAP_FAILED, "memory");
    return mapped;
}

static void read_file(unsigned steps)
{
    struct gf_options options = gf_options_default();
    struct gf_input *input;
    struct gf_source *source = NULL;
    struct gf_error error = {0};
    bool absent;
    options.sandbox_program = "fuzz";
    options.max_pixels = 10000;
    options.threads = 1;
    FUZZ_CHECK(!gf_input_open_memory("GIF89a", 6, "x.gif", &input, &error), "%s", error.text);
    const enum gf_status status =
        gf_cell_source_open(input, "gif", false, &options, &source, &absent, &error);
    FUZZ_CHECK(!absent && (!status || *error.text), "%d", status);
    if (source) {
        read_picture(source, steps);
        source->close(source);
    }
    gf_input_close(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hostile hostile = {.bytes = {data, size}};
    struct gf_cell *const cell = calloc(1, sizeof *cell);
    const unsigned steps = fuzz_byte(&hostile.bytes);
    pthread_t thread;
    int pair[2];
    FUZZ_CHECK(cell && !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), "a socket");
    hostile.socket = pair[1];
    const int memory = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(memory >= 0 && !ftruncate(memory, 2 * GF_CELL_HALF), "memory");
    hostile.shared = map(memory);
    *cell = (struct gf_cell){.socket = pair[0], .shared = map(memory)};
    close(memory);
    hostile.bits = steps & 2 ? (steps & 4 ? 16 : 8) : 0;
    hostile.tables = hostile.bits ? write_tables(&hostile) : 0;
    strcpy(cell->format, hostile.bits ? "icc" : "gif");
    strcpy(cell->program, "fuzz");
    gf_cells_join();
    gf_cells_read_profiles();
    gf_cell_give_back(cell);
    pthread_create(&thread, NULL, answer, &hostile);
    if (hostile.bits)
        read_profile(hostile.bits);
    else
        read_file(steps);
    gf_cells_leave(); /* ends the cell if it waits, and so the thread */
    pthread_join(thread, NULL);
    munmap(hostile.shared, 2 * GF_CELL_HALF);
    close(pair[1]);
    return 0;
}
