/* What is wrong with the sample, and what the programs printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

enum { OUTPUT_LINES = 20 };

struct doubts {
    const struct qs_layout *layout;
    struct qs_buf *out;
    const char *title; /* above the first */
    size_t count;
};

static void add(struct doubts *d, const char *who, const char *text)
{
    QS_BUF(line);
    if (text[0] == '\0')
        return;
    if (d->count++ == 0) {
        qs_buf_char(d->out, '\n');
        qs_face_wrap(&d->layout->face, d->out, "  ", d->title, QS_INK_BOLD);
    }
    qs_buf_fmt(&line, "%s%s%s", who, who[0] != '\0' ? ": " : "", text);
    qs_face_wrap(&d->layout->face, d->out, "  - ", line.data, QS_INK_PLAIN);
}

/* A warning is {code, text}, or text alone. */
static void add_all(struct doubts *d, const char *who, const json_t *warnings)
{
    size_t i;
    const json_t *w;
    json_array_foreach(warnings, i, w)
        add(d, who, json_is_string(w) ? json_string_value(w) : qs_json_get_text(w, "text", ""));
}

/* What failed is counted one by one, all else by windows; value: what its number is. */
static const struct taint_word {
    const char *code, *words;
    bool failed;
    const char *value;
} taint_words[] = {{"gate:cpu.busy_ratio_ppm", "began although the processor was busy", false, NULL},
                   {"cpu.steal_ticks", "had time stolen by the host of this virtual machine", false, NULL},
                   {"sched.involuntary_switches", "had a process preempted often", false, NULL},
                   {"sched.run_delay_ns", "had processes wait for a processor for long", false, NULL},
                   {"program.run_delay_ns", "had the program wait for a processor for long", false, NULL},
                   {"program.rss_bytes", "had memory grow from iteration to iteration", false, NULL},
                   {"agent.stops", "passed while the agent was stopped", false, NULL},
                   {"process.stops", "passed while the benchmark was stopped", false, NULL},
                   {"machine.suspended_ns", "passed while the machine slept", false, NULL},
                   {"link.relay_cpu_us", "passed while others used adb on the device", false, NULL},
                   {"unexpected-exit", "had an exit code that is not accepted: left out", true, "exit code "},
                   {"signalled", "ended by a signal: left out", true, "signal "},
                   {"timed-out", "ran into the time limit: left out", true, NULL},
                   {"left-children", "had a process that left children behind", false, NULL},
                   {"output-cut", "had a process that printed more than is kept", false, NULL},
                   {"prepare-failed", "had a prepare command that failed", false, NULL},
                   {"conclude-failed", "had a conclude command that failed", false, NULL}};

/* Codes with a name behind: what happened to it, and what its number is, in words around it. */
static const struct named_word {
    const char *prefix, *before, *behind, *value, *unit;
    double one;        /* of the unit, in what is stored; 0: 1 */
    const char *bound; /* what the bound is, or NULL: it is none to anybody */
} named_words[] = {
    {"end:", "ended with ", " above its `end_below`", "at ",
     " \xc2\xb0"
     "C",
     1000, "at most "},
    {"gate:freq:", "began although the clock ", " was not at its highest", "at ", " MHz", 1000, "wanted "},
    {"gate:thermal:", "began although ", " was not as the gate wants it", "at ",
     " \xc2\xb0"
     "C",
     1000, "the bound is "},
    {"residency:", "had ", " at another frequency than the one it is held at", "for ", " ms", 0, NULL},
    {"transitions:", "had ", " change its frequency, which is held", "changes: ", "", 0, NULL},
    {"pin:", "had the limit ", " elsewhere than it is held at", "at ", "", 0, "held at "},
    {"cooling:", "had the cooling device ", " change its state: throttling began or ended", "by ", "", 0,
     NULL},
    {"throttle.", "had the processor throttled, as ", " counts", "times: ", "", 0, NULL},
    {"throttled.thermalservice", "were throttled, as Android says", "", "thermal status ", "", 0, NULL},
    {"throttled.", "were throttled or short of voltage, as the firmware says (", ")", "bits: ", "", 0, NULL}};

static const struct named_word *named(const char *code)
{
    for (size_t i = 0; i < sizeof(named_words) / sizeof(named_words[0]); i++)
        if (strncmp(code, named_words[i].prefix, strlen(named_words[i].prefix)) == 0)
            return &named_words[i];
    return NULL;
}

