#include "engine/layout.h"

size_t gf_band_pitch(const struct gf_backend *backend, struct gf_format format)
{
    const size_t bytes = gf_row_bytes(format);
    return backend->calls->unified ? bytes : (bytes + 15) / 16 * 16;
}

/* If bands taper, the first has a quarter of the rows of a usual band, the second a half, the last
 * but one what is left, and the last a quarter. The bus carries nothing to the host until the first
 * band is done, and nothing to the device during the last, so that these bands should be short. */
static int quarter(const struct gf_bands *bands)
{
    return bands->rows / 4;
}

/* Returns the row where band b begins. b may be the number of bands. */
static int first_row(const struct gf_bands *bands, int height, int b)
{
    const int q = quarter(bands);
    if (!bands->tapered)
        return b < bands->count ? b * bands->rows : height;
    if (b < 2)
        return b * q;
    if (b < bands->count - 1)
        return 3 * q + (b - 2) * bands->rows;
    return b < bands->count ? height - q : height;
}

struct gf_rows gf_bands_rows(const struct gf_bands *bands, const struct gf_segment *segment, int b)
{
    const int height = segment->out.height;
    return (struct gf_rows){first_row(bands, height, b), first_row(bands, height, b + 1)};
}

/* Whether the bands may taper: there must be enough of them, and enough rows in each, to pay for
 * two more bands. */
static bool may_taper(const struct gf_bands *bands, int height, int halo)
{
    enum { BANDS_LEAST = 8, HALOS_LEAST = 4 };
    return bands->rows >= HALOS_LEAST * (halo > 0 ? halo : 1) &&
           height >= BANDS_LEAST * bands->rows;
}

static int count_bands(const struct gf_bands *bands, int height)
{
    if (!bands->tapered)
        return (height + bands->rows - 1) / bands->rows;
    /* All bands but the first two and the last two have bands->rows rows; the last but one has 1 to
     * bands->rows. */
    return (height - 4 * quarter(bands) - 1) / bands->rows + 4;
}

/* Computes from bands->rows the number of the bands, and the bytes that one takes. */
static void compute_sizes(struct gf_bands *bands, const struct gf_plan *plan,
                          const struct gf_segment *segment, const struct gf_backend *backend,
                          bool tapers, int halo)
{
    bands->tapered = tapers && may_taper(bands, segment->out.height, halo);
    bands->count = count_bands(bands, segment->out.height);
    bands->in_rows = 0;
    bands->between_bytes = bands->scratch_bytes = 0;
    for (int b = 0; b < bands->count; b++) {
        struct gf_rows cut[GF_CUTS_MAX + 1];
        const struct gf_rows rows = gf_bands_rows(bands, segment, b);
        gf_segment_rows(plan, segment, rows.first, rows.end, cut);
        const int in_rows = cut[0].end - cut[0].first;
        bands->in_rows = in_rows > bands->in_rows ? in_rows : bands->in_rows;
        for (int i = 1; i <= segment->count; i++) {
            const struct gf_stage *const stage = &plan->stage[segment->first + i - 1];
            const int out_rows = cut[i].end - cut[i].first;
            bands->between_bytes = gf_larger(bands->between_bytes,
                                             gf_band_pitch(backend, stage->out) * (size_t)out_rows);
            bands->scratch_bytes =
                gf_larger(bands->scratch_bytes, backend->calls->scratch(stage, out_rows));
        }
    }
    bands->in_bytes = bands->in_pitch * (size_t)bands->in_rows;
    bands->out_bytes = bands->out_pitch * (size_t)bands->rows;
}

static int clamp(int64_t value, int64_t least, int64_t most)
{
    return (int)(value < least ? least : value > most ? most : value);
}

/* Returns the halo of a band: the input rows that a result row needs besides its own; 0 if it needs
 * all rows. */
