/* Sorts the pictures of a group by sampling and launches the kernels that make their pixels. */
#include "cuda/jpeg/pixels.cuh"
#include "cuda/jpeg/reconstruct.cuh"

static bool samples_as(const struct jpeg_picture *picture, int across, int down)
{
    return picture->h[0] == across * picture->h[1] && picture->h[0] == across * picture->h[2] &&
           picture->v[0] == down * picture->v[1] && picture->v[0] == down * picture->v[2];
}

/* libjpeg does not filter components of at most two columns. */
static enum jpeg_sampling sampling_of(const struct jpeg_picture *picture)
{
    if (picture->components == 1)
        return JPEG_GRAY;
    if (picture->ycc && samples_as(picture, 1, 1))
        return JPEG_444;
    if (picture->ycc && plane_of(*picture, 1).width > 2) {
        if (samples_as(picture, 2, 1))
            return JPEG_422;
        if (samples_as(picture, 2, 2))
            return JPEG_420;
    }
    return JPEG_OTHER;
}

/* The first component that becomes a plane. */
static int first_plane(const struct jpeg_picture *picture)
{
    switch (sampling_of(picture)) {
    case JPEG_OTHER:
        return 0;
    case JPEG_420:
    case JPEG_422:
        return 1;
    default:
        return picture->components;
    }
}

size_t gf_jpeg_reconstruct_bytes(const struct jpeg_picture *picture)
{
    size_t bytes = 0;
    for (int c = first_plane(picture); c < picture->components; c++)
        bytes += plane_of(*picture, c).bytes;
    return bytes;
}

/* Blocks of threads for the strips of components first .. end - 1. */
static unsigned strip_groups(const struct jpeg_picture *picture, int first, int end)
{
    unsigned strips = 0;
    for (int c = first; c < end; c++) {
        const struct plane plane = plane_of(*picture, c);
        strips += (unsigned)plane.strips * plane.block_rows;
    }
    return blocks_for(strips, STRIP_WARPS);
}

/* Of the same pictures: those that the kernel of planes takes, and those of the kernel that makes
 * pixels. */
struct launches {
    struct launch_pictures planes, pixels;
};

static void add_picture(struct launch_pictures *launch, int picture, size_t scratch,
                        unsigned blocks)
{
    launch->picture[launch->count] = picture;
    launch->scratch[launch->count] = scratch;
    launch->first[launch->count + 1] = launch->first[launch->count] + blocks;
    launch->count++;
}

static cudaError_t launch_pictures(struct launches *launches, const struct group_arrays &group,
                                   enum jpeg_sampling sampling, cudaStream_t stream)
{
    cudaError_t status = cudaSuccess;
    if (!launches->pixels.count)
        return status;
    if (sampling != JPEG_444)
        status = jpeg_planes(launches->planes, group, sampling == JPEG_420 || sampling == JPEG_422,
                             sampling == JPEG_GRAY, stream);
    if (status == cudaSuccess && sampling == JPEG_OTHER)
        status = jpeg_upsample(launches->pixels, group, stream);
    else if (status == cudaSuccess && sampling != JPEG_GRAY)
        status = jpeg_fused(launches->pixels, group, sampling, stream);
    launches->planes.count = launches->pixels.count = 0;
    return status;
}

static void add_to_launches(struct launches *launches, const struct jpeg_picture *picture,
                            int index, size_t scratch)
{
    const int components = picture->components;
    const int first = sampling_of(picture) == JPEG_GRAY ? 0 : first_plane(picture);
    const unsigned whole = blocks_for((unsigned)ceil_div(picture->width, STRIP_PIXELS) *
                                          ceil_div(picture->height, BLOCK_SIDE),
                                      STRIP_WARPS);
    add_picture(&launches->planes, index, scratch, strip_groups(picture, first, components));
    add_picture(&launches->pixels, index, scratch, whole);
}

cudaError_t gf_jpeg_reconstruct(const struct jpeg_picture *pictures_host,
                                const struct jpeg_picture *pictures, int count,
                                const int16_t *coefficients, const int16_t *dc,
                                const uint16_t *quantisers, unsigned *flags, void *scratch,
                                cudaStream_t stream)
{
    const struct group_arrays group = {pictures,   coefficients, dc,
                                       quantisers, flags,        (unsigned char *)scratch};
    cudaError_t status = cudaSuccess;
    for (int s = JPEG_GRAY; s <= JPEG_OTHER && status == cudaSuccess; s++) {
        const enum jpeg_sampling sampling = (enum jpeg_sampling)s;
        struct launches launches = {};
        size_t at = 0;
        for (int i = 0; i < count && status == cudaSuccess; i++) {
            if (sampling_of(&pictures_host[i]) == sampling) {
                add_to_launches(&launches, &pictures_host[i], i, at);
                if (launches.pixels.count == LAUNCH_PICTURES)
                    status = launch_pictures(&launches, group, sampling, stream);
            }
            at += gf_jpeg_reconstruct_bytes(&pictures_host[i]);
        }
        if (status == cudaSuccess)
            status = launch_pictures(&launches, group, sampling, stream);
    }
    return status;
}
