/* Inside the simulated port only: what its two files share. */
#ifndef QS_SIM_IMPL_H
#define QS_SIM_IMPL_H

#include "sim/port.h"

int64_t qs_sim_device_ns(const struct qs_sim *sim);
/* Brings temperature and processor time up to now. */
void qs_sim_settle(struct qs_sim *sim);
/* How long a command takes this time; timed: with its noise. */
int64_t qs_sim_lasts_ns(struct qs_sim *sim, const struct qs_sim_command *command, bool timed);
void qs_sim_begin_child(struct qs_sim *sim, const struct qs_sim_command *command, bool timed);

/* stream.c: qs_port.document */
void qs_sim_document(void *ctx, uint8_t *memory, size_t cap, struct qs_port_document *document);

/* harness.c: false where the memory is too small. */
bool qs_sim_harness_open(struct qs_sim *sim, const struct qs_msg_run_begin *run, struct qs_port_ready *ready);
bool qs_sim_program_start(void *ctx, struct qs_port_fault *fault);
void qs_sim_program_go(void *ctx, const struct qs_port_go *go);
void qs_sim_program_quit(void *ctx);
void qs_sim_program_look(void *ctx, struct qs_port_look *look);
bool qs_sim_program_metric(void *ctx, uint32_t i, struct qs_port_metric *metric);
void qs_sim_program_row(void *ctx, uint32_t i, uint32_t metrics, struct qs_port_row *row);
void qs_sim_program_clock(void *ctx, struct qs_port_clock *out);

/* trace.c */
bool qs_sim_trace_start(void *ctx, const struct qs_msg_trace *m, struct qs_port_fault *fault);
bool qs_sim_trace_end(void *ctx, bool hard);
void qs_sim_trace_over(struct qs_sim *sim); /* its time has come */
void qs_sim_trace_result(void *ctx, struct qs_port_traced *traced);
void qs_sim_pull(void *ctx, const struct qs_msg_pull *m, struct qs_port_piece *piece);

/* files.c */
extern const struct qs_port_files qs_sim_files_port;

#endif