static int halo_rows(const struct gf_plan *plan, const struct gf_segment *segment)
{
    struct gf_rows cut[GF_CUTS_MAX + 1];
    gf_segment_rows(plan, segment, segment->out.height / 2, segment->out.height / 2 + 1, cut);
    const int halo = cut[0].end - cut[0].first - 1;
    return halo < segment->in.height - 1 ? halo : 0;
}

/* Returns the bytes of a row of input and result, by which the size of bands is chosen. If the
 * first stage reads the whole picture, only the result counts: a turned picture of 20000x100 would
 * otherwise get bands of a few short rows. */
static int64_t row_bytes(const struct gf_bands *bands, const struct gf_plan *plan,
                         const struct gf_segment *segment)
{
    const bool whole = segment->count && gf_stage_needs_whole(&plan->stage[segment->first]);
    return (int64_t)(whole ? bands->out_pitch : gf_larger(bands->in_pitch, bands->out_pitch));
}

/* Chooses the rows of a band. A band is a sixteenth of the picture, within the backend's limits; a
 * twelfth if it is copied to and from the device, since more bands cost more than they gain by
 * overlap; an eighth if a plan of several segments copies it one way only. Every lane of the CPU
 * gets at least two bands. A band has at least as many rows as its halo, so that no more rows are
 * copied than filtered. */
static int choose_rows(const struct gf_bands *bands, const struct gf_plan *plan,
                       const struct gf_segment *segment, const struct gf_backend *backend,
                       int lanes, int halo)
{
    const int64_t row = row_bytes(bands, plan, segment);
    const int64_t height = segment->out.height;
    const int64_t share = row * height /
                          (plan->segment_count > 1   ? 8
                           : backend->calls->unified ? 16
                                                     : 12);
    const int64_t bytes = clamp(share, (int64_t)backend->calls->band_bytes_least,
                                (int64_t)backend->calls->band_bytes_most);
    int64_t rows = clamp(bytes / row, 1, height);
    if (backend->calls->unified && rows > (height + 2 * lanes - 1) / (2 * lanes))
        rows = (height + 2 * lanes - 1) / (2 * lanes);
    return clamp(rows < halo ? halo : rows, 1, height);
}

static uint64_t host_bytes(const struct gf_bands *bands, const struct gf_segment *segment,
                           const struct gf_backend *backend, int lanes,
                           const struct gf_bands_budget *budget)
{
    const uint64_t ring =
        (budget->streams_in ? bands->in_bytes : 0) + (budget->streams_out ? bands->out_bytes : 0);
    const uint64_t lane =
        bands->scratch_bytes + (segment->count > 1 ? 2 * (uint64_t)bands->between_bytes : 0);
    return ring * (uint64_t)(lanes + 1) + (backend->calls->unified ? lane * (uint64_t)lanes : 0);
}

struct gf_bands gf_bands_cut(const struct gf_plan *plan, const struct gf_segment *segment,
                             const struct gf_backend *backend, int rows, int lanes,
                             const struct gf_bands_budget *budget)
{
    struct gf_bands bands = {.in_pitch = gf_band_pitch(backend, segment->in),
                             .out_pitch = gf_band_pitch(backend, segment->out)};
    const int halo = halo_rows(plan, segment);
    /* A segment before or after another one copies bands one way at most, and tapering gains
     * nothing. */
    const bool tapers = !rows && !backend->calls->unified && plan->segment_count == 1 &&
                        segment->count && !gf_stage_needs_whole(&plan->stage[segment->first]);
    bands.rows = rows ? clamp(rows, 1, segment->out.height)
                      : choose_rows(&bands, plan, segment, backend, lanes, halo);
    const int least = budget->is_limit ? 1 : rows ? bands.rows : clamp(halo / 2, 1, bands.rows);
    compute_sizes(&bands, plan, segment, backend, tapers, halo);
    while (bands.rows > least &&
           host_bytes(&bands, segment, backend, lanes, budget) > budget->bytes) {
        bands.rows = bands.rows / 2 > least ? bands.rows / 2 : least;
        compute_sizes(&bands, plan, segment, backend, tapers, halo);
    }
    return bands;
}
