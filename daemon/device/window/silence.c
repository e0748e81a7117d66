#include "device/window/silence.h"

#include "proto/names.h"

/* What passed the agent's own TCP socket between its readings, -1 where it does not count. */
static int64_t agent_segments(const struct qs_msg_closed *m)
{
    struct qs_iter it = qs_list_iter(&m->evidence);
    struct qs_evidence e;
    int64_t sum = 0, grown;
    unsigned seen = 0;
    while (qs_list_evidence(&it, &e)) {
        if (!qs_text_is(e.kind, "agent.tcp.in_segments") && !qs_text_is(e.kind, "agent.tcp.out_segments"))
            continue;
        if (e.status != QS_READING_OK || __builtin_sub_overflow(e.after, e.before, &grown) || grown < 0 ||
            __builtin_add_overflow(sum, grown, &sum))
            return -1;
        seen++;
    }
    return seen == 2 ? sum : -1;
}

/* A proof needs one connection between here and the benchmark's machine: behind a forwarded port there is
 * another one, which nobody counts. A USB cable is one, and the agent counts no segments there. */
enum qs_silence qs_silence_claim(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet,
                                 bool local)
{
    int64_t segments = agent_segments(m);
    if (!quiet->silent || m->frames_in_window != 0 || m->unread_bytes_at_close != 0 || segments > 0)
        return QS_SILENCE_NONE;
    bool one_connection = quiet->to.are_transfers || (local && segments == 0);
    return quiet->proven && one_connection ? QS_SILENCE_PROVEN : QS_SILENCE_OBSERVED;
}

static void put(struct qs_evidence_row *out, size_t *n, const char *kind, bool present, uint64_t before,
                uint64_t after)
{
    out[(*n)++] = (struct qs_evidence_row){
        .kind = kind, .present = present, .before = (int64_t)before, .after = (int64_t)after};
}

size_t qs_silence_evidence(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet,
                           struct qs_evidence_row out[QS_SILENCE_ROWS])
{
    const struct qs_link_counters *a = &quiet->from, *b = &quiet->to;
    size_t n = 0;
    if (!quiet->counted)
        return 0;
    put(out, &n, "host.link.in_bytes", true, a->bytes_in, b->bytes_in);
    put(out, &n, "host.link.out_bytes", true, a->bytes_out, b->bytes_out);
    bool both = a->has_segments;
    if (b->are_transfers) {
        put(out, &n, "host.usb.in_transfers", both, a->segments_in, b->segments_in);
        put(out, &n, "host.usb.out_transfers", both, a->segments_out, b->segments_out);
    } else if (b->has_segments) {
        put(out, &n, "host.tcp.in_segments", both, a->segments_in, b->segments_in);
        put(out, &n, "host.tcp.out_segments", both, a->segments_out, b->segments_out);
        put(out, &n, "host.tcp.in_data_segments", both, a->data_segments_in, b->data_segments_in);
        put(out, &n, "host.tcp.out_data_segments", both, a->data_segments_out, b->data_segments_out);
    }
    put(out, &n, "agent.link.in_frames", true, 0, m->frames_in_window);
    put(out, &n, "agent.link.unread_bytes", true, 0, m->unread_bytes_at_close);
    return n;
}

size_t qs_silence_taints(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet,
                         struct qs_taint_row out[QS_SILENCE_ROWS])
{
    int64_t segments = agent_segments(m);
    size_t n = 0;
    if (quiet->counted && quiet->frames > 0)
        out[n++] = (struct qs_taint_row){.i = -1, .code = "link.host_frames", .value = quiet->frames};
    else if (quiet->counted && !quiet->silent)
        out[n++] = (struct qs_taint_row){.i = -1,
                                         .code = "link.host_bytes",
                                         .value = (int64_t)(quiet->to.bytes_in - quiet->from.bytes_in +
                                                            quiet->to.bytes_out - quiet->from.bytes_out)};
    if (segments > 0)
        out[n++] = (struct qs_taint_row){.i = -1, .code = "link.segments", .value = segments};
    return n;
}
