#include "linux/command.h"

#include "core/print.h"
#include "linux/identity.h"
#include "linux/io.h"
#include "linux/which.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool blame_operator(struct qs_port_fault *fault, enum qs_wire_code code, int error)
{
    fault->blame = QS_WIRE_BLAME_OPERATOR;
    fault->wire_code = (uint16_t)code;
    fault->code = error;
    return false;
}

/* Both cannot overflow: everything came in one frame, whose lengths took as much room as the NULs here. The
 * bounds are checked all the same. */
static char *keep_text(struct qs_words *words, struct qs_text text)
{
    if (words->used + text.n + 1U > sizeof words->bytes) {
        return NULL;
    }
    char *copy = words->bytes + words->used;
    words->used += qs_text_copy(text, copy, text.n + 1U) + 1U;
    return copy;
}

static char *const *keep_list(struct qs_words *words, const struct qs_list *list)
{
    struct qs_iter it = qs_list_iter(list);
    struct qs_text text;
    char **first = words->vectors + words->count;
    if (words->count + list->count + 1U > QS_WORDS_MAX) {
        return NULL;
    }
    while (qs_list_text(&it, &text)) {
        char *word = keep_text(words, text);
        if (!word) {
            return NULL;
        }
        words->vectors[words->count++] = word;
    }
    words->vectors[words->count++] = NULL;
    return first;
}

static bool has_variable(const struct qs_list *env, const char *name, size_t n)
{
    struct qs_iter it = qs_list_iter(env);
    struct qs_text text;
    while (qs_list_text(&it, &text)) {
        if (text.n > n && text.p[n] == '=' && memcmp(text.p, name, n) == 0) {
            return true;
        }
    }
    return false;
}

/* The environment; whom we run as has a home of his own, whoever's it was where the job was written. */
static char *const *keep_env(struct qs_words *words, const struct qs_list *env, const struct qs_identity *as)
{
    char *const *first = keep_list(words, env);
    if (!first || !as) {
        return first;
    }
    const char *const own[][2] = {
        {"HOME", as->home}, {"USER", as->name}, {"LOGNAME", as->name}, {"SHELL", as->shell}};
    words->count--; /* over the end of the list */
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        char text[512];
        int n = qs_print(text, sizeof text, "%s=%s", own[i][0], own[i][1]);
        if (!has_variable(env, own[i][0], strlen(own[i][0])) && words->count + 1U < QS_WORDS_MAX) {
            words->vectors[words->count++] = keep_text(words, (struct qs_text){text, (uint16_t)n});
        }
    }
    words->vectors[words->count++] = NULL;
    return first;
}

static bool explain(struct qs_port_fault *fault, const struct qs_commands *c, const char *name, int error)
{
    const char *where = c->cwd[0] ? c->cwd : "the agent's directory";
    if (error == EACCES) {
        qs_print(fault->text, sizeof fault->text, "'%.100s' is not executable: try chmod +x", name);
    } else if (error == EISDIR) {
        qs_print(fault->text, sizeof fault->text, "'%.100s' is a folder or a device, not a program", name);
    } else if (strchr(name, ' ')) {
        qs_print(fault->text, sizeof fault->text,
                 "no program '%.100s': it has a blank; is it a whole command line where a list of arguments "
                 "belongs?",
                 name);
    } else if (strchr(name, '/')) {
        qs_print(fault->text, sizeof fault->text, "no file '%.100s'%s%.80s", name,
                 name[0] == '/' ? "" : ", seen from ", name[0] == '/' ? "" : where);
    } else {
        qs_print(fault->text, sizeof fault->text,
                 "no program '%.80s' in PATH (%.100s): give its path, or set PATH in env", name,
                 qs_which_path(c->envp));
    }
    return blame_operator(fault, QS_CODE_EXECUTABLE, error);
}

static bool resolve(struct qs_commands *c, struct qs_command *command, struct qs_port_fault *fault)
{
    const char *name = command->argv[0];
    name = name ? name : "";
    int error = qs_which(command->path, sizeof command->path, name, c->envp, c->cwd_fd);
    return error == 0 || explain(fault, c, name, error);
}

