/* Many verdicts in a line: how many of each, and the geometric mean of the ratios of each metric. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctl/layout_finding.h"

enum { WORDS_MOST = 12, METRICS_MOST = 4, TALLY_LEAST = 2, HALVINGS = 60 };

static bool is_noun(const char *word)
{
    return strstr(word, "regression") != NULL || strstr(word, "improvement") != NULL;
}

static void add_words(const struct qs_findings *all, struct qs_buf *text)
{
    const char *word[WORDS_MOST];
    int64_t n[WORDS_MOST] = {0};
    size_t words = 0, k;
    for (size_t i = 0; i < all->count; i++) {
        for (k = 0; k < words && strcmp(word[k], all->at[i].verdict) != 0; k++) {
        }
        if (k == words && words == WORDS_MOST)
            continue;
        word[k] = all->at[i].verdict;
        words += k == words;
        n[k]++;
    }
    for (k = 0; k < words; k++)
        qs_buf_fmt(text, "%s%" PRId64 " %s%s", k > 0 ? ", " : "", n[k],
                   word[k][0] != '\0' ? word[k] : "without one", n[k] > 1 && is_noun(word[k]) ? "s" : "");
}

/* What ratios have in common: the metric; of a file whose columns are the benchmarks, the unit. */
static const char *kind_of(const struct qs_finding *f)
{
    return f->point[0] != '\0' ? f->metric : f->unit;
}

static bool was_told(const struct qs_findings *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(kind_of(&all->at[k]), kind_of(&all->at[i])) == 0)
            return true;
    return false;
}

static bool counts(const struct qs_finding *f, const char *kind)
{
    return strcmp(kind_of(f), kind) == 0 && f->ratio > 0 && isfinite(f->ratio);
}

/* The geometric mean between lo and hi by halving: the product of ratio/mean is 1 there. */
static double mean_of(const struct qs_findings *all, const char *kind, double lo, double hi)
{
    for (int step = 0; step < HALVINGS; step++) {
        double middle = (lo + hi) / 2, product = 1;
        for (size_t i = 0; i < all->count; i++)
            product *= counts(&all->at[i], kind) ? all->at[i].ratio / middle : 1;
        lo = product > 1 ? middle : lo;
        hi = product > 1 ? hi : middle;
    }
    return (lo + hi) / 2;
}

static void add_mean(const struct qs_findings *all, const char *kind, struct qs_buf *text)
{
    double lo = INFINITY, hi = 0;
    int64_t n = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct qs_finding *f = &all->at[i];
        if (!counts(f, kind))
            continue;
        lo = f->ratio < lo ? f->ratio : lo;
        hi = f->ratio > hi ? f->ratio : hi;
        n++;
    }
    if (n < TALLY_LEAST)
        return;
    qs_buf_fmt(text, "; geometric mean of %" PRId64 " ratios", n);
    if (kind[0] != '\0' && strcmp(kind, "duration_ns") != 0 && strcmp(kind, "time") != 0 &&
        strcmp(kind, "ns") != 0)
        qs_buf_fmt(text, " (%s)", kind);
    qs_buf_fmt(text, " %+.1f %%", (mean_of(all, kind, lo, hi) - 1) * 100);
}

void qs_tally_words(const struct qs_findings *all, struct qs_buf *out)
{
    size_t metrics = 0;
    if (all->count < TALLY_LEAST)
        return;
    qs_layout_count(out, (int64_t)all->count, "verdict: ", "verdicts: ");
    add_words(all, out);
    for (size_t i = 0; i < all->count && metrics < METRICS_MOST; i++) {
        if (was_told(all, i))
            continue;
        add_mean(all, kind_of(&all->at[i]), out);
        metrics++;
    }
}

void qs_layout_tally(const struct qs_layout *layout, const struct qs_findings *all, struct qs_buf *out)
{
    struct qs_buf text;
    if (all->count < TALLY_LEAST)
        return;
    qs_buf_init(&text);
    qs_tally_words(all, &text);
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
    qs_buf_done(&text);
}
