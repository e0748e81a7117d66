/* Tracers of the simulated device. Their file tells when they were started and told to end. Further words of
 * a tracer "sim": "hang" (ends when it is killed), "early" (ends 1 ms after its start), "bytes=N" (writes N
 * bytes). */
#include "sim/impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EARLY_NS = 1000000, STOP_NS = 1000000 };

static void look_at_word(struct qs_sim_trace *t, const char *word)
{
    if (strcmp(word, "hang") == 0) {
        t->hang = true;
    } else if (strcmp(word, "early") == 0) {
        t->end_ns = t->started_ns + EARLY_NS;
    } else if (strncmp(word, "bytes=", 6) == 0) {
        t->bytes = strtoull(word + 6, NULL, 10);
    }
}

bool qs_sim_trace_start(void *ctx, const struct qs_msg_trace *m, struct qs_port_fault *fault)
{
    struct qs_sim *sim = ctx;
    struct qs_sim_trace *t = &sim->trace;
    struct qs_iter it = qs_list_iter(&m->argv);
    struct qs_text text;
    char word[64];
    *t = (struct qs_sim_trace){
        .end_ns = INT64_MAX, .max_bytes = m->max_bytes, .started_ns = qs_sim_device_ns(sim)};
    for (bool first = true; qs_list_text(&it, &text); first = false) {
        qs_text_copy(text, word, sizeof word);
        if (first && strcmp(word, "sim") != 0) {
            snprintf(fault->text, sizeof fault->text, "the simulated device has no tracer '%s'", word);
            return false;
        }
        look_at_word(t, word);
    }
    t->on = true;
    return true;
}

bool qs_sim_trace_end(void *ctx, bool hard)
{
    struct qs_sim *sim = ctx;
    struct qs_sim_trace *t = &sim->trace;
    if (!t->on) {
        return false;
    }
    t->told_ns = t->told_ns != 0 ? t->told_ns : qs_sim_device_ns(sim);
    if (hard || !t->hang) {
        t->end_ns = qs_sim_device_ns(sim) + (hard ? 0 : STOP_NS);
    }
    return true;
}

void qs_sim_trace_over(struct qs_sim *sim)
{
    sim->trace.on = false;
    sim->trace.ended_ns = qs_sim_device_ns(sim);
}

void qs_sim_trace_result(void *ctx, struct qs_port_traced *traced)
{
    struct qs_sim *sim = ctx;
    struct qs_sim_trace *t = &sim->trace;
    if (t->on) {
        qs_sim_trace_over(sim);
    }
    int n =
        snprintf(t->file, sizeof t->file, "simulated trace\nstarted_ns %" PRId64 "\nstopped_ns %" PRId64 "\n",
                 t->started_ns, t->told_ns);
    uint64_t wished = t->bytes > 0 ? t->bytes : (uint64_t)n;
    t->total_bytes = wished < t->max_bytes ? wished : t->max_bytes;
    *traced = (struct qs_port_traced){.there = true,
                                      .ended_ns = t->ended_ns,
                                      .flags = wished >= t->max_bytes ? QS_TRACE_CUT : 0,
                                      .total_bytes = t->total_bytes};
    snprintf(traced->why, sizeof traced->why, "the simulated tracer ended");
}

void qs_sim_pull(void *ctx, const struct qs_msg_pull *m, struct qs_port_piece *piece)
{
    struct qs_sim *sim = ctx;
    struct qs_sim_trace *t = &sim->trace;
    *piece = (struct qs_port_piece){.status = QS_PULL_OK};
    if (m->source == QS_PULL_FILE || (m->source == QS_PULL_TRACE && t->total_bytes == 0)) {
        piece->status = QS_PULL_MISSING;
        snprintf(piece->why, sizeof piece->why, "the simulated device has no files");
    }
    if (m->source != QS_PULL_TRACE || m->offset >= t->total_bytes) {
        return;
    }
    uint64_t left = t->total_bytes - m->offset;
    piece->total_bytes = t->total_bytes;
    piece->n = left < m->max_bytes ? (size_t)left : m->max_bytes;
    for (size_t i = 0; i < piece->n; i++) {
        uint64_t at = m->offset + i;
        t->piece[i] = at < strlen(t->file) ? t->file[at] : '.';
    }
    piece->bytes = t->piece;
}
