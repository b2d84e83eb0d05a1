/* Lists the jobs of a group and launches the kernels that compute its pixels: one launch for all
 * planes, then one for each kind of sampling. */
#include <stdlib.h>

#include "cuda/jpeg/decode.cuh"
#include "cuda/jpeg/pixels.cuh"

enum {
    COMPONENTS = 3,
    PLANE_PADDING = VECTOR, /* the room before each row of a plane and after the last row; see
                             * store_edges() */
    SCRATCH_ALIGNMENT = 128
};

static int largest(const int *values, int count)
{
    int most = values[0];
    for (int i = 1; i < count; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

/* Returns libjpeg's downsampled_width of a component; the next function returns
 * downsampled_height. */
static int component_width(const struct jpeg_picture *picture, int c)
{
    return ceil_div(picture->width * picture->h[c] * picture->side[c],
                    largest(picture->h, picture->components) * BLOCK_SIDE);
}

static int component_height(const struct jpeg_picture *picture, int c)
{
    return ceil_div(picture->height * picture->v[c] * picture->side[c],
                    largest(picture->v, picture->components) * BLOCK_SIDE);
}

/* Returns the pixels for each sample of component c; the next function does so for rows. */
static int pixels_across(const struct jpeg_picture *picture, int c)
{
    return largest(picture->h, picture->components) * BLOCK_SIDE /
           (picture->reduction * picture->h[c] * picture->side[c]);
}

static int pixels_down(const struct jpeg_picture *picture, int c)
{
    return largest(picture->v, picture->components) * BLOCK_SIDE /
           (picture->reduction * picture->v[c] * picture->side[c]);
}

static bool samples_as(const struct jpeg_picture *picture, int across, int down)
{
    const int *const h = picture->h, *const v = picture->v;
    return h[0] == across * h[1] && h[0] == across * h[2] && v[0] == down * v[1] &&
           v[0] == down * v[2];
}

static bool has_equal_planes(const struct jpeg_picture *picture)
{
    bool equal = true;
    for (int c = 0; c < picture->components; c++)
        equal &= pixels_across(picture, c) == 1 && pixels_down(picture, c) == 1;
    return equal;
}

/* Returns the launch that computes the picture's pixels. libjpeg does not filter components of at
 * most two columns. */
static enum jpeg_launch sampling_of(const struct jpeg_picture *picture)
{
    const bool reduced = picture->reduction > 1;
    if (picture->components == 1)
        return reduced ? JPEG_REDUCED_PLANES : JPEG_PLANES;
    if (picture->ycc && !reduced && samples_as(picture, 1, 1))
        return JPEG_444;
    if (picture->ycc && !reduced && component_width(picture, 1) > 2) {
        if (samples_as(picture, 2, 1))
            return JPEG_422;
        if (samples_as(picture, 2, 2))
            return JPEG_420;
    }
    return has_equal_planes(picture) ? JPEG_EQUAL : JPEG_OTHER;
}

/* Returns the first component that becomes a plane. */
static int first_plane(const struct jpeg_picture *picture)
{
    const enum jpeg_launch sampling = sampling_of(picture);
    if (sampling == JPEG_420 || sampling == JPEG_422)
        return 1;
    return sampling == JPEG_OTHER || sampling == JPEG_EQUAL ? 0 : picture->components;
}

static struct surface plane_of(const struct jpeg_picture *picture, int c, unsigned char *memory)
{
    const int width = component_width(picture, c);
    const unsigned pitch = ceil_div(width, STRIP_PIXELS) * STRIP_PIXELS + PLANE_PADDING;
    return {memory + PLANE_PADDING, pitch, width, component_height(picture, c)};
}

static size_t plane_bytes(const struct jpeg_picture *picture, int c)
{
    const struct surface plane = plane_of(picture, c, NULL);
    const size_t bytes = PLANE_PADDING + (size_t)plane.pitch * plane.height;
    return (bytes + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
}

static size_t jobs_bytes(size_t pictures)
{
    const size_t bytes = pictures * (COMPONENTS + 1) * sizeof(struct strip_job);
    return (bytes + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
}

static size_t planes_bytes(const struct jpeg_picture *picture)
{
    size_t bytes = 0;
    for (int c = first_plane(picture); c < picture->components; c++)
        bytes += plane_bytes(picture, c);
    return bytes;
}

size_t gf_jpeg_reconstruct_bytes(const struct jpeg_picture *picture)
{
    return jobs_bytes(1) + planes_bytes(picture);
}

static struct component_blocks blocks_of(const struct jpeg_picture *picture, int component)
{
    unsigned before = picture->first_block;
    for (int c = 0; c < component; c++)
        before += picture->h[c] * picture->v[c];
    const unsigned h = picture->h[component], v = picture->v[component];
    return {divisor_of(h),
            divisor_of(v),
            picture->mcus_across * h - 1,
            (unsigned)picture->mcus_across,
            (unsigned)picture->blocks_per_mcu,
            before};
}

/* The jobs of a group, in the order of the launches. */
struct job_list {
    struct strip_job *jobs;
    int count, first; /* the number of all jobs, and the first job of the present launch */
};

static void add_job(struct job_list *list, struct strip_job *job)
{
    const int side = job->side;
    const unsigned strips =
        ceil_div(job->out.width, side == BLOCK_SIDE ? STRIP_PIXELS : WARP * side);
    job->block_rows = ceil_div(job->out.height, side);
    job->strips = divisor_of(strips);
    job->first = list->count == list->first ? 0 : list->jobs[list->count - 1].end;
    job->end = job->first + blocks_for(strips * job->block_rows, STRIP_WARPS);
    list->jobs[list->count++] = *job;
}

/* Adds the picture's jobs for the launch. `memory` holds the picture's planes. */
static void add_picture(struct job_list *list, const struct jpeg_picture *picture, int index,
                        enum jpeg_launch launch, unsigned char *memory)
{
    const bool gray = picture->components == 1;
    struct strip_job job = {};
    job.picture = index;
    job.ycc = picture->ycc;
    job.filtered = picture->reduction < BLOCK_SIDE;
    for (int c = first_plane(picture); c < picture->components; c++) {
        job.planes[c] = plane_of(picture, c, memory);
        job.across[c] = pixels_across(picture, c);
        job.down[c] = pixels_down(picture, c);
        memory += plane_bytes(picture, c);
        if (launch == (picture->side[c] == BLOCK_SIDE ? JPEG_PLANES : JPEG_REDUCED_PLANES)) {
            job.component = c;
            job.side = picture->side[c];
            job.edges = true;
            job.blocks = blocks_of(picture, c);
            job.out = job.planes[c];
            add_job(list, &job);
        }
    }
    if (launch != sampling_of(picture))
        return;
    job.side = gray ? picture->side[0] : BLOCK_SIDE;
    job.blocks = blocks_of(picture, 0);
    job.out = {picture->out, (unsigned)picture->pitch, picture->shown_width, picture->shown_height};
    add_job(list, &job);
}

static cudaError_t launch_jobs(const struct strip_launch &launch, enum jpeg_launch kind,
                               const struct group_arrays &group, cudaStream_t stream)
{
    switch (kind) {
    case JPEG_PLANES:
        return gf_jpeg_make_planes(launch, group, stream);
    case JPEG_REDUCED_PLANES:
        return gf_jpeg_make_reduced_planes(launch, group, stream);
    case JPEG_OTHER:
        return gf_jpeg_upsample(launch, group, stream);
    case JPEG_EQUAL:
        return gf_jpeg_convert(launch, group, stream);
    default:
        return gf_jpeg_make_pixels(launch, group, kind, stream);
    }
}

static struct strip_launch launch_of(const struct strip_job *device_jobs, int count,
                                     unsigned blocks)
{
    const uint64_t guess = ((uint64_t)count << 32) / blocks;
    return {device_jobs, count, guess >> 32 ? 0xFFFFFFFFu : (unsigned)guess, blocks};
}

/* Lists all jobs, in the order of the launches. */
static int list_jobs(struct strip_job *jobs, const struct jpeg_picture *pictures, int count,
                     unsigned char *scratch, struct strip_launch launches[JPEG_LAUNCHES])
{
    struct job_list list = {jobs, 0, 0};
    for (int s = 0; s < JPEG_LAUNCHES; s++) {
        unsigned char *memory = scratch + jobs_bytes(count);
        list.first = list.count;
        for (int i = 0; i < count; i++) {
            add_picture(&list, &pictures[i], i, (enum jpeg_launch)s, memory);
            memory += planes_bytes(&pictures[i]);
        }
        if (list.count > list.first)
            launches[s] = launch_of((struct strip_job *)scratch + list.first,
                                    list.count - list.first, jobs[list.count - 1].end);
    }
    return list.count;
}

cudaError_t gf_jpeg_reconstruct(const struct jpeg_picture *pictures, int count,
                                const int16_t *coefficients, const int16_t *dc,
                                const uint16_t *quantisers, unsigned *flags, void *scratch,
                                cudaStream_t stream)
{
    const struct group_arrays group = {coefficients, dc, quantisers, flags};
    struct strip_job *const jobs = (struct strip_job *)malloc(jobs_bytes(count));
    struct strip_launch launches[JPEG_LAUNCHES] = {};
    if (!jobs)
        return cudaErrorMemoryAllocation;
    const int all = list_jobs(jobs, pictures, count, (unsigned char *)scratch, launches);
    cudaError_t status =
        cudaMemcpyAsync(scratch, jobs, all * sizeof *jobs, cudaMemcpyHostToDevice, stream);
    free(jobs);
    for (int s = 0; s < JPEG_LAUNCHES && status == cudaSuccess; s++)
        if (launches[s].count)
            status = launch_jobs(launches[s], (enum jpeg_launch)s, group, stream);
    return status;
}
