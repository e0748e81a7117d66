/* The virtual board as a mounted file system: sysfs at DIR itself, and what stands beside it in DIR/.board.
 * README.md says what is there. */
#define FUSE_USE_VERSION 312
#include <fuse.h>

#include "sim/board/calls.h"
#include "sim/board/load.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define SIDE "/.board"

enum side { SIDE_CONTROL, SIDE_KHZ, SIDE_MC, SIDE_LOG, SIDE_TIME, SIDE_WHY, SIDE_SYS, SIDE_COUNT };

static const char *const side_names[SIDE_COUNT] = {"control", "khz", "mc", "log", "time", "why", "sys"};

struct bed {
    pthread_mutex_t lock;
    struct qs_vboard *board;
    int64_t start_ns;
    int64_t speed;
    int64_t uid;            /* -1: who calls */
    struct handle *handles; /* owned: open files; the kernel may not have let go of all of them at the end */
};

/* What an open file reads: as it was when it was last read from its beginning. */
struct handle {
    struct handle *next, **here; /* what points to it */
    size_t n;
    char text[QS_VBOARD_REPORT_BYTES];
};

static struct bed *bed_of(void)
{
    return fuse_get_context()->private_data;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct bed *enter(void)
{
    struct bed *bed = bed_of();
    pthread_mutex_lock(&bed->lock);
    qs_vboard_on_time(bed->board, (now_ns() - bed->start_ns) / 1000 * bed->speed);
    return bed;
}

static int leave(struct bed *bed, int result)
{
    pthread_mutex_unlock(&bed->lock);
    return result;
}

static uint32_t caller(const struct bed *bed)
{
    return bed->uid >= 0 ? (uint32_t)bed->uid : fuse_get_context()->uid;
}

/* One of the files beside the tree, SIDE_COUNT for none. */
static enum side side_of(const char *path)
{
    if (strncmp(path, SIDE "/", sizeof SIDE) != 0) {
        return SIDE_COUNT;
    }
    int side = 0;
    while (side < SIDE_COUNT && strcmp(side_names[side], path + sizeof SIDE) != 0) {
        side++;
    }
    return (enum side)side;
}

/* A path of the mount as the board names it: "/class" is "sys/class", and .board is the root of its machine.
 */
static const char *of_board(const char *path, char *text, size_t cap)
{
    if (strcmp(path, SIDE) == 0 || strncmp(path, SIDE "/", sizeof SIDE) == 0) {
        return path[sizeof SIDE - 1] ? path + sizeof SIDE : ".";
    }
    snprintf(text, cap, "sys%s", path[1] ? path : "");
    return text;
}

static int on_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
    char text[QS_VBOARD_PATH_BYTES * 2];
    const struct qs_vboard_node *node = NULL;
    enum side side = side_of(path);
    (void)info;
    memset(st, 0, sizeof *st);
    st->st_nlink = 1;
    st->st_mode = S_IFDIR | 0755;
    if (side < SIDE_COUNT) {
        st->st_mode = side == SIDE_SYS ? S_IFLNK | 0777 : S_IFREG | (side == SIDE_CONTROL ? 0666 : 0444);
        return 0;
    }
    if (strcmp(path, "/") == 0 || strcmp(path, SIDE) == 0) {
        return 0;
    }
    struct bed *bed = enter();
    enum qs_vboard_what what = qs_vboard_look(bed->board, of_board(path, text, sizeof text), &node);
    if (node) {
        st->st_mode = (what == QS_VBOARD_LINK ? S_IFLNK : S_IFREG) | node->mode;
        st->st_uid = node->uid;
        st->st_gid = node->gid;
        st->st_size = what == QS_VBOARD_LINK ? (off_t)strlen(node->text) : 4096;
    }
    return leave(bed, what == QS_VBOARD_NOTHING ? -ENOENT : 0);
}

static int on_readlink(const char *path, char *out, size_t cap)
{
    char text[QS_VBOARD_PATH_BYTES * 2];
    const struct qs_vboard_node *node = NULL;
    if (side_of(path) == SIDE_SYS) {
        snprintf(out, cap, "..");
        return 0;
    }
    struct bed *bed = enter();
    if (qs_vboard_look(bed->board, of_board(path, text, sizeof text), &node) != QS_VBOARD_LINK) {
        return leave(bed, -EINVAL);
    }
    snprintf(out, cap, "%s", node->text);
    return leave(bed, 0);
}

