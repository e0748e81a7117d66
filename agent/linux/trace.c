#include "linux/trace.h"

#include "core/print.h"
#include "linux/ftrace.h"
#include "linux/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRAYS_BUDGET_NS INT64_C(2000000000)
#define KILL_BUDGET_NS   INT64_C(2000000000)

enum { WORD_BYTES = 8192, PLACES = 3 };

void qs_tracer_init(struct qs_tracer *t, clockid_t clock)
{
    t->runs = false;
    t->clock = clock;
    t->ended_ns = 0;
    qs_trace_file_init(&t->file);
    qs_trace_file_sweep();
}

/* What stands for {pid}, {output} and {agent}. */
struct places {
    const char *name[PLACES];
    char value[PLACES][QS_TRACE_DIR_BYTES + 8];
};

/* One word with its places filled in; false where it grows too long. */
static bool fill(const struct places *places, struct qs_text text, char word[WORD_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; i < text.n;) {
        size_t p = 0;
        while (p < PLACES && (text.n - i < strlen(places->name[p]) ||
                              memcmp(text.p + i, places->name[p], strlen(places->name[p])) != 0)) {
            p++;
        }
        const char *from = p < PLACES ? places->value[p] : text.p + i;
        size_t bytes = p < PLACES ? strlen(from) : 1;
        if (n + bytes >= WORD_BYTES) {
            return false;
        }
        memcpy(word + n, from, bytes);
        n += bytes;
        i += p < PLACES ? strlen(places->name[p]) : 1;
    }
    word[n] = '\0';
    return true;
}

static bool fill_all(struct qs_tracer *t, const struct qs_list *argv, pid_t target, struct qs_build *out)
{
    struct places places = {.name = {"{pid}", "{output}", "{agent}"}};
    char word[WORD_BYTES];
    struct qs_iter it = qs_list_iter(argv);
    struct qs_text text;
    qs_print(places.value[0], sizeof places.value[0], "%d", (int)target);
    qs_trace_file_path(&t->file, places.value[1], sizeof places.value[1]);
    qs_print(places.value[2], sizeof places.value[2], "/proc/%d/exe", (int)getpid());
    while (qs_list_text(&it, &text)) {
        if (!fill(&places, text, word) || !qs_build_text(out, qs_text_of(word))) {
            return false;
        }
    }
    return true;
}

static bool refuse(struct qs_port_fault *fault, const char *what, int error)
{
    qs_print(fault->text, sizeof fault->text, "%s: %s", what, strerror(error));
    fault->code = error;
    return false;
}

static bool spawn(struct qs_tracer *t, const struct qs_msg_trace *m, const struct qs_commands *of,
                  struct qs_port_fault *fault)
{
    int in_fd =
        m->input.n > 0 ? qs_trace_file_input(&t->file, m->input) : open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out_fd = in_fd >= 0 ? qs_trace_file_said(&t->file) : -1;
    int error = out_fd < 0 ? errno : 0;
    const struct qs_spawn_spec spec = {.path = of->iteration.path,
                                       .argv = of->iteration.argv,
                                       .envp = of->envp,
                                       .cwd_fd = of->cwd_fd,
                                       .in_fd = in_fd,
                                       .out_fd = out_fd,
                                       .err_fd = out_fd,
                                       .file_max_bytes = m->max_bytes,
                                       .as = of->has_identity ? &of->identity : NULL};
    error = error == 0 ? qs_spawn_start(&spec, &t->process) : error;
    qs_io_close(&in_fd);
    qs_io_close(&out_fd);
    return error == 0 || refuse(fault, "the tracer cannot be started", error);
}

static bool prepare(struct qs_tracer *t, const struct qs_msg_trace *m, struct qs_commands *words,
                    pid_t target, struct qs_port_fault *fault)
{
    static uint8_t memory[QS_ARGV_MAX_BYTES];
    struct qs_build argv;
    qs_build_init(&argv, memory, sizeof memory);
    if (!qs_trace_file_make(&t->file, m->max_bytes)) {
        return refuse(fault, "there is no folder for the trace", errno);
    }
    if (!fill_all(t, &m->argv, target, &argv)) {
        return refuse(fault, "the tracer's command", E2BIG);
    }
    const struct qs_msg_hook hook = {
        .argv = qs_build_list(&argv), .env = m->env, .cwd = m->cwd, .user = m->user};
    if (!qs_commands_of_hook(words, &hook, fault)) {
        return false;
    }
    return !words->has_identity || qs_trace_file_give(&t->file, words->identity.uid, words->identity.gid) ||
           refuse(fault, "the folder of the trace", errno);
}

