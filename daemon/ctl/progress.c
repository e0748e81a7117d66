#include "ctl/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

enum { ANNOUNCE_NS = 2000000000, WAITED_LEAST_NS = 1000000000, PLAIN_EVERY_BLOCKS = 5, HELD_SHOWN = 4 };

void qs_progress_init(struct qs_progress *p, bool live, bool quiet)
{
    *p = (struct qs_progress){.live = live, .quiet = quiet, .noted_block = -1, .exit = -1};
    qs_buf_init(&p->line);
    qs_buf_init(&p->notes);
}

void qs_progress_done(struct qs_progress *p)
{
    qs_buf_done(&p->line);
    qs_buf_done(&p->notes);
}

__attribute__((format(printf, 2, 3))) static void note(struct qs_progress *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    qs_buf_vfmt(&p->notes, fmt, ap);
    va_end(ap);
    qs_buf_char(&p->notes, '\n');
}

/* The line now; it stays as a note where it cannot be redrawn and `keep` asks for it. */
static void end_line(struct qs_progress *p, bool keep)
{
    if (!p->live && keep && !p->quiet)
        note(p, "%s", p->line.data);
}

static void add_percent(struct qs_buf *out, double ratio)
{
    double percent = ratio * 100;
    qs_buf_fmt(out, percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
}

static void add_goal(struct qs_buf *out, double ratio)
{
    qs_buf_fmt(out, "%g %%", ratio * 100);
}

/* ", waited 2 min 46 s for quiet (cc1)"; nothing below a second. */
static void add_waited(struct qs_buf *out, const json_t *d)
{
    const char *busiest = qs_json_get_text(d, "busiest", "");
    double waited_ns = qs_json_get_number(d, "waited_ns", 0);
    if (waited_ns < WAITED_LEAST_NS)
        return;
    qs_buf_str(out, ", waited ");
    qs_text_duration(out, waited_ns);
    qs_buf_str(out, " for quiet");
    if (busiest[0] != '\0')
        qs_buf_fmt(out, " (%s)", busiest);
}

static void on_progress(struct qs_progress *p, const json_t *d)
{
    int64_t block = qs_json_get_int(d, "block", 0);
    int64_t most = qs_json_get_int(d, "blocks_max", 0);
    int64_t look = qs_json_get_int(d, "next_look", qs_json_get_int(d, "blocks_min", 0));
    int64_t points = qs_json_get_int(d, "points", 1);
    double half = qs_json_get_number(d, "half_width_ratio", -1);
    double goal = qs_json_get_number(d, "goal_ratio", 0);
    double eta_ns = qs_json_get_number(d, "eta_ns", -1);
    if (points > 1)
        qs_buf_fmt(&p->line, "point %" PRId64 " of %" PRId64 ", ", qs_json_get_int(d, "point", 0) + 1,
                   points);
    qs_buf_fmt(&p->line, "block %" PRId64 " of ", block);
    if (look > 0 && look >= block && look < most)
        qs_buf_fmt(&p->line, "%" PRId64 "–", look);
    qs_buf_fmt(&p->line, "%" PRId64, most);
    if (half >= 0) {
        qs_buf_str(&p->line, ", ±");
        add_percent(&p->line, half);
        if (goal > 0) {
            qs_buf_str(&p->line, " (goal ±");
            add_goal(&p->line, goal);
            qs_buf_char(&p->line, ')');
        }
    }
    if (eta_ns >= 0) {
        double s = eta_ns / 1e9;
        if (s < 60)
            qs_buf_fmt(&p->line, ", ≤ %.0f s left", s < 1 ? 1 : s + 0.499);
        else {
            qs_buf_str(&p->line, ", ≤ ");
            qs_text_duration(&p->line, eta_ns);
            qs_buf_str(&p->line, " left");
        }
    }
    add_waited(&p->line, d);
    bool due = block % PLAIN_EVERY_BLOCKS == 0 || block == most || p->noted_block < 0;
    if (due)
        p->noted_block = block;
    end_line(p, due);
}

/* The first job that changes this device tries it first. */
static void on_probing(struct qs_progress *p, const json_t *d)
{
    const char *device = qs_json_get_text(d, "device", "the device");
    int64_t clocks = qs_json_get_int(d, "clocks", 0), switches = qs_json_get_int(d, "switches", 0);
    if (p->quiet)
        return;
    QS_BUF(text);
    qs_buf_fmt(&text, "%s is new, or its system is: ", device);
    qs_layout_count(&text, clocks, "clock", "clocks");
    qs_buf_str(&text, switches > 0 ? " and " : "");
    if (switches > 0)
        qs_layout_count(&text, switches, "switch", "switches");
    qs_buf_str(&text, clocks + switches == 1 ? " is" : " are");
    qs_buf_str(&text, " tried and put back before anything is measured, in about ");
    qs_text_duration(&text, qs_json_get_number(d, "takes_ns", 0));
    note(p, "%s", text.data);
}

/* What is done, and how long all of it takes: the same phase is not told again where lines stay. */
static void on_characterizing(struct qs_progress *p, const json_t *d)
{
    static const char *const words[][2] = {{"rest", "at rest"},
                                           {"warms", "under load"},
                                           {"cools", "cooling down"},
                                           {"soak", "held under load"},
                                           {"knobs", "what is written is tried"},
                                           {"sensors", "sensors are read under load"}};
    const char *phase = qs_json_get_text(d, "phase", "");
    int64_t stage = qs_json_get_int(d, "stage", 0) + 1, stages = qs_json_get_int(d, "stages", 0);
    int64_t at = strcmp(phase, "sensors") == 0
                     ? 1
                     : 3 * stage + (strcmp(phase, "warms") == 0) + 2 * (strcmp(phase, "cools") == 0);
    qs_buf_fmt(&p->line, "stage %" PRId64 " of %" PRId64 " (%s), ", stage, stages,
               qs_json_get_text(d, "domain", "?"));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i][0], phase) == 0)
            qs_buf_str(&p->line, words[i][1]);
    qs_buf_str(&p->line, "; about ");
    qs_text_duration(&p->line, qs_json_get_number(d, "left_ns", 0));
    qs_buf_str(&p->line, " left");
    end_line(p, at != p->noted_block);
    p->noted_block = at;
}

