/* Rectangles. Squares of a small reach take one pass; all others go down the columns first, then
 * along the rows. */
#include "cuda/filters/morphology/window.cuh"

int gf_morphology_rectangle(const struct gf_launch *launch, const struct gf_morphology *morphology,
                            unsigned flip)
{
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct view_pair p = view_pair_of(launch, morphology->border);
    const bool both = morphology->rx && morphology->ry;
    if (morphology->rx == 1 && morphology->ry == 1)
        return gf_morphology_small(p, flip, stream);
    if (morphology->rx == 2 && morphology->ry == 2)
        return gf_morphology_medium(p, flip, stream);
    if (!morphology->rx) /* a single pixel is also a column */
        return gf_morphology_columns(p, morphology->ry, flip, stream);
    if (both) {
        p.out = (unsigned char *)launch->scratch;
        p.out_pitch = gf_morphology_pitch(launch->in.format, 0);
        const int status = gf_morphology_columns(p, morphology->ry, flip, stream);
        if (status)
            return status;
        p.in = p.out;
        p.in_pitch = p.out_pitch;
        p.in_y = p.out_y;
        p.out = launch->out.data;
        p.out_pitch = launch->out.pitch;
    }
    return gf_morphology_rows(p, morphology->rx, flip, both, stream);
}