static bool open_cwd(struct qs_commands *c, struct qs_port_fault *fault)
{
    if (c->cwd[0] == '\0') {
        return true;
    }
    c->cwd_fd = open(c->cwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (c->cwd_fd < 0) {
        qs_print(fault->text, sizeof fault->text, "cannot work in the directory '%.200s': %s", c->cwd,
                 strerror(errno));
        return blame_operator(fault, QS_CODE_UNSUPPORTED, errno);
    }
    return true;
}

static bool take_identity(struct qs_commands *c, struct qs_text user, struct qs_port_fault *fault)
{
    char name[QS_NAME_MAX_BYTES + 1];
    if (user.n == 0) {
        return true;
    }
    qs_text_copy(user, name, sizeof name);
    if (!qs_identity_find(name, &c->identity)) {
        qs_print(fault->text, sizeof fault->text, "there is no user '%s' on this device", name);
        return blame_operator(fault, QS_CODE_UNSUPPORTED, ENOENT);
    }
    c->has_identity = c->identity.uid != geteuid();
    if (c->has_identity && geteuid() != 0) {
        qs_print(fault->text, sizeof fault->text,
                 "cannot run as '%s': this agent runs as user %u, and only root's can run as others", name,
                 (unsigned)geteuid());
        return blame_operator(fault, QS_CODE_UNSUPPORTED, EPERM);
    }
    return true;
}

static bool begin(struct qs_commands *c, const struct qs_list *argv, const struct qs_list *env,
                  struct qs_text cwd, struct qs_text user, struct qs_port_fault *fault)
{
    c->words.used = c->words.count = 0;
    c->cwd_fd = AT_FDCWD;
    c->stdin_path = c->output_path = NULL;
    c->pinned = c->has_identity = false;
    c->prepare.argv = c->conclude.argv = NULL;
    c->start = (struct qs_start){.value = 0};
    if (!take_identity(c, user, fault)) {
        return false;
    }
    c->envp = keep_env(&c->words, env, user.n > 0 ? &c->identity : NULL);
    c->iteration.argv = keep_list(&c->words, argv);
    c->cwd = keep_text(&c->words, cwd);
    if (!c->envp || !c->iteration.argv || !c->cwd) {
        qs_print(fault->text, sizeof fault->text, "the command and its environment are too long");
        return blame_operator(fault, QS_CODE_UNSUPPORTED, E2BIG);
    }
    return open_cwd(c, fault) && resolve(c, &c->iteration, fault);
}

static bool add_hook(struct qs_commands *c, struct qs_command *command, const struct qs_list *argv,
                     struct qs_port_fault *fault)
{
    if (argv->count == 0) {
        return true;
    }
    command->argv = keep_list(&c->words, argv);
    if (!command->argv) {
        qs_print(fault->text, sizeof fault->text, "the commands are too long");
        return blame_operator(fault, QS_CODE_UNSUPPORTED, E2BIG);
    }
    return resolve(c, command, fault);
}

static bool pin(struct qs_commands *c, struct qs_text cpus, const cpu_set_t *allowed,
                struct qs_port_fault *fault)
{
    char text[QS_NOTE_MAX_BYTES + 1];
    char there[QS_PORT_CPUS_BYTES];
    if (cpus.n == 0) {
        return true;
    }
    qs_text_copy(cpus, text, sizeof text);
    c->pinned = qs_cpus_parse(text, &c->cpus);
    CPU_AND(&c->cpus, &c->cpus, allowed);
    if (c->pinned && CPU_COUNT(&c->cpus) > 0) {
        return true;
    }
    qs_cpus_print(allowed, there, sizeof there);
    qs_print(fault->text, sizeof fault->text, "cpus '%.80s': %s; this agent may use %.100s", text,
             c->pinned ? "none of them is there" : "not a list such as 0-3,6", there);
    return blame_operator(fault, QS_CODE_UNSUPPORTED, EINVAL);
}

/* They can be opened now. */
static bool check_places(struct qs_commands *c, const struct qs_msg_run_begin *run,
                         struct qs_port_fault *fault)
{
    struct qs_places places;
    c->stdin_path = run->stdin_kind == QS_STDIN_FILE ? keep_text(&c->words, run->stdin_path) : NULL;
    c->output_path = run->output_kind == QS_OUTPUT_KIND_FILE ? keep_text(&c->words, run->output_path) : NULL;
    bool ok = qs_places_open(&places, c, fault);
    qs_places_close(&places);
    return ok;
}

bool qs_commands_of_run(struct qs_commands *c, const struct qs_msg_run_begin *run, const cpu_set_t *allowed,
                        struct qs_port_fault *fault)
{
    bool ok = begin(c, &run->argv, &run->env, run->cwd, run->user, fault) &&
              add_hook(c, &c->prepare, &run->prepare, fault) &&
              add_hook(c, &c->conclude, &run->conclude, fault) && pin(c, run->cpus, allowed, fault) &&
              check_places(c, run, fault);
    c->start = run->start;
    c->capture = run->output_kind != QS_OUTPUT_KIND_DISCARD;
    c->apart = run->output_kind == QS_OUTPUT_KIND_APART;
    c->output_max_bytes = run->output_max_bytes;
    if (!ok) {
        qs_commands_close(c);
    }
    return ok;
}

bool qs_commands_of_hook(struct qs_commands *c, const struct qs_msg_hook *hook, struct qs_port_fault *fault)
{
    bool ok = begin(c, &hook->argv, &hook->env, hook->cwd, hook->user, fault);
    c->capture = true;
    c->apart = false;
    c->output_max_bytes = hook->output_max_bytes;
    if (!ok) {
        qs_commands_close(c);
    }
    return ok;
}

void qs_commands_close(struct qs_commands *c)
{
    qs_io_close(&c->cwd_fd);
    c->cwd_fd = AT_FDCWD;
    c->iteration.argv = c->prepare.argv = c->conclude.argv = NULL;
}

/* Opening never waits; reading and writing do, as programs expect. A path of NULL was not asked for. */
static bool open_place(const struct qs_commands *c, const char *path, int flags, int *fd,
                       struct qs_port_fault *fault)
{
    struct stat st;
    if (!path) {
        return true;
    }
    *fd = qs_identity_open(c->has_identity ? &c->identity : NULL, c->cwd_fd, path, flags);
    int error = *fd < 0 || fstat(*fd, &st) != 0 || fcntl(*fd, F_SETFL, 0) != 0 ? errno : 0;
    if (error == 0 && (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))) {
        return true;
    }
    qs_io_close(fd);
    qs_print(fault->text, sizeof fault->text, "cannot %s '%.140s'%s%.80s: %s",
             flags == O_RDONLY ? "read standard input from" : "write standard output to", path,
             path[0] != '/' && c->cwd[0] ? ", seen from " : "", path[0] != '/' ? c->cwd : "",
             error != 0 ? strerror(error) : "it is neither a file nor a device");
    return blame_operator(fault, QS_CODE_UNSUPPORTED, error != 0 ? error : EINVAL);
}