static int on_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                      struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
    char text[QS_VBOARD_PATH_BYTES * 2];
    char name[QS_VBOARD_PATH_BYTES] = "";
    char after[QS_VBOARD_PATH_BYTES] = "";
    (void)offset;
    (void)info;
    (void)flags;
    fill(buffer, ".", NULL, 0, 0);
    fill(buffer, "..", NULL, 0, 0);
    if (strcmp(path, SIDE) == 0) {
        for (int i = 0; i < SIDE_COUNT; i++) {
            fill(buffer, side_names[i], NULL, 0, 0);
        }
        fill(buffer, "proc", NULL, 0, 0);
        return 0;
    }
    struct bed *bed = enter();
    while (qs_vboard_next(bed->board, of_board(path, text, sizeof text), after, name, sizeof name)) {
        fill(buffer, name, NULL, 0, 0);
        memcpy(after, name, sizeof after);
    }
    return leave(bed, 0);
}

static unsigned wanted(int flags)
{
    int how = flags & O_ACCMODE;
    return how == O_RDONLY   ? QS_VBOARD_READ
           : how == O_WRONLY ? QS_VBOARD_WRITE
                             : QS_VBOARD_READ | QS_VBOARD_WRITE;
}

static int on_access(const char *path, int mask)
{
    char text[QS_VBOARD_PATH_BYTES * 2];
    const struct qs_vboard_node *node = NULL;
    if (side_of(path) < SIDE_COUNT || strcmp(path, "/") == 0 || strcmp(path, SIDE) == 0) {
        return 0;
    }
    struct bed *bed = enter();
    const char *name = of_board(path, text, sizeof text);
    if (qs_vboard_look(bed->board, name, &node) == QS_VBOARD_FOLDER) {
        return leave(bed, mask & W_OK && caller(bed) != 0 ? -EACCES : 0);
    }
    unsigned access = (mask & R_OK ? QS_VBOARD_READ : 0u) | (mask & W_OK ? QS_VBOARD_WRITE : 0u);
    return leave(bed, mask & X_OK ? -EACCES : qs_vboard_may(bed->board, name, caller(bed), access));
}

static int on_open(const char *path, struct fuse_file_info *info)
{
    char text[QS_VBOARD_PATH_BYTES * 2];
    int error = 0;
    if (side_of(path) == SIDE_COUNT) {
        struct bed *bed = enter();
        const char *name = of_board(path, text, sizeof text);
        error = leave(bed, qs_vboard_may(bed->board, name, caller(bed), wanted(info->flags)));
    }
    struct handle *handle = error ? NULL : calloc(1, sizeof *handle);
    if (!handle) {
        return error ? error : -ENOMEM;
    }
    struct bed *bed = enter();
    handle->next = bed->handles;
    handle->here = &bed->handles;
    if (handle->next) {
        handle->next->here = &handle->next;
    }
    bed->handles = handle;
    info->direct_io = 1;
    info->fh = (uint64_t)(uintptr_t)handle;
    return leave(bed, 0);
}

static int on_release(const char *path, struct fuse_file_info *info)
{
    struct handle *handle = (struct handle *)(uintptr_t)info->fh;
    (void)path;
    struct bed *bed = enter();
    *handle->here = handle->next;
    if (handle->next) {
        handle->next->here = handle->here;
    }
    free(handle);
    return leave(bed, 0);
}

static size_t tell(struct bed *bed, enum side side, char *text, size_t cap)
{
    static const enum qs_vboard_report reports[] = {[SIDE_CONTROL] = QS_VBOARD_FAULTS,
                                                    [SIDE_KHZ] = QS_VBOARD_KHZ,
                                                    [SIDE_MC] = QS_VBOARD_MC,
                                                    [SIDE_LOG] = QS_VBOARD_LOG};
    if (side == SIDE_WHY) {
        return (size_t)snprintf(text, cap, "%s\n", bed->board->why);
    }
    if (side == SIDE_TIME) {
        return (size_t)snprintf(text, cap, "%lld\n", (long long)(bed->board->now_us / 1000));
    }
    return qs_vboard_report(bed->board, reports[side], text, cap);
}

/* As a driver that waits for its hardware: nothing interrupts it. */
static void block(struct bed *bed, const char *name)
{
    int64_t ms = qs_vboard_slow_ms(bed->board, name);
    if (ms > 0) {
        pthread_mutex_unlock(&bed->lock);
        struct timespec t = {ms / 1000, ms % 1000 * 1000000};
        nanosleep(&t, NULL);
        enter();
    }
}

static int on_read(const char *path, char *out, size_t n, off_t offset, struct fuse_file_info *info)
{
    char text[QS_VBOARD_PATH_BYTES * 2];
    struct handle *handle = (struct handle *)(uintptr_t)info->fh;
    enum side side = side_of(path);
    if (offset == 0) {
        struct bed *bed = enter();
        int got;
        if (side < SIDE_COUNT) {
            got = (int)tell(bed, side, handle->text, sizeof handle->text);
        } else {
            const char *name = of_board(path, text, sizeof text);
            block(bed, name);
            got = qs_vboard_read(bed->board, name, caller(bed), handle->text, sizeof handle->text);
        }
        leave(bed, 0);
        handle->n = got < 0 ? 0 : (size_t)got;
        if (got < 0) {
            return got;
        }
    }
    if (offset < 0 || (size_t)offset >= handle->n) {
        return 0;
    }
    size_t left = handle->n - (size_t)offset;
    n = left < n ? left : n;
    memcpy(out, handle->text + offset, n);
    return (int)n;
}

