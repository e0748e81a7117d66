/* Fast Fourier transform, radix 2, of a signal whose spectrum is known. */
#include "quiesce/bench.h"

#include "kernels/picture.h"

#include <math.h>

struct point {
    double re, im;
};

enum { LOW = 3, HIGH = 5 }; /* the signal: cos(2 pi LOW k/n) + sin(2 pi HIGH k/n)/2 */

static int64_t log2_points = 16;
static uint32_t n;
static struct point *signal_in, *spectrum, *turns;
static uint32_t *swapped;
static uint32_t m_checksum;

static void make_tables(void)
{
    const double turn = 2 * acos(-1) / n;
    for (uint32_t k = 0; k < n; k++) {
        signal_in[k].re = cos(turn * (LOW * k % n)) + sin(turn * (HIGH * k % n)) / 2;
        turns[k / 2] = (struct point){cos(turn * (k / 2)), -sin(turn * (k / 2))};
        for (int64_t bit = 0; bit < log2_points; bit++) {
            swapped[k] |= (k >> bit & 1) << (log2_points - 1 - bit);
        }
    }
}

static void setup(struct quiesce *q)
{
    n = 1u << log2_points;
    signal_in = calloc(n, sizeof *signal_in);
    spectrum = calloc(n, sizeof *spectrum);
    turns = calloc(n / 2, sizeof *turns);
    swapped = calloc(n, sizeof *swapped);
    if (!signal_in || !spectrum || !turns || !swapped) {
        quiesce_fail(q, "no memory for %u points", n);
    } else {
        make_tables();
    }
}

static void run(struct quiesce *q)
{
    (void)q;
    for (uint32_t k = 0; k < n; k++) {
        spectrum[swapped[k]] = signal_in[k];
    }
    for (uint32_t half = 1; half < n; half *= 2) {
        for (uint32_t start = 0; start < n; start += 2 * half) {
            struct point *low = spectrum + start, *high = low + half;
            for (uint32_t k = 0; k < half; k++) {
                struct point turn = turns[k * (n / 2 / half)], h = high[k], l = low[k];
                struct point t = {turn.re * h.re - turn.im * h.im, turn.re * h.im + turn.im * h.re};
                low[k] = (struct point){l.re + t.re, l.im + t.im};
                high[k] = (struct point){l.re - t.re, l.im - t.im};
            }
        }
    }
    quiesce_keep(spectrum);
}

/* Four lines of known height, nothing else; the checksum is of values rounded to a millionth, which rounding
 * errors do not reach. */
static void conclude(struct quiesce *q)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        double re = k == LOW || k == n - LOW ? n / 2.0 : 0;
        double im = k == HIGH ? -(n / 4.0) : k == n - HIGH ? n / 4.0 : 0;
        if (!(fabs(spectrum[k].re - re) < 1e-9 * n && fabs(spectrum[k].im - im) < 1e-9 * n)) {
            quiesce_fail(q, "line %u is %g%+gi, not %g%+gi", k, spectrum[k].re, spectrum[k].im, re, im);
            return;
        }
        int64_t rounded[2] = {llround(spectrum[k].re * 1e6 / n), llround(spectrum[k].im * 1e6 / n)};
        sum = sum * 31 + picture_checksum(rounded, sizeof rounded);
    }
    quiesce_record(q, m_checksum, sum);
}

static void teardown(struct quiesce *q)
{
    (void)q;
    free(signal_in);
    free(spectrum);
    free(turns);
    free(swapped);
}

int main(int argc, char **argv)
{
    struct quiesce q;
    quiesce_init(&q, "fast Fourier transform");
    quiesce_param_int(&q, "log2-points", &log2_points, 4, 24, "binary logarithm of the length");
    struct quiesce_benchmark *fft = quiesce_add(&q, "fft", "complex, double precision, radix 2", run);
    fft->setup = setup;
    fft->conclude = conclude;
    fft->teardown = teardown;
    m_checksum = quiesce_metric(&q, fft, "checksum", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    return quiesce_main(&q, argc, argv);
}
