/* Arrays of Python packages: which ones are alike, and where they begin. */
#include "support.h"

#include "gpufilter/gpufilter.h"

/* DLPack's structs, which base/image.c declares for itself, with the members' names of its
 * specification. */
struct dl_tensor {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};

struct dl_exchange {
    struct {
        uint32_t major, minor;
        struct dl_exchange *prev_api;
    } header;
    void *managed_tensor_allocator, *managed_tensor_from_py_object_no_sync,
        *managed_tensor_to_py_object_no_sync;
    int (*dltensor_from_py_object_no_sync)(void *object, struct dl_tensor *out);
    void *current_work_stream;
};

enum { COUNT = 3 };

static struct gf_error failure;
static unsigned char samples[COUNT][64];
static int64_t shapes[COUNT][3], strides[COUNT][3];
static struct dl_tensor tensors[COUNT];
static struct gf_image images[COUNT];

/* Objects are the tensors themselves; one without a type cannot be described. */
static int describe(void *object, struct dl_tensor *out)
{
    *out = *(struct dl_tensor *)object;
    return out->bits ? 0 : -1;
}

static struct dl_exchange calls = {.header.major = 1, .dltensor_from_py_object_no_sync = describe};

static enum gf_status place(void)
{
    void *objects[COUNT];
    for (int i = 0; i < COUNT; i++)
        objects[i] = &tensors[i];
    return gf_images_place(&calls, objects, COUNT, images, &failure);
}

static void make_tensors(void)
{
    for (int i = 0; i < COUNT; i++) {
        memcpy(shapes[i], ((int64_t[]){1, 5, 3}), sizeof shapes[i]);
        memcpy(strides[i], ((int64_t[]){15 + i, 3, 1}), sizeof strides[i]); /* of an axis of one */
        tensors[i] =
            (struct dl_tensor){samples[i], 2, 1, 3, 1, 8, 1, shapes[i], strides[i], (uint64_t)i};
    }
}

static void test_places(void **state)
{
    (void)state;
    make_tensors();
    assert_ok("place", place(), &failure);
    for (int i = 0; i < COUNT; i++)
        assert_ptr_equal(images[i].data, samples[i] + i);
    struct dl_exchange newer = {.header = {2, 0, &calls}};
    void *const objects[] = {&tensors[2]};
    assert_ok("newer", gf_images_place(&newer, objects, 1, images, &failure), &failure);
    assert_ptr_equal(images[0].data, samples[2] + 2);
    assert_ok("none", gf_images_place(&calls, objects, 0, images, &failure), &failure);
}

static void test_others(void **state)
{
    (void)state;
    for (int kind = 0; kind < 10; kind++) {
        make_tensors();
        struct dl_tensor *const last = &tensors[COUNT - 1];
        switch (kind) {
        case 0:
            last->device_type = 1;
            break;
        case 1:
            last->device_id = 0;
            break;
        case 2:
            last->ndim = 2;
            break;
        case 3:
            last->code = 0;
            break;
        case 4:
            last->bits = 16;
            break;
        case 5:
            last->lanes = 2;
            break;
        case 6:
            last->shape[0] = 2;
            break;
        case 7:
            last->shape[2] = 4;
            break;
        case 8:
            last->strides[1] = 4;
            break;
        default:
            last->strides = NULL;
        }
        if (place() != GF_ERROR_UNFIT)
            fail_msg("case %d passes for an array like the first", kind);
        assert_memory_equal(failure.text, "[2]: ", 5);
    }
    tensors[0].bits = 0;
    assert_int_equal(place(), GF_ERROR_UNFIT);
    assert_string_equal(failure.text, "[0]: its package does not describe it");
}

static void test_wrong_arguments(void **state)
{
    (void)state;
    make_tensors();
    void *const objects[] = {&tensors[0]};
    struct dl_exchange newer = {.header.major = 2}, empty = {.header.major = 1};
    assert_int_equal(gf_images_place(&newer, objects, 1, images, &failure), GF_ERROR_UNAVAILABLE);
    assert_int_equal(gf_images_place(&empty, objects, 1, images, &failure), GF_ERROR_UNAVAILABLE);
    assert_int_equal(gf_images_place(&calls, objects, -1, images, &failure), GF_ERROR_USAGE);
    assert_int_equal(gf_images_place(NULL, objects, 1, images, &failure), GF_ERROR_USAGE);
    assert_int_equal(gf_images_place(&calls, NULL, 1, images, &failure), GF_ERROR_USAGE);
    assert_int_equal(gf_images_place(&calls, objects, 1, NULL, &failure), GF_ERROR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