bool qs_places_open(struct qs_places *places, const struct qs_commands *c, struct qs_port_fault *fault)
{
    places->in_fd = places->out_fd = -1;
    return open_place(c, c->stdin_path, O_RDONLY, &places->in_fd, fault) &&
           open_place(c, c->output_path, O_WRONLY | O_CREAT | O_TRUNC, &places->out_fd, fault);
}

void qs_places_close(struct qs_places *places)
{
    qs_io_close(&places->in_fd);
    qs_io_close(&places->out_fd);
}

void qs_commands_executable(const struct qs_commands *c, const struct qs_command *command, char *text,
                            size_t cap)
{
    char own[QS_PORT_PATH_BYTES] = "";
    text[0] = '\0';
    if (command->path[0] != '/') {
        if (c->cwd[0] != '/') {
            qs_io_append(text, cap, getcwd(own, sizeof own) ? own : "");
            qs_io_append(text, cap, "/");
        }
        qs_io_append(text, cap, c->cwd);
        qs_io_append(text, cap, c->cwd[0] ? "/" : "");
    }
    qs_io_append(text, cap, strncmp(command->path, "./", 2) == 0 ? command->path + 2 : command->path);
}

bool qs_cpus_parse(const char *text, cpu_set_t *cpus)
{
    CPU_ZERO(cpus);
    while (*text) {
        int64_t lo;
        int64_t hi;
        if (!qs_io_i64(&text, &lo)) {
            return false;
        }
        hi = lo;
        if (*text == '-' && (text++, !qs_io_i64(&text, &hi))) {
            return false;
        }
        if (lo < 0 || hi < lo || hi >= QS_CPUS_MAX || (*text != ',' && *text != '\0')) {
            return false;
        }
        for (int64_t i = lo; i <= hi; i++) {
            CPU_SET((size_t)i, cpus);
        }
        text += *text == ',';
    }
    return true;
}

static bool has_cpu(void *arg, int cpu)
{
    return cpu < QS_CPUS_MAX && CPU_ISSET((size_t)cpu, (const cpu_set_t *)arg);
}

void qs_cpus_print(const cpu_set_t *cpus, char *text, size_t cap)
{
    cpu_set_t copy = *cpus;
    qs_io_cpu_list(text, cap, has_cpu, &copy);
}