bool qs_tracer_start(struct qs_tracer *t, const struct qs_msg_trace *m, struct qs_commands *words,
                     pid_t target, struct qs_port_fault *fault)
{
    t->ended_ns = 0;
    qs_trace_file_remove(&t->file);
    qs_commands_close(words);
    t->runs = prepare(t, m, words, target, fault) && spawn(t, m, words, fault);
    qs_commands_close(words);
    if (!t->runs) {
        qs_trace_file_remove(&t->file);
    }
    return t->runs;
}

bool qs_tracer_reap(struct qs_tracer *t)
{
    pid_t pid = t->runs ? waitpid(t->process.pid, &t->status, WNOHANG) : 0;
    if (pid == 0) {
        return false;
    }
    t->runs = false;
    t->ended_ns = qs_io_now_ns(t->clock);
    qs_io_close(&t->process.pidfd);
    return true;
}

bool qs_tracer_end(struct qs_tracer *t, bool hard)
{
    if (!t->runs) {
        return false;
    }
    if (getpgid(t->process.pid) != t->process.pid) {
        kill(t->process.pid, hard ? SIGKILL : SIGINT);
    }
    kill(-t->process.pid, hard ? SIGKILL : SIGINT);
    return true;
}

/* SIGKILL, and a short wait: a process that waits in a driver is left to the next look. */
static void kill_now(struct qs_tracer *t)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    qs_tracer_end(t, true);
    for (int64_t waited = 0; t->runs && waited < KILL_BUDGET_NS; waited += pause.tv_nsec) {
        if (!qs_tracer_reap(t)) {
            nanosleep(&pause, NULL);
        }
    }
}

static const char *how_it_ended(const struct qs_tracer *t, char *text, size_t cap)
{
    if (WIFSIGNALED(t->status)) {
        qs_print(text, cap, "it was ended by signal %d (%s)", WTERMSIG(t->status),
                 strsignal(WTERMSIG(t->status)));
    } else {
        qs_print(text, cap, "it ended with code %d", WEXITSTATUS(t->status));
    }
    return text;
}

/* Why there is no trace: what is wrong with the file, how the tracer ended, and the last that it said. */
static void explain(const struct qs_tracer *t, struct qs_port_traced *traced)
{
    char how[80];
    char said[161];
    size_t n = traced->said_bytes < sizeof said - 1 ? traced->said_bytes : sizeof said - 1;
    memcpy(said, traced->said + traced->said_bytes - n, n);
    while (n > 0 && said[n - 1] == '\n') {
        n--;
    }
    said[n] = '\0';
    qs_io_printable(said);
    size_t at = strlen(traced->why);
    qs_print(traced->why + at, sizeof traced->why - at, "%s%s%s%s",
             at > 0 ? "; " : "the tracer: ", how_it_ended(t, how, sizeof how), n > 0 ? ", and said: " : "",
             said);
}

void qs_tracer_result(struct qs_tracer *t, pid_t spare, struct qs_port_traced *traced)
{
    kill_now(t);
    if (t->runs) {
        qs_print(traced->why, sizeof traced->why,
                 "the tracer did not die from SIGKILL: it waits in the kernel (a driver?)");
        return;
    }
    traced->ended_ns = t->ended_ns;
    if (qs_spawn_end_strays(t->process.pid, spare, STRAYS_BUDGET_NS)) {
        traced->flags |= QS_TRACE_LEFT_CHILDREN;
    }
    qs_ftrace_sweep();
    traced->said = t->said;
    traced->said_bytes = qs_trace_file_tail(&t->file, t->said, sizeof t->said);
    qs_trace_file_look(&t->file, traced);
    explain(t, traced);
}

void qs_tracer_close(struct qs_tracer *t, pid_t spare)
{
    if (t->runs) {
        kill_now(t);
        qs_spawn_end_strays(t->process.pid, spare, STRAYS_BUDGET_NS);
        qs_ftrace_sweep();
    }
    qs_trace_file_remove(&t->file);
}
