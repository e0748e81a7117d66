/* What the process of a window of stream mode writes: its standard output, or a file that it makes (Linux).
 */
#ifndef QS_LINUX_STREAM_H
#define QS_LINUX_STREAM_H

#include "core/port.h"
#include "linux/identity.h"
#include "proto/msg.h"

struct qs_linux_stream {
    bool on; /* the run is of that mode */
    enum qs_stream_source source;
    uint32_t max_bytes;
    const struct qs_identity *as; /* borrowed: whose rights its file is read with; NULL: the agent's */
    int dir_fd;                   /* borrowed: where a relative path begins, or AT_FDCWD */
    int spool_fd;                 /* owned: what is standard output of the window's process; -1: none */
    bool due;                     /* a process was started, and its file was not read yet */
    char path[QS_PATH_MAX_BYTES + 1];
};

void qs_stream_init(struct qs_linux_stream *stream);
/* dir_fd (or AT_FDCWD) and as (or NULL) outlive the run. */
void qs_stream_begin(struct qs_linux_stream *stream, const struct qs_msg_run_begin *run, int dir_fd,
                     const struct qs_identity *as);
void qs_stream_end(struct qs_linux_stream *stream);
/* An empty spool for the window's process. */
bool qs_stream_window(struct qs_linux_stream *stream, struct qs_port_fault *fault);
/* Its process is about to start: false where its file is there already. */
bool qs_stream_start(struct qs_linux_stream *stream, struct qs_port_fault *fault);
/* As qs_port.document; a file is taken away. */
void qs_stream_take(struct qs_linux_stream *stream, uint8_t *memory, size_t cap,
                    struct qs_port_document *document);

#endif
