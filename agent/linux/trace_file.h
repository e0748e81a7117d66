/* The folder of a tracer: its input, what it says, and the one file that it is to write. Nothing in it is
 * believed: the file counts where it is a regular one with a single name, and is never followed anywhere. */
#ifndef QS_LINUX_TRACE_FILE_H
#define QS_LINUX_TRACE_FILE_H

#include "core/port.h"
#include "proto/msg.h"

enum { QS_TRACE_DIR_BYTES = 64 };

struct qs_trace_file {
    int dir_fd; /* owned; -1: there is none */
    char dir[QS_TRACE_DIR_BYTES];
    uint64_t max_bytes;
    char piece[QS_PULL_MAX_BYTES];
};

void qs_trace_file_init(struct qs_trace_file *f);
/* A fresh folder for one tracer, of this owner (uid, gid) where has_owner. False: errno. */
bool qs_trace_file_make(struct qs_trace_file *f, uint64_t max_bytes);
bool qs_trace_file_give(const struct qs_trace_file *f, uint32_t uid, uint32_t gid);
/* The tracer's standard input with these bytes, or its outputs: descriptors > 2 to be closed by the caller;
 * -1 and errno. */
int qs_trace_file_input(const struct qs_trace_file *f, struct qs_text bytes);
int qs_trace_file_said(const struct qs_trace_file *f);
/* DIR/trace. */
void qs_trace_file_path(const struct qs_trace_file *f, char *path, size_t cap);
/* The end of what it said; returns its length. */
size_t qs_trace_file_tail(const struct qs_trace_file *f, char *text, size_t cap);
/* What there is of the trace; traced->there says whether it may be read. */
void qs_trace_file_look(const struct qs_trace_file *f, struct qs_port_traced *traced);
void qs_trace_file_piece(struct qs_trace_file *f, const struct qs_msg_pull *m, struct qs_port_piece *piece);
/* Removes the folder and what is in it, as deep as a tracer may have built it. */
void qs_trace_file_remove(struct qs_trace_file *f);
/* Removes the folders of agents that were killed. */
void qs_trace_file_sweep(void);

#endif
