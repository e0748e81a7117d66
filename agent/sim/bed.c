/* Time on a board: its own, what happens to it, and what is due. */
#include "sim/impl.h"

#include "sim/board/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS INT64_C(1000000)

/* "unplug 5000", "reboot 2000": for how long nobody reaches the device; 0: it is neither. */
static int64_t away_ms(const char *words, bool *reboot)
{
    static const char *const known[] = {"unplug ", "reboot "};
    for (size_t i = 0; i < 2; i++) {
        if (strncmp(words, known[i], strlen(known[i])) == 0) {
            char *end;
            long long ms = strtoll(words + strlen(known[i]), &end, 10);
            *reboot = i == 1;
            return *end == '\0' && ms > 0 && ms <= 86400000 ? ms : 0;
        }
    }
    return 0;
}

static bool try_events(struct qs_sim_bed *bed)
{
    bool reboot;
    for (size_t i = 0; i < bed->event_count; i++) {
        const char *words = bed->events[i].words;
        if (strlen(words) >= QS_SIM_WORDS_BYTES ||
            (away_ms(words, &reboot) == 0 && !qs_vboard_command(&bed->board, words))) {
            snprintf(bed->why, sizeof bed->why, "`%.80s`: %.160s", words,
                     bed->board.why[0] ? bed->board.why : "the line is too long");
            return false;
        }
    }
    return true;
}

bool qs_sim_bed_open(struct qs_sim_bed *bed, const char *tree, const struct qs_sim_event *events, size_t n)
{
    memset(bed, 0, sizeof *bed);
    bed->events = events;
    bed->event_count = n;
    if (n > QS_SIM_EVENTS_MAX) {
        snprintf(bed->why, sizeof bed->why, "more than %d events", QS_SIM_EVENTS_MAX);
        return false;
    }
    if (!qs_vboard_load(&bed->board, tree)) {
        snprintf(bed->why, sizeof bed->why, "%.255s", bed->board.why);
        return false;
    }
    bed->at_boot = bed->board;
    if (!try_events(bed)) {
        return false;
    }
    bed->board = bed->at_boot;
    snprintf(bed->restored, sizeof bed->restored, "none");
    bed->question.due_ns = bed->lease_end_ns = INT64_MAX;
    return true;
}

void qs_sim_bed_begin(struct qs_sim *sim)
{
    struct qs_sim_bed *bed = sim->options.bed;
    bed->start_ns = sim->now_ns;
    qs_sim_choose_clock(sim, "");
    for (size_t i = 0; i < bed->event_count; i++) {
        const struct qs_sim_event *e = &bed->events[i];
        bed->due_ns[i] = e->window == 0 ? sim->now_ns + e->at_ns : INT64_MAX;
    }
}

void qs_sim_bed_window(struct qs_sim *sim)
{
    struct qs_sim_bed *bed = sim->options.bed;
    bed->windows++;
    for (size_t i = 0; i < bed->event_count; i++) {
        if (bed->events[i].window == bed->windows) {
            bed->due_ns[i] = sim->now_ns + bed->events[i].at_ns;
        }
    }
}

struct qs_vboard *qs_sim_board(struct qs_sim *sim)
{
    struct qs_sim_bed *bed = sim->options.bed;
    qs_vboard_on_time(&bed->board, (sim->now_ns - bed->start_ns) / 1000);
    return &bed->board;
}

/* The link is cut. A device that restarts has forgotten all but what is on its disk. */
static void go_away(struct qs_sim *sim, int64_t ms, bool reboot)
{
    struct qs_sim_bed *bed = sim->options.bed;
    bed->away_until_ns = sim->now_ns + ms * MS_NS;
    if (sim->agent.link_up) {
        sim->on_close(sim->ctx);
    }
    if (reboot) {
        qs_sim_work_stop(sim);
        qs_sim_knobs_reboot(sim);
        bed->bound_count = 0;
        qs_sim_start_agent(sim);
    } else {
        qs_agent_on_link_down(&sim->agent);
    }
}

static void happen(struct qs_sim *sim, size_t i)
{
    struct qs_sim_bed *bed = sim->options.bed;
    bool reboot = false;
    int64_t ms = away_ms(bed->events[i].words, &reboot);
    bed->due_ns[i] = INT64_MAX;
    if (ms > 0) {
        go_away(sim, ms, reboot);
    } else {
        qs_sim_work_catch_up(sim);
        (void)qs_vboard_command(&bed->board, bed->events[i].words); /* it was tried */
    }
}

bool qs_sim_takes_link(const struct qs_sim *sim)
{
    return qs_agent_takes_link(&sim->agent) &&
           (!sim->options.bed || sim->now_ns >= sim->options.bed->away_until_ns);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t qs_sim_bed_next_ns(const struct qs_sim *sim)
{
    const struct qs_sim_bed *bed = sim->options.bed;
    int64_t next = INT64_MAX;
    if (bed) {
        next = least(least(bed->question.due_ns, bed->lease_end_ns), qs_sim_work_next_ns(sim));
        for (size_t i = 0; i < bed->event_count; i++) {
            next = least(next, bed->due_ns[i]);
        }
    }
    return next;
}

bool qs_sim_bed_on_time(struct qs_sim *sim)
{
    struct qs_sim_bed *bed = sim->options.bed;
    if (!bed || qs_sim_bed_next_ns(sim) > sim->now_ns) {
        return false;
    }
    if (qs_sim_work_next_ns(sim) <= sim->now_ns) {
        qs_sim_work_on_time(sim);
    } else if (bed->question.due_ns <= sim->now_ns) {
        qs_sim_knobs_answer(sim);
    } else if (bed->lease_end_ns <= sim->now_ns) {
        qs_sim_knobs_lease_end(sim);
    } else {
        size_t i = 0;
        while (bed->due_ns[i] > sim->now_ns) {
            i++;
        }
        happen(sim, i);
    }
    return true;
}
