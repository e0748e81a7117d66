/* A command of this machine whose standard input and output carry a link's bytes. What it says on standard
 * error is read and dropped but for the last line, which explains its end. A kind of link that is one keeps
 * this at the begin of its own data (link->own). */
#ifndef QS_LINK_COMMAND_H
#define QS_LINK_COMMAND_H

#include "link/link_impl.h"

enum { QS_LINK_COMMAND_LINE_BYTES = 240 };

struct qs_link_command {
    char **argv; /* owned, NULL-terminated */
    size_t count;
    struct qs_child *child;
    int err_fd; /* owned; -1 = none */
    struct qs_io *err_io;
    char line[QS_LINK_COMMAND_LINE_BYTES]; /* of standard error, still growing: what exceeds it is dropped */
    size_t line_len;
    char last[QS_LINK_COMMAND_LINE_BYTES]; /* the last line that was not empty */
    size_t last_len;
    bool stream_over, exited;
    int exit_code, term_signal;
    struct qs_timer *grace;
    struct qs_child *leaving; /* was told to end by close; child is NULL then */
    struct qs_timer *patience;
    /* Appends to the reason why it ended what the kind knows of that; NULL: nothing. */
    void (*explain)(const struct qs_link *link, struct qs_buf *out);
};

void qs_link_command_init(struct qs_link_command *c); /* of zeros */
void qs_link_command_done(struct qs_link_command *c);
void qs_link_command_add(struct qs_link_command *c, const char *word);
void qs_link_command_add_all(struct qs_link_command *c, const struct qs_strings *words);

/* Operations of such a kind (link_impl.h). */
bool qs_link_command_open(struct qs_link *link, struct qs_err *err);
void qs_link_command_close(struct qs_link *link);
void qs_link_command_ended(struct qs_link *link, const struct qs_err *why);

#endif