static int command(struct bed *bed, const char *bytes, size_t n)
{
    char line[QS_VBOARD_PATH_BYTES * 2];
    for (size_t at = 0; at < n;) {
        const char *newline = memchr(bytes + at, '\n', n - at);
        size_t length = newline ? (size_t)(newline - bytes) - at : n - at;
        if (length >= sizeof line) {
            return -EINVAL;
        }
        snprintf(line, sizeof line, "%.*s", (int)length, bytes + at);
        if (!qs_vboard_command(bed->board, line)) {
            return -EINVAL;
        }
        at += length + 1;
    }
    return (int)n;
}

static int on_write(const char *path, const char *bytes, size_t n, off_t offset, struct fuse_file_info *info)
{
    char text[QS_VBOARD_PATH_BYTES * 2];
    (void)offset;
    (void)info;
    struct bed *bed = enter();
    if (side_of(path) < SIDE_COUNT) {
        return leave(bed, side_of(path) == SIDE_CONTROL ? command(bed, bytes, n) : -EACCES);
    }
    const char *name = of_board(path, text, sizeof text);
    block(bed, name);
    int error = qs_vboard_write(bed->board, name, caller(bed), bytes, n);
    return leave(bed, error ? error : (int)n);
}

/* As in sysfs, O_TRUNC says nothing. */
static int on_truncate(const char *path, off_t length, struct fuse_file_info *info)
{
    (void)path;
    (void)length;
    (void)info;
    return 0;
}

static void *on_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
    (void)connection;
    config->attr_timeout = 0;
    config->entry_timeout = 0;
    config->negative_timeout = 0;
    config->direct_io = 1;
    return fuse_get_context()->private_data;
}

static const struct fuse_operations operations = {.getattr = on_getattr,
                                                  .readlink = on_readlink,
                                                  .readdir = on_readdir,
                                                  .access = on_access,
                                                  .open = on_open,
                                                  .release = on_release,
                                                  .read = on_read,
                                                  .write = on_write,
                                                  .truncate = on_truncate,
                                                  .init = on_init};

/* Mounts, says so, and serves until a signal comes. */
static int serve(struct bed *bed, char *program, const char *mount)
{
    char others[] = "-ofsname=qs-board,allow_other"; /* only root may let others in */
    char alone[] = "-ofsname=qs-board";
    char *options[] = {program, geteuid() == 0 ? others : alone, NULL};
    struct fuse_args args = FUSE_ARGS_INIT(2, options);
    struct fuse *fuse = fuse_new(&args, &operations, sizeof operations, bed);
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    int code = 1;
    if (fuse && fuse_mount(fuse, mount) == 0) {
        if (fuse_set_signal_handlers(fuse_get_session(fuse)) == 0) {
            printf("mounted at %s\n", mount);
            fflush(stdout);
            code = fuse_loop_mt(fuse, config) < 0;
            fuse_remove_signal_handlers(fuse_get_session(fuse));
        }
        fuse_unmount(fuse);
    }
    if (fuse) {
        fuse_destroy(fuse);
    }
    fuse_loop_cfg_destroy(config);
    fuse_opt_free_args(&args);
    return code;
}

/* The library keeps a folder that is open at the end; the leak sanitizer asks for this list. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libfuse3";
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        {"tree", 1, NULL, 't'}, {"mount", 1, NULL, 'm'}, {"speed", 1, NULL, 's'}, {"uid", 1, NULL, 'u'}, {0}};
    static struct qs_vboard board;
    static struct bed bed = {.lock = PTHREAD_MUTEX_INITIALIZER, .board = &board, .speed = 1, .uid = -1};
    const char *tree = NULL;
    const char *mount = NULL;
    pid_t parent = getppid();
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        tree = option == 't' ? optarg : tree;
        mount = option == 'm' ? optarg : mount;
        bed.speed = option == 's' ? atoll(optarg) : bed.speed;
        bed.uid = option == 'u' ? atoll(optarg) : bed.uid;
        if (option == '?') {
            return 2;
        }
    }
    if (!tree || !mount || bed.speed < 1 || bed.speed > 1000 || optind != argc) {
        fprintf(stderr, "usage: qs-board --tree FILE --mount DIR [--speed 1..1000] [--uid N]\n");
        return 2;
    }
    if (!qs_vboard_load(&board, tree)) {
        fprintf(stderr, "qs-board: %s\n", board.why);
        return 1;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        return 1;
    }
    bed.start_ns = now_ns();
    int code = serve(&bed, argv[0], mount);
    while (bed.handles) {
        struct handle *next = bed.handles->next;
        free(bed.handles);
        bed.handles = next;
    }
    return code;
}