static void on_characterized(struct qs_progress *p, const json_t *d)
{
    static const char *const words[][2] = {{"warms", "warms up"}, {"cools", "cools down"}};
    for (size_t i = 0; i < 2 && !p->quiet; i++) {
        const json_t *c = json_object_get(d, words[i][0]);
        QS_BUF(text);
        qs_layout_curve(c, &text);
        note(p, "%s, %s: %s %s", qs_json_get_text(d, "domain", "?"), qs_json_get_text(d, "sensor", "?"),
             words[i][1], text.data);
    }
}

static void on_soaked(struct qs_progress *p, const json_t *d)
{
    if (!p->quiet)
        note(p, "%s: %s %.0f MHz; %s", qs_json_get_text(d, "domain", "?"),
             strcmp(qs_json_get_text(d, "says", ""), "ok") == 0 ? "it sustains" : "sustains at least",
             qs_json_get_number(d, "khz", 0) / 1000, qs_json_get_text(d, "why", ""));
}

/* Each that cannot be relied on, then how many can. */
static void on_knobs(struct qs_progress *p, const json_t *d)
{
    size_t i;
    const json_t *one, *doubtful = json_object_get(d, "doubtful");
    int64_t tried = qs_json_get_int(d, "tried", 0), bad = (int64_t)json_array_size(doubtful);
    if (p->quiet)
        return;
    json_array_foreach(doubtful, i, one)
    {
        QS_BUF(text);
        qs_layout_knob(one, &text);
        note(p, "%s", text.data);
    }
    note(p, "%" PRId64 " of %" PRId64 " stay as they are written%s", tried - bad, tried,
         bad > 0 ? "; the others are named above" : "");
}

static void on_gate_waiting(struct qs_progress *p, const json_t *d)
{
    qs_buf_str(&p->line, "waiting for quiet: ");
    qs_buf_str(&p->line, qs_json_get_text(d, "text", ""));
    const char *busiest = qs_json_get_text(d, "busiest", "");
    if (busiest[0] != '\0')
        qs_buf_fmt(&p->line, ", busiest: %s", busiest);
    double timeout_ns = qs_json_get_number(d, "timeout_ns", 0);
    if (timeout_ns >= WAITED_LEAST_NS) {
        qs_buf_str(&p->line, ", for ");
        qs_text_duration(&p->line, timeout_ns);
        qs_buf_str(&p->line, " at most");
    }
    double waited_ns = qs_json_get_number(d, "waited_ns", 0);
    if (waited_ns >= WAITED_LEAST_NS) {
        qs_buf_str(&p->line, "; ");
        qs_text_duration(&p->line, waited_ns);
        qs_buf_str(&p->line, " before");
    }
    end_line(p, p->gate_waits++ == 0);
}

/* "pushing 3 files, 12.0 MB": nothing where the device has them all. */
static void on_push(struct qs_progress *p, const json_t *d)
{
    int64_t files = qs_json_get_int(d, "files", 0);
    if (files == 0)
        return;
    char size[32];
    qs_layout_bytes(size, (double)qs_json_get_int(d, "bytes", 0));
    qs_buf_fmt(&p->line, "pushing %" PRId64 " file%s, %s", files, files == 1 ? "" : "s", size);
    end_line(p, true);
}

