/* The document of a window of stream mode: taken after the window, kept with it, sent with it. */
#include "core/actions.h"

#include <string.h>

/* A frame carries one piece beside its other fields, also the shortest that may be agreed. */
enum { PIECE_MAX_BYTES = 61440, OTHER_FIELDS_BYTES = 2048 };

void qs_act_keep_document(struct qs_agent *agent, size_t closed_bytes)
{
    struct qs_port_document got = {.status = QS_PULL_UNREADABLE};
    size_t cap;
    uint8_t *memory = qs_ring_document(&agent->ring, closed_bytes, &cap);
    cap = cap < agent->run.document_max_bytes ? cap : agent->run.document_max_bytes;
    agent->port.document(agent->port.ctx, memory, cap, &got);
    /* A file may be as long as it likes on its disk, with holes: the wire knows an end. */
    const struct qs_ring_document document = {.has = true,
                                              .status = got.status,
                                              .total_bytes = got.total_bytes < QS_SEQ_MAX ? got.total_bytes
                                                                                          : QS_SEQ_MAX};
    size_t n = got.n;
    if (got.status != QS_PULL_OK) {
        n = strlen(got.why);
        n = n < cap ? n : cap;
        memcpy(memory, got.why, n);
    }
    qs_ring_keep_document(&agent->ring, &document, n);
}

static void send_piece(struct qs_agent *agent, const struct qs_msg_document *m)
{
    qs_talk_send(agent, QS_MSG_DOCUMENT, m);
}

void qs_act_send_document(struct qs_agent *agent, const struct qs_ring_window *held)
{
    const uint8_t *bytes = agent->ring.memory + held->at + held->rows_bytes + held->closed_bytes;
    struct qs_msg_document m = {.run = held->run,
                                .window = held->window,
                                .status = (enum qs_pull_status)held->document.status,
                                .total_bytes = held->document.total_bytes};
    if (!held->document.has) {
        return;
    }
    if (m.status != QS_PULL_OK) {
        m.why = (struct qs_text){.p = (const char *)bytes, .n = (uint16_t)held->document_bytes};
        send_piece(agent, &m);
        return;
    }
    uint32_t most = agent->max_frame_bytes - OTHER_FIELDS_BYTES;
    most = most < PIECE_MAX_BYTES ? most : PIECE_MAX_BYTES;
    m.kept_bytes = (uint32_t)held->document_bytes;
    do {
        uint32_t left = m.kept_bytes - m.offset;
        m.bytes.p = (const char *)bytes + m.offset;
        m.bytes.n = (uint16_t)(left < most ? left : most);
        send_piece(agent, &m);
        m.offset += m.bytes.n;
    } while (m.offset < m.kept_bytes && agent->link_up);
}
