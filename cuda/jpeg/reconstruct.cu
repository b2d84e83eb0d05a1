/* Lists the jobs of a group and launches the kernels that make its pixels: one launch for all
 * planes, then one for each kind of sampling. */
#include <stdlib.h>

#include "cuda/jpeg/pixels.cuh"
#include "cuda/jpeg/reconstruct.cuh"

enum {
    COMPONENTS = 3,
    PLANE_PADDING = VECTOR, /* before each row of a plane and behind the last; see store_edges() */
    SCRATCH_ALIGNMENT = 128
};

static int largest(const int *values, int count)
{
    int most = values[0];
    for (int i = 1; i < count; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

/* libjpeg's downsampled_width and downsampled_height. */
static int component_width(const struct jpeg_picture *picture, int c)
{
    return ceil_div(picture->width * picture->h[c], largest(picture->h, picture->components));
}

static int component_height(const struct jpeg_picture *picture, int c)
{
    return ceil_div(picture->height * picture->v[c], largest(picture->v, picture->components));
}

static bool samples_as(const struct jpeg_picture *picture, int across, int down)
{
    const int *const h = picture->h, *const v = picture->v;
    return h[0] == across * h[1] && h[0] == across * h[2] && v[0] == down * v[1] &&
           v[0] == down * v[2];
}

/* libjpeg does not filter components of at most two columns. */
static enum jpeg_sampling sampling_of(const struct jpeg_picture *picture)
{
    if (picture->components == 1)
        return JPEG_GRAY;
    if (picture->ycc && samples_as(picture, 1, 1))
        return JPEG_444;
    if (picture->ycc && component_width(picture, 1) > 2) {
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
    const enum jpeg_sampling sampling = sampling_of(picture);
    if (sampling == JPEG_420 || sampling == JPEG_422)
        return 1;
    return sampling == JPEG_OTHER ? 0 : picture->components;
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

size_t gf_jpeg_reconstruct_bytes(const struct jpeg_picture *picture)
{
    size_t bytes = jobs_bytes(1);
    for (int c = first_plane(picture); c < picture->components; c++)
        bytes += plane_bytes(picture, c);
    return bytes;
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

/* Appends a job and returns the number of jobs. */
static int add_job(struct strip_job *jobs, int first, int count, struct strip_job job)
{
    const unsigned strips = ceil_div(job.out.width, STRIP_PIXELS);
    job.block_rows = ceil_div(job.out.height, BLOCK_SIDE);
    job.strips = divisor_of(strips);
    job.first = count == first ? 0 : jobs[count - 1].end;
    job.end = job.first + blocks_for(strips * job.block_rows, STRIP_WARPS);
    jobs[count] = job;
    return count + 1;
}

/* Appends what the launch for `sampling` does to a picture; that for JPEG_GRAY makes all planes.
 * memory: of the picture's planes. */
static int add_jobs(struct strip_job *jobs, int first, int count,
                    const struct jpeg_picture *picture, int index, enum jpeg_sampling sampling,
                    unsigned char *memory)
{
    struct strip_job pixels = {};
    pixels.picture = index;
    pixels.blocks = blocks_of(picture, 0);
    pixels.out = {picture->out, (unsigned)picture->pitch, picture->width, picture->height};
    pixels.ycc = picture->ycc;
    for (int c = 0; c < picture->components; c++) {
        pixels.h[c] = picture->h[c];
        pixels.v[c] = picture->v[c];
    }
    for (int c = first_plane(picture); c < picture->components; c++) {
        struct strip_job plane = pixels;
        plane.component = c;
        plane.blocks = blocks_of(picture, c);
        plane.edges = true;
        plane.out = pixels.planes[c] = plane_of(picture, c, memory);
        if (sampling == JPEG_GRAY)
            count = add_job(jobs, first, count, plane);
        memory += plane_bytes(picture, c);
    }
    return sampling_of(picture) == sampling ? add_job(jobs, first, count, pixels) : count;
}

static cudaError_t launch_jobs(const struct strip_launch &launch, enum jpeg_sampling sampling,
                               const struct group_arrays &group, cudaStream_t stream)
{
    if (sampling == JPEG_GRAY)
        return jpeg_planes(launch, group, stream);
    if (sampling == JPEG_OTHER)
        return jpeg_upsample(launch, stream);
    return jpeg_fused(launch, group, sampling, stream);
}

static struct strip_launch launch_of(const struct strip_job *device_jobs, int count,
                                     unsigned blocks)
{
    const uint64_t guess = ((uint64_t)count << 32) / blocks;
    return {device_jobs, count, guess >> 32 ? 0xFFFFFFFFu : (unsigned)guess, blocks};
}

cudaError_t gf_jpeg_reconstruct(const struct jpeg_picture *pictures, int count,
                                const int16_t *coefficients, const int16_t *dc,
                                const uint16_t *quantisers, unsigned *flags, void *scratch,
                                cudaStream_t stream)
{
    const struct group_arrays group = {coefficients, dc, quantisers, flags};
    struct strip_job *const device_jobs = (struct strip_job *)scratch;
    struct strip_job *const jobs = (struct strip_job *)malloc(jobs_bytes(count));
    struct strip_launch launches[JPEG_SAMPLINGS] = {};
    if (!jobs)
        return cudaErrorMemoryAllocation;
    int jobs_count = 0;
    for (int s = 0; s < JPEG_SAMPLINGS; s++) {
        const int first = jobs_count;
        unsigned char *memory = (unsigned char *)scratch + jobs_bytes(count);
        for (int i = 0; i < count; i++) {
            jobs_count =
                add_jobs(jobs, first, jobs_count, &pictures[i], i, (enum jpeg_sampling)s, memory);
            memory += gf_jpeg_reconstruct_bytes(&pictures[i]) - jobs_bytes(1);
        }
        if (jobs_count > first)
            launches[s] =
                launch_of(device_jobs + first, jobs_count - first, jobs[jobs_count - 1].end);
    }
    cudaError_t status = cudaMemcpyAsync(device_jobs, jobs, jobs_count * sizeof *jobs,
                                         cudaMemcpyHostToDevice, stream);
    free(jobs);
    for (int s = 0; s < JPEG_SAMPLINGS && status == cudaSuccess; s++)
        if (launches[s].count)
            status = launch_jobs(launches[s], (enum jpeg_sampling)s, group, stream);
    return status;
}