/* The first time: arms under conditions of their own would hide how far the job is. */
static void on_pinned(struct qs_progress *p, const json_t *d)
{
    const json_t *held = json_object_get(d, "held");
    size_t n = json_array_size(held);
    int64_t again = qs_json_get_int(d, "again", 0);
    if (again > 0) {
        note(p,
             "something on the device had changed what is held; it is held again (%" PRId64 " time%s so far)",
             again, again == 1 ? "" : "s");
        return;
    }
    if (n == 0 || p->holds++ > 0)
        return;
    qs_buf_clear(&p->line);
    qs_buf_str(&p->line, "holding ");
    for (size_t i = 0; i < n && i < HELD_SHOWN; i++) {
        const char *text = json_string_value(json_array_get(held, i));
        qs_buf_fmt(&p->line, "%s%s", i > 0 ? "; " : "", text ? text : "?");
    }
    if (n > HELD_SHOWN)
        qs_buf_fmt(&p->line, "; and %zu more", n - HELD_SHOWN);
    end_line(p, true);
}

/* What a job prints is meant to be read. */
static void on_print(struct qs_progress *p, const json_t *d)
{
    if (!p->quiet)
        note(p, "%s: %s", qs_json_get_text(d, "place", "?"), qs_json_get_text(d, "text", ""));
}

/* A step that takes its time: "before_run[0]: sleep 5 s". */
static void on_action(struct qs_progress *p, const json_t *d)
{
    qs_buf_fmt(&p->line, "%s: %s", qs_json_get_text(d, "place", "?"), qs_json_get_text(d, "text", ""));
    end_line(p, true);
}

/* Which they are, warnings have told. */
static void on_restored(struct qs_progress *p, const json_t *d)
{
    int64_t left = qs_json_get_int(d, "left", 0);
    if (left > 0)
        note(p, "%" PRId64 " setting%s of the device could not be put back", left, left == 1 ? "" : "s");
}

static void on_held(struct qs_progress *p, const json_t *d)
{
    qs_buf_fmt(&p->line, "waiting for others: %s", qs_json_get_text(d, "why", ""));
    end_line(p, p->gate_waits++ == 0);
}

/* The first is told, the rest are counted: a persistent neighbour would fill the screen. */
static void on_gate_timeout(struct qs_progress *p, const json_t *d)
{
    const char *busiest = qs_json_get_text(d, "busiest", "");
    bool tainted = strcmp(qs_json_get_text(d, "outcome", "tainted"), "tainted") == 0;
    if (p->gate_timeouts++ > 0 || p->quiet)
        return;
    const char *sensor = qs_json_get_text(d, "sensor", "");
    bool clock = strncmp(sensor, "freq:", strlen("freq:")) == 0; /* busy is what it is meant to be */
    if (clock)
        busiest = "";
    note(p, "%s%s in time%s%s%s", clock ? sensor : "", clock ? " did not get there" : "not quiet",
         busiest[0] != '\0' ? ", busiest: " : "", busiest,
         tainted ? "; measured anyway and tainted (said once, counted in the result)" : "");
}

static void on_queued(struct qs_progress *p, const json_t *d)
{
    int64_t before = qs_json_get_int(d, "position", 0);
    const char *why = qs_json_get_text(d, "why", "");
    if (before <= 0 && why[0] == '\0')
        return;
    qs_buf_str(&p->line, "queued");
    if (before > 1)
        qs_buf_fmt(&p->line, ", %" PRId64 " jobs before it", before);
    if (why[0] != '\0')
        qs_buf_fmt(&p->line, ": %s", why);
    if (!p->quiet)
        note(p, "%s", p->line.data);
    qs_buf_clear(&p->line);
    qs_buf_str(&p->line, "waiting for its turn");
}

static void on_start(struct qs_progress *p, const json_t *d)
{
    const char *simulated = qs_json_get_true(d, "simulated") ? " (simulated)" : "";
    qs_buf_fmt(&p->line, "measuring on %s%s, seed %s: warming up", qs_json_get_text(d, "device", "?"),
               simulated, qs_json_get_text(d, "seed", "?")); /* 64 bits come as text */
    end_line(p, true);
}

static void on_plan(struct qs_progress *p, const json_t *d)
{
    int64_t n = qs_json_get_int(d, "iterations_per_run", 0);
    if (n > 0)
        qs_buf_fmt(&p->line, "%" PRId64 " iteration%s a run", n, n == 1 ? "" : "s");
    else /* mode stream */
        qs_buf_str(&p->line, "one process per run, with the values that it writes");
    qs_buf_str(&p->line, ", a block takes about ");
    qs_text_duration(&p->line, qs_json_get_number(d, "predicted_block_ns", 0));
    end_line(p, true);
}

