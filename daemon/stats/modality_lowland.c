#include "stats/modality.h"

#include "stats/describe.h"
#include "stats/harrell_davis.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>

enum { BINS = 100, VALUES_A_LOOK = 10000 };

static const double NO_RANGE = 1e-9;
static const double SENSITIVITY = 0.5;

struct density {
    size_t bins;
    double lower[BINS], upper[BINS], height[BINS];
};

static double middle(const struct density *d, size_t bin)
{
    return d->lower[bin] + (d->upper[bin] - d->lower[bin]) / 2;
}

/* False where it was ended. */
static bool fill_density(struct density *d, const double *sorted, size_t n,
                         const struct qs_progress *progress)
{
    double narrow = NO_RANGE * (sorted[n - 1] - sorted[0]), from = sorted[0];
    for (size_t i = 1; i <= BINS; i++) {
        double to = NAN;
        if (n > VALUES_A_LOOK && !qs_progress_go_on(progress, (double)(i - 1) / BINS))
            return false;
        (void)qs_hd_quantile(sorted, n, (double)i / BINS, &to, NULL); /* n >= 1 and p are in order */
        if (to - from > narrow) {
            d->lower[d->bins] = from;
            d->upper[d->bins] = to;
            d->height[d->bins++] = 1 / (BINS * (to - from));
        }
        from = to;
    }
    return true;
}

static size_t find_peaks(const struct density *d, size_t *peaks)
{
    size_t count = 0;
    for (size_t i = 1; i + 1 < d->bins; i++)
        if (d->height[i] > d->height[i - 1] && d->height[i] >= d->height[i + 1])
            peaks[count++] = i;
    return count;
}

static size_t extreme_bin(const struct density *d, size_t from, size_t to, bool lowest)
{
    size_t best = from;
    for (size_t i = from + 1; i < to; i++)
        if (lowest ? d->height[i] < d->height[best] : d->height[i] > d->height[best])
            best = i;
    return best;
}

/* The water between two peaks stands at the lower one's height: is the ground below it less than half of it?
 */
static bool try_split(const struct density *d, size_t first, size_t left, size_t right, struct qs_modes *out)
{
    double level = fmin(d->height[left], d->height[right]);
    size_t l = left, r = right;
    while (l < r && d->height[l] > level)
        l++;
    while (l < r && d->height[r] > level)
        r--;
    double pond = level * (d->upper[r] - d->lower[l]);
    double earth = (double)(r - l + 1) / (double)d->bins;
    if (!(earth / pond < SENSITIVITY))
        return false;
    out->cut[out->count] = middle(d, extreme_bin(d, left, right, true));
    out->location[out->count++] = middle(d, first);
    return true;
}

/* stack: peaks of the mode that is being gathered, each lower than or equal to the one before. */
static void split_at_valleys(const struct density *d, const size_t *peaks, size_t n_peaks,
                             struct qs_modes *out)
{
    size_t stack[BINS] = {peaks[0]}, depth = 1;
    for (size_t i = 1; i < n_peaks; i++) {
        size_t peak = peaks[i];
        while (depth > 0 && d->height[stack[depth - 1]] < d->height[peak])
            depth = try_split(d, stack[0], stack[depth - 1], peak, out) ? 0 : depth - 1;
        if (depth > 0 && d->height[stack[depth - 1]] > d->height[peak] &&
            try_split(d, stack[0], stack[depth - 1], peak, out))
            depth = 0;
        stack[depth++] = peak;
    }
    out->location[out->count++] = middle(d, stack[0]);
}

enum qs_status qs_lowland(const double *x, size_t n, const struct qs_progress *progress, struct qs_modes *out)
{
    double *sorted;
    *out = (struct qs_modes){.count = 0};
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    if (status != QS_OK)
        return status;
    double range = sorted[n - 1] - sorted[0], largest = fmax(fabs(sorted[0]), fabs(sorted[n - 1]));
    struct density d = {.bins = 0};
    size_t peaks[BINS], n_peaks = 0;
    if (range > NO_RANGE * largest && isfinite(range)) {
        if (!fill_density(&d, sorted, n, progress)) {
            free(sorted);
            return QS_ECANCELED;
        }
        n_peaks = find_peaks(&d, peaks);
    }
    out->bins = d.bins;
    if (n_peaks > 1) {
        split_at_valleys(&d, peaks, n_peaks, out);
    } else {
        out->count = 1;
        size_t highest = n_peaks == 1 ? peaks[0] : extreme_bin(&d, 0, d.bins, false);
        out->location[0] = d.bins > 0 ? middle(&d, highest) : qs_quantile(sorted, n, 0.5, QS_QTYPE_7);
    }
    free(sorted);
    return isfinite(range) ? QS_OK : QS_EDOM;
}
