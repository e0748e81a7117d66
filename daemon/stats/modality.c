#include "stats/modality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/describe.h"
#include "stats/harrell_davis.h"
#include "stats/special.h"
#include "stats/sum.h"

/* Where the run of values equal to sorted[start] ends. */
static size_t end_of_ties(const double *sorted, size_t n, size_t start)
{
    size_t end = start + 1;
    while (end < n && !(sorted[end] > sorted[start]))
        end++;
    return end;
}

enum qs_status qs_ties(const double *x, size_t n, struct qs_ties *out)
{
    double *sorted;
    *out = (struct qs_ties){.smallest_gap = NAN};
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    for (size_t i = 0; status == QS_OK && i < n; i = end_of_ties(sorted, n, i)) {
        out->n_distinct++;
        if (i > 0)
            out->smallest_gap = fmin(out->smallest_gap, sorted[i] - sorted[i - 1]);
    }
    free(sorted);
    return status;
}

enum qs_status qs_spread_ties(const double *x, size_t n, double quantum, double *out)
{
    double *sorted;
    if (!(quantum >= 0) || isinf(quantum))
        return QS_EDOM;
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    if (status != QS_OK)
        return status;
    for (size_t start = 0, end; start < n; start = end) {
        end = end_of_ties(sorted, n, start);
        double count = (double)(end - start);
        for (size_t i = start; i < end; i++)
            out[i] = sorted[i] + quantum * (((double)(i - start) + 0.5) / count - 0.5);
    }
    qs_sort(out, n); /* a quantum above the gaps lets neighbours overlap */
    free(sorted);
    return QS_OK;
}

/* The values within Tukey's fences, in place. Unlike flags, this has no exception for an IQR of 0. */
static size_t keep_within_fences(double *sorted, size_t n)
{
    double q1 = qs_quantile(sorted, n, 0.25, QS_QTYPE_7), q3 = qs_quantile(sorted, n, 0.75, QS_QTYPE_7);
    double reach = 1.5 * (q3 - q1);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (sorted[i] >= q1 - reach && sorted[i] <= q3 + reach)
            sorted[kept++] = sorted[i];
    return kept;
}

/* Ascending values; h > 0. The bins are met in order, so that none is stored. */
static double mvalue_of(const double *sorted, size_t n, double h)
{
    double origin = sorted[0] - h / 2, last_bin = 0, previous = 0, rises = 0, most = 0;
    for (size_t i = 0; i < n;) {
        double bin = floor((sorted[i] - origin) / h), count = 0;
        for (; i < n && floor((sorted[i] - origin) / h) <= bin; i++)
            count++;
        if (bin > last_bin + 1) { /* empty bins between them */
            rises += previous;
            previous = 0;
        }
        rises += fabs(count - previous);
        most = fmax(most, count);
        previous = count;
        last_bin = bin;
    }
    return (rises + previous) / most;
}

enum qs_status qs_mvalue(const double *x, size_t n, double *m)
{
    double *sorted;
    struct qs_moments moments;
    *m = NAN;
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    if (status != QS_OK)
        return status;
    n = keep_within_fences(sorted, n);
    status = qs_moments(sorted, n, &moments);
    if (status == QS_OK) {
        double range = sorted[n - 1] - sorted[0];
        double h = n > 1 ? 0.75 * 3.5 * sqrt(moments.var) / cbrt((double)n) : 0;
        *m = 2;
        for (; h > 0 && h <= range; h *= 2)
            *m = fmax(*m, mvalue_of(sorted, n, h));
    }
    free(sorted);
    return status;
}

const char *const qs_modality_names[] = {"unknown", "unimodal", "possibly", "multimodal", NULL};

/* The first index whose value is above the cut, from an index on. */
static size_t end_of_mode(const double *sorted, size_t n, size_t from, double cut)
{
    while (from < n && sorted[from] <= cut)
        from++;
    return from;
}