static void on_evals(struct qs_progress *p, const json_t *d)
{
    qs_buf_str(&p->line, "evaluations: ");
    qs_layout_evals(json_object_get(d, "evaluations"), &p->line);
    end_line(p, true);
}

static void on_planned(struct qs_progress *p, const json_t *d)
{
    if (!p->quiet)
        note(p, "planned: %" PRId64 " iterations a run, %" PRId64 " blocks, for ±%.2g %%%s",
             qs_json_get_int(d, "iterations_per_run", 0), qs_json_get_int(d, "blocks", 0),
             100 * qs_json_get_number(d, "half_width_ratio", 0),
             json_is_false(json_object_get(d, "attainable"))
                 ? ", wider than wanted: no more blocks are allowed"
                 : "");
}

static void on_shortened(struct qs_progress *p, const json_t *d)
{
    if (!p->quiet)
        note(p, "%s", qs_json_get_text(d, "text", "?"));
}

static void on_announce(struct qs_progress *p, const json_t *d)
{
    double ns = qs_json_get_number(d, "predicted_ns", 0);
    if (ns < ANNOUNCE_NS)
        return;
    qs_buf_fmt(&p->line, "silent now: %s takes about ", qs_json_get_text(d, "arm", "a window"));
    qs_text_duration(&p->line, ns);
    end_line(p, p->announced++ == 0);
}

static void on_repeat(struct qs_progress *p, const json_t *d)
{
    if (p->repeats++ == 0 && !p->quiet)
        note(p, "block %" PRId64 " is repeated: %s", qs_json_get_int(d, "block", 0),
             qs_json_get_text(d, "why", "it was interrupted"));
}

static void on_warning(struct qs_progress *p, const json_t *d)
{
    note(p, "warning: %s", qs_json_get_text(d, "text", ""));
}

static void on_lost(struct qs_progress *p, const json_t *d)
{
    note(p, "device %s is lost: %s", qs_json_get_text(d, "device", "?"), qs_json_get_text(d, "why", ""));
}

/* Its end is decided, and not yet on disk. */
static void on_waiting(struct qs_progress *p, const json_t *d)
{
    note(p, "the job has ended, %s", qs_json_get_text(d, "why", "waiting for the disk"));
}

static void on_back(struct qs_progress *p, const json_t *d)
{
    note(p, "device %s is back", qs_json_get_text(d, "device", "?"));
}

static void on_result(struct qs_progress *p, const json_t *d)
{
    p->exit = (int)qs_json_get_int(d, "exit", 0);
    p->fail_on_regression = qs_json_get_true(d, "fail_on_regression");
}

static void on_state(struct qs_progress *p, const json_t *d)
{
    static const char *const final[] = {"done", "failed", "cancelled"};
    snprintf(p->state, sizeof(p->state), "%s", qs_json_get_text(d, "state", "?"));
    snprintf(p->reason, sizeof(p->reason), "%s", qs_json_get_text(d, "reason", ""));
    for (size_t i = 0; i < 3; i++)
        p->ended = p->ended || strcmp(p->state, final[i]) == 0;
}

static const struct {
    const char *kind;
    void (*on)(struct qs_progress *p, const json_t *d);
    bool keeps_line; /* what it says does not replace the line */
} kinds[] = {{"job.progress", on_progress, false},
             {"job.characterizing", on_characterizing, false},
             {"job.characterized", on_characterized, true},
             {"job.soaked", on_soaked, true},
             {"job.knobs", on_knobs, true},
             {"job.probing", on_probing, true},
             {"gate.waiting", on_gate_waiting, false},
             {"window.held", on_held, false},
             {"gate.timeout", on_gate_timeout, true},
             {"job.queued", on_queued, false},
             {"job.start", on_start, false},
             {"job.push", on_push, false},
             {"job.pinned", on_pinned, true},
             {"job.restored", on_restored, true},
             {"action.print", on_print, true},
             {"action.begin", on_action, false},
             {"job.evals", on_evals, false},
             {"job.plan", on_plan, false},
             {"job.planned", on_planned, true},
             {"job.shortened", on_shortened, true},
             {"window.announce", on_announce, false},
             {"block.repeat", on_repeat, true},
             {"job.warning", on_warning, true},
             {"job.lost", on_lost, true},
             {"job.back", on_back, true},
             {"job.waiting", on_waiting, true},
             {"job.result", on_result, true},
             {"job.state", on_state, true}};

void qs_progress_on_event(struct qs_progress *p, const char *kind, const json_t *data)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].kind, kind) == 0) {
            if (!kinds[i].keeps_line)
                qs_buf_clear(&p->line);
            kinds[i].on(p, data);
        }
}
