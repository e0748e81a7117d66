#include "ctl/client/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/process.h"

enum { POLL_MS = 20, POLLS = 15000 / POLL_MS, POLLS_AFTER_END = 2000 / POLL_MS };
enum { TAIL_BYTES = 2048, TAIL_LINES = 12 };
enum { LISTENING = 3, BACKLOG = 64 }; /* the descriptor in a daemon that reads, and who may wait there */

extern char **environ;

static bool check_folder(const char *dir, struct qs_err *err)
{
    struct stat st;
    if (lstat(dir, &st) != 0)
        return errno == ENOENT || qs_fail(err, QS_E_IO, "%s: %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 077) != 0)
        return qs_fail(err, QS_E_DENIED,
                       "%s is not a folder of mode 0700 that belongs to you: set XDG_RUNTIME_DIR or --socket",
                       dir);
    return true;
}

bool qs_boot_socket(const char *given, struct qs_buf *path, struct qs_err *err)
{
    const char *env = getenv("QUIESCE_SOCKET");
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (given == NULL && env != NULL && env[0] != '\0')
        given = env;
    if (given != NULL) {
        qs_buf_str(path, given);
        return true;
    }
    if (runtime != NULL && runtime[0] == '/') {
        qs_buf_fmt(path, "%s/quiesce/api.sock", runtime);
        return true;
    }
    qs_buf_fmt(path, "/tmp/quiesce-%u", (unsigned)getuid());
    bool ok = check_folder(path->data, err);
    qs_buf_str(path, "/api.sock");
    return ok;
}

bool qs_boot_answers(struct qs_http *http)
{
    const struct qs_http_request request = {.method = "GET", .path = "/healthz"};
    struct qs_http_reply reply = {0};
    qs_buf_init(&reply.body);
    bool ok = qs_http_call(http, &request, &reply, NULL) && reply.status == 200;
    qs_buf_done(&reply.body);
    return ok;
}

static bool find_beside(struct qs_buf *path)
{
    static const char *const places[] = {"quiesced", "../quiesced", "../daemon/quiesced", NULL};
    char *found = qs_program_beside(places, NULL);
    if (found != NULL)
        qs_buf_str(path, found);
    free(found);
    return found != NULL;
}

static bool find_in_path(struct qs_buf *path)
{
    const char *dirs = getenv("PATH");
    while (dirs != NULL && *dirs != '\0') {
        size_t n = strcspn(dirs, ":");
        qs_buf_clear(path);
        qs_buf_fmt(path, "%.*s/quiesced", (int)n, dirs);
        if (n > 0 && qs_program_is(path->data))
            return true;
        dirs += n + (dirs[n] == ':');
    }
    return false;
}

bool qs_boot_find(const char *self, struct qs_buf *path, struct qs_err *err)
{
    const char *given = getenv("QUIESCED");
    if (given != NULL && given[0] != '\0') {
        qs_buf_str(path, given);
        return qs_program_is(given) || qs_fail(err, QS_E_UNREACHABLE, "QUIESCED=%s is not a program", given);
    }
    return find_beside(path) || find_in_path(path) ||
           qs_fail(err, QS_E_UNREACHABLE,
                   "no daemon answers, and there is no quiesced to start beside %s, in PATH or in QUIESCED",
                   self);
}

/* Makes every folder above the last part. */
static void make_folders(const char *path)
{
    QS_FREED char *copy = qs_strdup(path);
    for (char *p = strchr(copy + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
        *p = '\0';
        mkdir(copy, 0700);
        *p = '/';
    }
}

static int open_log(struct qs_buf *path, off_t *ret_from, struct qs_err *err)
{
    QS_FREED char *folder = qs_folder_of_state(getenv);
    if (folder == NULL) {
        qs_fail(err, QS_E_STORE_PLACE,
                "neither HOME nor XDG_STATE_HOME is set, so there is no place for the data");
        return -1;
    }
    qs_buf_fmt(path, "%s/quiesced.log", folder);
    make_folders(path->data);
    int fd = open(path->data, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        qs_fail(err, QS_E_IO, "%s: %s", path->data, strerror(errno));
    else
        *ret_from = lseek(fd, 0, SEEK_END);
    return fd;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* What was written to the log since `from`, its last lines. */
static void read_tail(int fd, off_t from, struct qs_buf *tail)
{
    char text[TAIL_BYTES + 1];
    off_t end = lseek(fd, 0, SEEK_END);
    if (end < from || end - from > TAIL_BYTES) /* what was before may have been cut off */
        from = end > TAIL_BYTES ? end - TAIL_BYTES : 0;
    ssize_t n = pread(fd, text, TAIL_BYTES, from);
    if (n <= 0)
        return;
    text[n] = '\0';
    const char *p = text + n - 1;
    for (int lines = 0; p > text && lines < TAIL_LINES; p--)
        lines += p[-1] == '\n';
    qs_buf_str(tail, *p == '\n' ? p + 1 : p);
}

struct child {
    const char *program, *mode, *socket;
    int input, log, listening; /* input, listening: -1 = none */
};

/* The last action may take the place of a descriptor that an earlier one has copied. */
static void give_files(posix_spawn_file_actions_t *files, const struct child *child)
{
    if (child->input >= 0)
        posix_spawn_file_actions_adddup2(files, child->input, 0);
    else
        posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(files, child->log, 1);
    posix_spawn_file_actions_adddup2(files, child->log, 2);
    if (child->listening >= 0)
        posix_spawn_file_actions_adddup2(files, child->listening, LISTENING);
    posix_spawn_file_actions_addchdir_np(files, "/");
}

static bool spawn(const struct child *child, pid_t *ret_pid, struct qs_err *err)
{
    const char *const argv[] = {child->program, child->mode, "--socket", child->socket, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGINT);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    give_files(&files, child);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &usual);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int rc = posix_spawn(ret_pid, child->program, &files, &attr, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc == 0 || qs_fail(err, QS_E_UNREACHABLE, "%s does not start: %s", child->program, strerror(rc));
}

/* Another caller's daemon may get the socket: then ours ends, and the other one answers soon. */
static bool wait_for_answer(struct qs_http *http, pid_t pid, const char *program, struct qs_err *err)
{
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    int status = 0;
    int polls_left = POLLS;
    for (bool alive = true; polls_left > 0; polls_left--) {
        if (qs_boot_answers(http))
            return true;
        if (alive && waitpid(pid, &status, WNOHANG) == pid) {
            alive = false;
            polls_left = POLLS_AFTER_END;
        }
        nanosleep(&pause, NULL);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        return qs_fail(err, QS_E_UNREACHABLE, "%s ended with exit code %d before it answered", program,
                       WEXITSTATUS(status));
    if (WIFSIGNALED(status))
        return qs_fail(err, QS_E_UNREACHABLE, "%s was ended by signal %d before it answered", program,
                       WTERMSIG(status));
    return qs_fail(err, QS_E_UNREACHABLE, "%s does not answer at %s", program, qs_http_socket(http));
}

bool qs_boot_start(struct qs_http *http, const char *self, struct qs_buf *tail, struct qs_err *err)
{
    off_t from = 0;
    pid_t pid = 0;
    struct child child = {.mode = "--embedded", .socket = qs_http_socket(http), .input = -1, .listening = -1};
    QS_BUF(program);
    QS_BUF(log_path);
    make_folders(child.socket);
    bool found = qs_boot_find(self, &program, err);
    child.program = program.data;
    child.log = found ? open_log(&log_path, &from, err) : -1;
    bool started = child.log >= 0 && spawn(&child, &pid, err);
    bool ok = started && wait_for_answer(http, pid, program.data, err);
    if (started && !ok)
        read_tail(child.log, from, tail);
    close_fd(&child.log);
    return ok;
}

/* A socket that has a name of its own, which the kernel chooses, and is nowhere in the file system. */
static bool listen_somewhere(int *ret_fd, char ret_name[32], struct qs_err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t bytes = sizeof address.sun_family;
    *ret_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*ret_fd < 0 || bind(*ret_fd, (const struct sockaddr *)&address, bytes) != 0 ||
        listen(*ret_fd, BACKLOG) != 0)
        return qs_fail(err, QS_E_RESOURCE, "no socket for a daemon that reads: %s", strerror(errno));
    bytes = sizeof address;
    if (getsockname(*ret_fd, (struct sockaddr *)&address, &bytes) != 0)
        return qs_fail(err, QS_E_RESOURCE, "the socket has no name: %s", strerror(errno));
    int n = (int)(bytes - offsetof(struct sockaddr_un, sun_path)) - 1;
    snprintf(ret_name, 32, "@%.*s", n, address.sun_path + 1);
    return true;
}

/* The other end of its input stays open until this program ends, however it ends. */
static bool open_reader(struct child *child, char ret_name[32], struct qs_err *err)
{
    int ends[2];
    if (!listen_somewhere(&child->listening, ret_name, err))
        return false;
    child->log = memfd_create("log", MFD_CLOEXEC);
    if (child->log < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return qs_fail(err, QS_E_RESOURCE, "a daemon that reads: %s", strerror(errno));
    child->input = ends[0];
    return true;
}

struct qs_http *qs_boot_read(const char *self, struct qs_buf *tail, struct qs_err *err)
{
    char name[32], socket[16];
    pid_t pid = 0;
    snprintf(socket, sizeof socket, "fd:%d", LISTENING);
    struct child child = {.mode = "--reading", .socket = socket, .input = -1, .log = -1, .listening = -1};
    struct qs_http *http = NULL;
    QS_BUF(program);
    bool found = qs_boot_find(self, &program, err) && open_reader(&child, name, err);
    child.program = program.data;
    bool started = found && spawn(&child, &pid, err);
    close_fd(&child.input);
    close_fd(&child.listening); /* where the child ends, nobody answers, and nobody else is asked (http.h) */
    http = started ? qs_http_new(name, err) : NULL;
    if (http != NULL && !wait_for_answer(http, pid, program.data, err)) {
        read_tail(child.log, 0, tail);
        qs_http_free(http);
        http = NULL;
    }
    close_fd(&child.log);
    return http;
}