/* sorted: the values as they are; spread: the same, spread. */
static void describe_modes(struct qs_modality_test *out, const double *sorted, const double *spread, size_t n)
{
    size_t from = 0;
    for (size_t k = 0; k < out->modes.count; k++) {
        bool last = k + 1 == out->modes.count;
        size_t to = last ? n : end_of_mode(spread, n, from, out->modes.cut[k]);
        out->median[k] = to > from ? qs_quantile(sorted + from, to - from, 0.5, QS_QTYPE_7) : NAN;
        out->share[k] = (double)(to - from) / (double)n;
        from = to;
    }
}

static enum qs_status assess(struct qs_modality_test *out, const double *sorted, double *spread, size_t n,
                             const struct qs_progress *progress)
{
    enum qs_status status = qs_spread_ties(sorted, n, out->quantum, spread);
    if (status == QS_OK)
        status = qs_mvalue(spread, n, &out->mvalue);
    if (status == QS_OK && n >= QS_LOWLAND_N_MIN)
        status = qs_lowland(spread, n, progress, &out->modes);
    if (status != QS_OK)
        return status;
    describe_modes(out, sorted, spread, n);
    if (out->modes.count > 1)
        out->modality = QS_MODALITY_MORE;
    else if (out->mvalue > QS_MVALUE_SUSPICIOUS)
        out->modality = QS_MODALITY_POSSIBLY_MORE;
    else
        out->modality = out->modes.count == 1 ? QS_MODALITY_ONE : QS_MODALITY_UNKNOWN;
    return QS_OK;
}

static void one_value(struct qs_modality_test *out, double value)
{
    out->modality = QS_MODALITY_ONE;
    out->modes.count = 1;
    out->modes.location[0] = out->median[0] = value;
    out->share[0] = 1;
}

enum qs_status qs_modality_test(const double *x, size_t n, double quantum, const struct qs_progress *progress,
                                struct qs_modality_test *out)
{
    bool declared = !isnan(quantum);
    *out = (struct qs_modality_test){.quantum = NAN, .mvalue = NAN};
    if (declared && (!(quantum >= 0) || isinf(quantum)))
        return QS_EDOM;
    enum qs_status status = qs_ties(x, n, &out->ties);
    if (status != QS_OK)
        return status;
    if (out->ties.n_distinct == 1) {
        one_value(out, x[0]);
        return QS_OK;
    }
    if (n < QS_MVALUE_N_MIN || (!declared && out->ties.n_distinct < QS_MODALITY_DISTINCT_MIN))
        return QS_OK;
    out->quantum = declared ? quantum : out->ties.smallest_gap;
    double *sorted, *spread = malloc(n * sizeof *spread);
    status = qs_sorted_copy(x, n, &sorted);
    if (status == QS_OK)
        status = spread ? assess(out, sorted, spread, n, progress) : QS_ENOMEM;
    free(sorted);
    free(spread);
    return status;
}

enum qs_status qs_mode_shares(const double *x, size_t n, const double *cuts, size_t n_cuts, double *share)
{
    if (n == 0)
        return QS_ENODATA;
    for (size_t k = 0; k <= n_cuts; k++)
        share[k] = 0;
    for (size_t k = 0; k < n_cuts; k++)
        if (!isfinite(cuts[k]) || (k > 0 && !(cuts[k] > cuts[k - 1])))
            return QS_EDOM;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (!isfinite(x[i]))
            return QS_EDOM;
        while (k < n_cuts && x[i] > cuts[k])
            k++;
        share[k]++; /* counts until all are in: a sum of n-ths may pass 1 */
    }
    for (size_t k = 0; k <= n_cuts; k++)
        share[k] /= (double)n;
    return QS_OK;
}

struct qs_share_change qs_share_change(double share1, size_t n1, double share2, size_t n2, double level)
{
    struct qs_share_change change = {.difference = NAN, .bound = NAN};
    bool valid = share1 >= 0 && share1 <= 1 && share2 >= 0 && share2 <= 1 && n1 > 0 && n2 > 0;
    if (!valid || !(level > 0 && level < 1))
        return change;
    double var = share1 * (1 - share1) / (double)n1 + share2 * (1 - share2) / (double)n2;
    change.difference = share2 - share1;
    change.bound = -qs_qnorm((1 - level) / 2) * sqrt(var);
    change.changed = fabs(change.difference) > change.bound;
    return change;
}

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