static void add_named(struct qs_buf *text, const struct named_word *word, const char *code,
                      const char *example)
{
    const char *at = strrchr(example, ':');
    long long value = 0, bound = 0;
    double one = word->one > 0 ? word->one : 1;
    int places = word->one > 0 ? 1 : 0;
    qs_buf_fmt(text, " %s%s%s", word->before, code + strlen(word->prefix), word->behind);
    int n = at != NULL ? sscanf(at, ": %lld (bound %lld)", &value, &bound) : 0;
    if (n < 1)
        return;
    qs_buf_fmt(text, " (first: %.*s: %s%.*f%s", (int)(at - example), example, word->value, places,
               (double)value / one, word->unit);
    if (n == 2 && word->bound != NULL)
        qs_buf_fmt(text, ", %s%.*f%s", word->bound, places, (double)bound / one, word->unit);
    qs_buf_char(text, ')');
}

/* Values of a share come in millionths: "block 3, window 0: 380000 (bound 100000)". */
static void add_example(struct qs_buf *text, const char *code, const struct taint_word *word,
                        const char *example)
{
    const char *at = strrchr(example, ':');
    long long value = 0, bound = 0;
    size_t n = strlen(code);
    bool ppm = n > 4 && strcmp(code + n - 4, "_ppm") == 0;
    if (example[0] == '\0')
        return;
    if (ppm && at != NULL && sscanf(at, ": %lld (bound %lld)", &value, &bound) == 2)
        qs_buf_fmt(text, " (first: %.*s: %.0f %%, at most %.0f %%)", (int)(at - example), example,
                   (double)value / 1e4, (double)bound / 1e4);
    else if (word != NULL && word->value != NULL && at != NULL && sscanf(at, ": %lld", &value) == 1)
        qs_buf_fmt(text, " (first: %.*s: %s%lld)", (int)(at - example), example, word->value, value);
    else
        qs_buf_fmt(text, " (first: %s)", example);
}

/* Names of the arms that have it, and the sums over them. */
struct shared {
    struct qs_buf who;
    int64_t windows, iterations;
};

static void share(struct shared *s, const char *who, const json_t *taint)
{
    if (who[0] != '\0')
        qs_buf_fmt(&s->who, "%s%s", s->who.len > 0 ? ", " : "", who);
    s->windows += qs_json_get_int(taint, "windows", 0);
    s->iterations += qs_json_get_int(taint, "iterations", 0);
}

/* One taint, of one arm or of several. */
static void add_taint(struct doubts *d, const struct shared *s, const json_t *taint)
{
    const char *code = qs_json_get_text(taint, "code", "?");
    const struct taint_word *word = NULL;
    QS_BUF(text);
    for (size_t i = 0; i < sizeof(taint_words) / sizeof(taint_words[0]); i++)
        if (strcmp(taint_words[i].code, code) == 0)
            word = &taint_words[i];
    if (word != NULL && word->failed)
        qs_layout_count(&text, s->iterations, "iteration", "iterations");
    else
        qs_layout_count(&text, s->windows, "window", "windows");
    if (named(code) != NULL) {
        add_named(&text, named(code), code, qs_json_get_text(taint, "example", ""));
    } else {
        qs_buf_fmt(&text, word != NULL ? " %s" : " tainted by %s", word != NULL ? word->words : code);
        add_example(&text, code, word, qs_json_get_text(taint, "example", ""));
    }
    const char *busiest = qs_json_get_text(taint, "busiest", "");
    if (busiest[0] != '\0' && strncmp(code, "gate:freq:", strlen("gate:freq:")) != 0) /* there it is to be */
        qs_buf_fmt(&text, "; busiest: %s", busiest);
    add(d, s->who.data, text.data);
}

/* What several arms have in common is said once. */
static void add_taints(struct doubts *d, const char *who, const json_t *taints)
{
    size_t i, k;
    const json_t *taint, *other;
    json_array_foreach(taints, i, taint)
    {
        const char *code = qs_json_get_text(taint, "code", "?");
        struct shared s = {.windows = 0};
        bool first = true;
        qs_buf_init(&s.who);
        json_array_foreach(taints, k, other)
        {
            if (strcmp(qs_json_get_text(other, "code", "?"), code) != 0)
                continue;
            first = first && k >= i;
            share(&s, who[0] != '\0' ? "" : qs_json_get_text(other, "arm", ""), other);
        }
        if (who[0] != '\0')
            share(&s, who, NULL);
        if (first)
            add_taint(d, &s, taint);
        qs_buf_done(&s.who);
    }
}

/* "6 iterations are tainted" and "7 iterations are tainted" are one fact: all but the numbers in front. */
static const char *without_number(const char *text)
{
    return text + strspn(text, "0123456789");
}

static bool same_doubt(const json_t *a, const json_t *b)
{
    return strcmp(qs_json_get_text(a, "code", ""), qs_json_get_text(b, "code", "")) == 0 &&
           strcmp(without_number(qs_json_get_text(a, "text", "")),
                  without_number(qs_json_get_text(b, "text", ""))) == 0;
}

static const json_t *doubt_like(const json_t *arm, const json_t *doubt)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(arm, "warnings"), i, one) if (same_doubt(one, doubt)) return one;
    return NULL;
}

