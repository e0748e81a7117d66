/* Many verdicts in a line: how many of each, and the geometric mean of the ratios of each metric. */
#include <inttypes.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/layout/finding.h"

enum { METRICS_MOST = 4, TALLY_LEAST = 2 };

static bool is_noun(const char *word)
{
    return strstr(word, "regression") != NULL || strstr(word, "improvement") != NULL;
}

static void add_words(const json_t *verdicts, struct qs_buf *text)
{
    size_t i;
    const json_t *one;
    json_array_foreach(verdicts, i, one)
    {
        const char *word = qs_json_get_text(one, "verdict", "");
        int64_t n = qs_json_get_int(one, "n", 0);
        qs_buf_fmt(text, "%s%" PRId64 " %s%s", i > 0 ? ", " : "", n, word, n > 1 && is_noun(word) ? "s" : "");
    }
}

static void add_mean(const json_t *ratios, struct qs_buf *text)
{
    const char *metric = qs_json_get_text(ratios, "metric", "");
    int64_t n = qs_json_get_int(ratios, "n", 0);
    if (n < TALLY_LEAST)
        return;
    qs_buf_fmt(text, "; geometric mean of %" PRId64 " ratios", n);
    if (metric[0] != '\0' && strcmp(metric, "duration_ns") != 0 && strcmp(metric, "time") != 0 &&
        strcmp(metric, "ns") != 0)
        qs_buf_fmt(text, " (%s)", metric);
    qs_buf_fmt(text, " %+.1f %%", (qs_json_get_number(ratios, "geometric_mean", 1) - 1) * 100);
}

void qs_tally_words(const json_t *doc, struct qs_buf *out)
{
    const json_t *tally = json_object_get(doc, "tally"), *one;
    const json_t *verdicts = json_object_get(tally, "verdicts");
    int64_t all = 0;
    size_t i;
    json_array_foreach(verdicts, i, one) all += qs_json_get_int(one, "n", 0);
    if (all < TALLY_LEAST)
        return;
    qs_layout_count(out, all, "verdict: ", "verdicts: ");
    add_words(verdicts, out);
    json_array_foreach(json_object_get(tally, "ratios"), i, one)
    {
        if (i < METRICS_MOST)
            add_mean(one, out);
    }
}

void qs_layout_tally(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    struct qs_buf text;
    qs_buf_init(&text);
    qs_tally_words(doc, &text);
    if (text.len > 0) {
        qs_buf_char(out, '\n');
        qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
    }
    qs_buf_done(&text);
}
