#include "agent_pipe.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HEARTBEAT_MS = 60000, LIST_BYTES = QS_ENV_MAX_BYTES };

#define SPAN_NS  INT64_C(60000000000)
#define LEASE_NS INT64_C(120000000000)

static void die(const char *what)
{
    fprintf(stderr, "agent_pipe: %s\n", what);
    exit(1);
}

static size_t begin(struct agent_pipe *a, struct qs_writer *w)
{
    qs_writer_init(w, a->tx, QS_FRAME_BUF_BYTES);
    return qs_frame_begin(w);
}

static void end(struct agent_pipe *a, struct qs_writer *w, size_t at, uint8_t type)
{
    if (!qs_frame_end(w, at, type, a->seq++))
        die("a message does not fit the wire");
    for (size_t sent = 0; sent < w->len;) {
        ssize_t n = write(a->in_fd, a->tx + sent, w->len - sent);
        if (n <= 0)
            die("the agent hung up");
        sent += (size_t)n;
    }
}

/* The next frame, which must be of this type. */
static struct qs_frame expect(struct agent_pipe *a, uint8_t type)
{
    for (;;) {
        struct qs_frame frame;
        size_t used = 0;
        int got = qs_framer_feed(&a->framer, a->bytes + a->at, a->len - a->at, &used, &frame);
        a->at += used;
        if (got < 0)
            die(qs_wire_err_text(got));
        if (got > 0 && frame.type == type)
            return frame;
        if (got > 0)
            die(qs_msg_name(frame.type));
        ssize_t n = read(a->out_fd, a->bytes, sizeof a->bytes);
        if (n <= 0)
            die("the agent hung up");
        a->at = 0;
        a->len = (size_t)n;
    }
}

static void hello(struct agent_pipe *a)
{
    const struct qs_msg_hello_host m = {.proto_min = QS_PROTO_MIN,
                                        .proto_max = QS_PROTO_MAX,
                                        .features =
                                            QS_FEATURE_COMMAND | QS_FEATURE_PRIORITY, /* gates of 20 lines */
                                        .farm = {{0xfa}},
                                        .session = {{0x5e}},
                                        .heartbeat_ms = HEARTBEAT_MS,
                                        .max_frame_bytes = QS_FRAME_MAX_BYTES,
                                        .software = qs_text_of("bench")};
    struct qs_writer w;
    size_t at = begin(a, &w);
    qs_msg_encode_hello_host(&w, &m);
    end(a, &w, at, QS_MSG_HELLO_HOST);
    expect(a, QS_MSG_HELLO_AGENT);
    expect(a, QS_MSG_HELD);
}

void agent_pipe_start(struct agent_pipe *a, const char *path, const char *sysfs)
{
    int to[2];
    int from[2];
    memset(a, 0, sizeof *a);
    a->rx = malloc(QS_FRAME_BUF_BYTES);
    a->tx = malloc(QS_FRAME_BUF_BYTES);
    if (!a->rx || !a->tx || pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        die("no memory or no pipes");
    a->pid = fork();
    if (a->pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        execl(path, path, "--stdio", "--sysfs", sysfs ? sysfs : "/sys", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    a->in_fd = to[1];
    a->out_fd = from[0];
    qs_framer_init(&a->framer, a->rx, QS_FRAME_BUF_BYTES);
    hello(a);
}

static struct qs_list list_of(char *const *texts, uint8_t *memory)
{
    struct qs_build b;
    qs_build_init(&b, memory, LIST_BYTES);
    for (; *texts; texts++)
        qs_build_text(&b, qs_text_of(*texts));
    return qs_build_list(&b);
}

void agent_pipe_begin(struct agent_pipe *a, char *const *argv, char *const *env)
{
    static uint8_t memory[2][LIST_BYTES];
    struct qs_writer w;
    a->run.b[0] = 1;
    a->run.b[1]++;
    a->window = 0;
    a->next_seq = 0;
    const struct qs_msg_run_begin m = {.run = a->run,
                                       .argv = list_of(argv, memory[0]),
                                       .env = list_of(env, memory[1]),
                                       .cwd = qs_text_of(""),
                                       .iteration_limit_ns = SPAN_NS,
                                       .cpus = qs_text_of("")};
    size_t at = begin(a, &w);
    qs_msg_encode_run_begin(&w, &m);
    end(a, &w, at, QS_MSG_RUN_BEGIN);
    expect(a, QS_MSG_RUN_READY);
}

static void open_window(struct agent_pipe *a, uint32_t n)
{
    const struct qs_msg_open open = {.run = a->run,
                                     .window = a->window,
                                     .phase = QS_PHASE_MEASURE,
                                     .first_seq = a->next_seq,
                                     .iterations = n,
                                     .max_ns = SPAN_NS,
                                     .lease_ns = LEASE_NS,
                                     .gate = a->gate};
    const struct qs_msg_window quiet = {.run = a->run, .window = a->window};
    struct qs_writer w;
    size_t at = begin(a, &w);
    qs_msg_encode_open(&w, &open);
    end(a, &w, at, QS_MSG_OPEN);
    expect(a, QS_MSG_ARM);
    at = begin(a, &w);
    qs_msg_encode_window(&w, &quiet);
    end(a, &w, at, QS_MSG_QUIET);
}

static void collect(struct agent_pipe *a, uint32_t n, int64_t *out_ns)
{
    struct qs_msg_closed closed;
    uint32_t got = 0;
    struct qs_frame frame = expect(a, QS_MSG_CLOSED);
    if (qs_msg_decode_closed(frame.payload, frame.len, &closed) != 0 || closed.how != QS_CLOSED_DONE)
        die("the window did not close well");
    if (closed.gate.outcome != QS_GATE_OPEN || closed.gate.readings.count != a->gate.count)
        die("the gate did not open by its readings");
    a->decided_ns = closed.opened_ns - closed.gate.decided_ns;
    while (got < n) {
        struct qs_msg_iterations m;
        struct qs_row row;
        frame = expect(a, QS_MSG_ITERATIONS);
        if (qs_msg_decode_iterations(frame.payload, frame.len, &m) != 0 || m.first_index != got)
            die("the iterations do not follow each other");
        struct qs_iter it = qs_list_iter(&m.rows);
        while (got < n && qs_list_row(&it, m.metrics.count, &row)) {
            if (row.flags != 0)
                die("an iteration failed");
            a->decided_ns += got == 0 ? row.start_off_ns : 0;
            out_ns[got++] = row.duration_ns;
        }
    }
}

void agent_pipe_window(struct agent_pipe *a, uint32_t n, int64_t *out_ns)
{
    struct qs_writer w;
    open_window(a, n);
    collect(a, n, out_ns);
    a->window++;
    a->next_seq += n;
    const struct qs_msg_run_seq ack = {.run = a->run, .seq = a->next_seq};
    size_t at = begin(a, &w);
    qs_msg_encode_run_seq(&w, &ack);
    end(a, &w, at, QS_MSG_ACK);
}

void agent_pipe_end(struct agent_pipe *a)
{
    const struct qs_msg_run m = {.run = a->run};
    struct qs_writer w;
    size_t at = begin(a, &w);
    qs_msg_encode_run(&w, &m);
    end(a, &w, at, QS_MSG_RUN_END);
    expect(a, QS_MSG_RUN_ENDED);
}

void agent_pipe_stop(struct agent_pipe *a)
{
    close(a->in_fd);
    waitpid(a->pid, NULL, 0);
    close(a->out_fd);
    free(a->rx);
    free(a->tx);
}
