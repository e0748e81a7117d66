/* Inside the simulated port only: what its files share. */
#ifndef QS_SIM_IMPL_H
#define QS_SIM_IMPL_H

#include "sim/port.h"

int64_t qs_sim_device_ns(const struct qs_sim *sim);
/* Brings temperature and processor time up to now. */
void qs_sim_settle(struct qs_sim *sim);
/* How long a command takes this time; timed: with its noise. */
int64_t qs_sim_lasts_ns(struct qs_sim *sim, const struct qs_sim_command *command, bool timed);
void qs_sim_begin_child(struct qs_sim *sim, const struct qs_sim_command *command, bool timed);

/* An agent that has just been started. */
void qs_sim_start_agent(struct qs_sim *sim);

/* bed.c. Below, the device has a board unless it says otherwise. */
void qs_sim_bed_begin(struct qs_sim *sim);
void qs_sim_bed_window(struct qs_sim *sim);           /* one has begun */
struct qs_vboard *qs_sim_board(struct qs_sim *sim);   /* as it is now */
int64_t qs_sim_bed_next_ns(const struct qs_sim *sim); /* by the driver's clock; without a board: never */
bool qs_sim_bed_on_time(struct qs_sim *sim);          /* one thing that is due; false: nothing is */
/* work.c */
void qs_sim_choose_clock(struct qs_sim *sim, const char *cpus); /* "": any */
bool qs_sim_work_start(struct qs_sim *sim, int64_t ns);         /* false: without a board it takes as long */
bool qs_sim_work_rows(struct qs_sim *sim, const struct qs_port_go *go); /* so */
void qs_sim_work_stop(struct qs_sim *sim);                              /* with or without a board */
bool qs_sim_work_load(struct qs_sim *sim, const char *cpus); /* false: it has not all of these processors */
void qs_sim_work_unload(struct qs_sim *sim);
void qs_sim_work_catch_up(struct qs_sim *sim);
int64_t qs_sim_work_next_ns(const struct qs_sim *sim);
void qs_sim_work_on_time(struct qs_sim *sim);
/* knobs.c */
extern const struct qs_port_control qs_sim_control_port;
void qs_sim_knobs_answer(struct qs_sim *sim);
void qs_sim_knobs_lease_end(struct qs_sim *sim);
void qs_sim_knobs_reboot(struct qs_sim *sim); /* the board starts anew, too */
/* found.c */
bool qs_sim_find(void *ctx, const char *pattern, const char *after, struct qs_port_found *found);
void qs_sim_bind(void *ctx, const struct qs_binding *binding);
bool qs_sim_read_bound(struct qs_sim *sim, const char *name, struct qs_port_reading *reading);
size_t qs_sim_bound_evidence(struct qs_sim *sim, bool after, struct qs_port_evidence *rows, size_t cap);
/* What a file says, without blanks around it: bytes, or a negative errno. */
int qs_sim_file_read(struct qs_sim *sim, const char *path, char *text, size_t cap);

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