static bool has_warning(const json_t *result, const char *code)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(result, "warnings"), i, one)
    {
        if (strcmp(qs_json_get_text(one, "code", ""), code) == 0)
            return true;
    }
    return false;
}

/* A warning of the arm at `index`, for all arms that have it; nothing where an arm before it did. */
static void add_shared(struct doubts *d, const json_t *arms, size_t index, const json_t *doubt)
{
    QS_BUF(who);
    QS_BUF(numbers);
    const char *text = qs_json_get_text(doubt, "text", "");
    size_t i;
    const json_t *arm;
    bool first = true, alike = true;
    json_array_foreach(arms, i, arm)
    {
        const json_t *one = i == index ? doubt : doubt_like(arm, doubt);
        const char *own = qs_json_get_text(one, "text", "");
        if (one == NULL)
            continue;
        first = first && i >= index;
        alike = alike && strcmp(own, text) == 0;
        qs_buf_fmt(&numbers, "%s%.*s", numbers.len > 0 ? ", " : "", (int)(without_number(own) - own), own);
        qs_buf_fmt(&who, "%s%s", who.len > 0 ? ", " : "", qs_json_get_text(arm, "name", "?"));
    }
    if (alike)
        qs_buf_clear(&numbers);
    qs_buf_str(&numbers, alike ? text : without_number(text));
    if (first)
        add(d, who.data, numbers.data);
}

/* "waited 2 min 46 s for quiet, busiest: cc1" */
static void add_waits(struct doubts *d, const json_t *result)
{
    const double least_ns = 1e9;
    double waited_ns = qs_json_get_number(result, "waited_ns", 0);
    const char *busiest = qs_json_get_text(result, "busiest", "");
    QS_BUF(text);
    if (waited_ns < least_ns)
        return;
    qs_buf_str(&text, "waited ");
    qs_text_duration(&text, waited_ns);
    qs_buf_fmt(&text, " for quiet%s%s", busiest[0] != '\0' ? ", busiest: " : "", busiest);
    add(d, "", text.data);
}

/* The last lines: a window's processes print one after the other. */
static const char *last_lines(const char *text, size_t most)
{
    size_t lines = 0;
    for (const char *s = text + strlen(text); s > text; s--)
        if (s[-1] == '\n' && s[0] != '\0' && ++lines == most)
            return s;
    return text;
}

static void add_output(const struct qs_layout *layout, const json_t *arm, struct qs_buf *out)
{
    const char *text = qs_json_get_text(arm, "output", "");
    QS_BUF(title);
    if (text[0] == '\0')
        return;
    qs_buf_fmt(&title, "Output of %s (the end of its last window)", qs_json_get_text(arm, "name", "?"));
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "  ", title.data, QS_INK_BOLD);
    text = last_lines(text, OUTPUT_LINES);
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        QS_FREED char *line = qs_strndup(text, n);
        qs_face_wrap(&layout->face, out, "  | ", line, QS_INK_PLAIN);
        text += n + (text[n] == '\n');
    }
}

/* They name no point. */
static void add_of_job(struct doubts *d, const json_t *doc)
{
    add_taints(d, "", json_object_get(doc, "taints"));
    add_all(d, "", json_object_get(doc, "warnings"));
}

void qs_layout_job_doubts(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    struct doubts d = {.layout = layout, .out = out, .title = "What to know about all of these samples"};
    if (json_array_size(json_object_get(doc, "results")) > 1)
        add_of_job(&d, doc);
}

void qs_layout_doubts(const struct qs_layout *layout, const json_t *doc, const json_t *result,
                      struct qs_buf *out)
{
    struct doubts d = {.layout = layout, .out = out, .title = "What to know about this sample"};
    size_t i, k;
    const json_t *arm, *metric, *doubt;
    const json_t *arms = json_object_get(result, "arms");
    add_waits(&d, result);
    add_all(&d, "", json_object_get(result, "warnings"));
    json_array_foreach(arms, i, arm)
    {
        json_array_foreach(json_object_get(arm, "warnings"), k, doubt)
        {
            bool said =
                strcmp(qs_json_get_text(doubt, "code", ""), "tainted") == 0 && has_warning(result, "noisy");
            if (!said)
                add_shared(&d, arms, i, doubt);
        }
        add_taints(&d, qs_json_get_text(arm, "name", "?"), json_object_get(arm, "taints"));
    }
    json_array_foreach(json_object_get(result, "metrics"), i, metric)
        add_all(&d, "", json_object_get(metric, "warnings"));
    if (json_array_size(json_object_get(doc, "results")) == 1)
        add_of_job(&d, doc);
    json_array_foreach(arms, i, arm) if (layout->show_output) add_output(layout, arm, out);
}
