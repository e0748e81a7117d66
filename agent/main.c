#include "core/print.h"
#include "linux/ftrace.h"
#include "linux/io.h"
#include "linux/port.h"
#include "linux/tls/tls.h"
#include "linux/usb.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const char help[] =
    "quiesce-agent measures on this device for a quiesced host.\n"
    "\n"
    "Usage\n"
    "  quiesce-agent --stdio                          talk over standard input and output (exec links, ssh)\n"
    "  quiesce-agent --serial PATH                    talk over a serial line, at the speed that it has;\n"
    "                                                 whoever has the line has the agent\n"
    "  quiesce-agent --listen unix:PATH               a socket for this user and root\n"
    "  quiesce-agent --listen localabstract:NAME      the same without a file, for adb; a key may be asked "
    "for\n"
    "  quiesce-agent --listen tcp:ADDRESS:PORT --key-file FILE\n"
    "                                                 with TLS, for the host that has the same key\n"
    "  quiesce-agent --usb [CONTROLLER]               be a USB device, as root: on the first device "
    "controller of\n"
    "                                                 /sys/class/udc that is free, or on this one\n"
    "  quiesce-agent --facts                          what this device is, one \"key: value\" a line\n"
    "  quiesce-agent --dump-states                    the session's table of states\n"
    "  quiesce-agent --ftrace FILE SETTING...         record with the kernel's tracer into FILE until "
    "SIGINT;\n"
    "                                                 settings of a tracefs instance: "
    "set_event=sched:sched_switch\n"
    "  quiesce-agent --version | --help\n"
    "\n"
    "--sysfs DIR reads temperatures, frequencies and governors below DIR instead of /sys: for test beds; "
    "the\n"
    "device's facts say so.\n"
    "A job's files lie below --cache DIR (else $XDG_STATE_HOME, ~/.local/state or /data/local/tmp, in\n"
    "quiesce-agent/cache), at most --cache-max BYTES of them (8G; with K, M, G): the longest unused go.\n"
    "Before a setting of the device (a frequency, a governor) is changed, what stood there is kept below\n"
    "--state DIR (else --cache DIR, else in quiesce-agent/control as above, unless there is a --sysfs). It "
    "is\n"
    "put back when the agent ends, when the host is gone, or, after the agent was killed with its\n"
    "supervisor, at its next start. What was measured is kept in --state DIR, too, until the host has it:\n"
    "it outlives the agent and a restart of the device (without --state it is in memory alone).\n"
    "--serial-number TEXT is what hosts know a USB device by (else the board's own, or one made of its\n"
    "/etc/machine-id), --usb-id VID:PID its ids (else 1d6b:0104).\n"
    "A key file has mode 0600 and is the same on both sides: for TCP the one that `quiesce devices enroll`\n"
    "made for this device, elsewhere 32 to 4096 bytes of any kind.\n"
    "SIGTERM ends the agent and whatever it has started.\n"
    "\n"
    "Examples\n"
    "  ssh board /data/local/tmp/quiesce-agent --stdio\n"
    "  while :; do quiesce-agent --serial /dev/ttyS1 || sleep 1; done   one session each, like a getty\n"
    "  quiesce-agent --listen unix:$XDG_RUNTIME_DIR/quiesce-agent.sock\n"
    "  while :; do quiesce-agent --usb || sleep 1; done\n"
    "  quiesce-agent --listen tcp:0.0.0.0:7151 --key-file board.key     every address of this device\n";

enum { EXIT_OK = 0, EXIT_USAGE = 2, EXIT_SETUP = 3, INHERITED_MAX = 1024 };

struct options {
    bool stdio, facts, states, version, help, usb;
    struct qs_usb_options usb_options;
    const char *serial, *listen, *key_file, *sysfs, *cache, *cache_most, *state;
};

static const struct {
    const char *name;
    size_t flag,
        value; /* offsets of what it sets, and one more; 0: nothing. With both its value may be left out */
} known[] = {
    {"--stdio", offsetof(struct options, stdio) + 1, 0},
    {"--facts", offsetof(struct options, facts) + 1, 0},
    {"--dump-states", offsetof(struct options, states) + 1, 0},
    {"--version", offsetof(struct options, version) + 1, 0},
    {"--help", offsetof(struct options, help) + 1, 0},
    {"--serial", 0, offsetof(struct options, serial) + 1},
    {"--listen", 0, offsetof(struct options, listen) + 1},
    {"--usb", offsetof(struct options, usb) + 1, offsetof(struct options, usb_options.controller) + 1},
    {"--usb-id", 0, offsetof(struct options, usb_options.id) + 1},
    {"--serial-number", 0, offsetof(struct options, usb_options.serial) + 1},
    {"--key-file", 0, offsetof(struct options, key_file) + 1},
    {"--sysfs", 0, offsetof(struct options, sysfs) + 1},
    {"--cache", 0, offsetof(struct options, cache) + 1},
    {"--cache-max", 0, offsetof(struct options, cache_most) + 1},
    {"--state", 0, offsetof(struct options, state) + 1},
};

static __attribute__((format(printf, 2, 3))) void say(FILE *to, const char *form, ...)
{
    char text[QS_FACT_VALUE_MAX_BYTES + 256];
    va_list args;
    va_start(args, form);
    qs_vprint(text, sizeof text, form, args);
    va_end(args);
    fputs(text, to);
}

static int complain(const char *what, const char *arg, const char *advice)
{
    say(stderr, "quiesce-agent: %s '%s'%s; see --help\n", what, arg, advice);
    return EXIT_USAGE;
}

static size_t common_prefix(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n]) {
        n++;
    }
    return n;
}

static int unknown(const char *arg)
{
    char advice[64] = "";
    size_t best = 3; /* more than the two dashes and a letter */
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t n = common_prefix(arg, known[i].name);
        if (n > best) {
            best = n;
            qs_print(advice, sizeof advice, ": did you mean %s?", known[i].name);
        }
    }
    return complain("unknown option", arg, advice);
}

/* One argument, with its value behind '=' or in the next one. Returns how many were used, 0: unknown, -1: its
 * value is missing. */
static int take(struct options *options, char **argv)
{
    size_t n = strcspn(argv[0], "=");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strlen(known[i].name) != n || strncmp(argv[0], known[i].name, n) != 0) {
            continue;
        }
        if (known[i].flag) {
            *(bool *)((char *)options + known[i].flag - 1) = true;
        }
        if (known[i].flag && argv[0][n] == '\0' && (!known[i].value || !argv[1] || argv[1][0] == '-')) {
            return 1;
        }
        if (known[i].value) {
            const char *value = argv[0][n] == '=' ? argv[0] + n + 1 : argv[1];
            *(const char **)((char *)options + known[i].value - 1) = value;
            return !value ? -1 : argv[0][n] == '=' ? 1 : 2;
        }
    }
    return 0;
}

static int parse(struct options *options, char **argv)
{
    for (argv++; *argv;) {
        int used = take(options, argv);
        if (used == 0) {
            return unknown(*argv);
        }
        if (used < 0) {
            return complain("a value is missing after", *argv, "");
        }
        argv += used;
    }
    return EXIT_OK;
}

static int show_facts(struct qs_linux *os, const char *sysfs)
{
    static struct qs_port_fact fact;
    qs_control_init(&os->control, NULL);
    qs_linux_init(os, sysfs);
    for (size_t i = 0; qs_facts_get(&os->facts, i, &fact); i++) {
        say(stdout, "%s: %s\n", fact.key, fact.value);
    }
    return EXIT_OK;
}

static int show_states(void)
{
    char line[160];
    for (size_t i = 0; qs_states_line(i, line, sizeof line); i++) {
        puts(line);
    }
    return EXIT_OK;
}

/* "512M"; false: no such number. */
static bool read_bytes(const char *text, uint64_t *bytes)
{
    int64_t n = 0;
    int shift = 0;
    bool ok = text[0] >= '0' && text[0] <= '9' && qs_io_i64(&text, &n) && n > 0;
    if (ok && *text) {
        const char *unit = strchr("KMG", *text);
        ok = unit && text[1] == '\0';
        shift = ok ? 10 * (int)(*text == 'K' ? 1 : *text == 'M' ? 2 : 3) : 0;
    }
    *bytes = (uint64_t)n << shift;
    return ok && n <= INT64_MAX >> 31;
}

static bool open_cache(struct qs_linux *os, const struct options *options, char *error)
{
    if (options->cache_most && !read_bytes(options->cache_most, &os->cache_most_bytes)) {
        qs_print(error, QS_LINK_ERROR_BYTES, "--cache-max %.40s: write a number of bytes such as 512M",
                 options->cache_most);
        return false;
    }
    return qs_linux_open_cache(os, options->cache, error);
}

/* The line becomes standard input and output: it passes bytes as they are and is no controlling terminal.
 * What waits in it was for somebody before us. */
static bool take_line(const char *path, char *error)
{
    struct termios line;
    int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool ok = fd >= 0 && tcgetattr(fd, &line) == 0;
    if (ok) {
        cfmakeraw(&line);
        line.c_cflag |= CLOCAL | CREAD;
        line.c_cflag &= ~(tcflag_t)CRTSCTS;
        ok = tcsetattr(fd, TCSANOW, &line) == 0 && tcflush(fd, TCIOFLUSH) == 0 && dup2(fd, 0) == 0 &&
             dup2(fd, 1) == 1;
    }
    if (!ok) {
        qs_print(error, QS_LINK_ERROR_BYTES, "cannot talk over the serial line %.150s: %s", path,
                 strerror(errno));
    }
    qs_io_close(&fd);
    return ok;
}

/* What its door asks of a host. */
static bool take_key(struct qs_linux *os, const char *path, char *error)
{
    struct qs_enrolled key;
    if (os->link.kind != QS_LINK_TCP) {
        os->key_bytes = qs_link_read_key(path, os->key, sizeof os->key, error);
        return os->key_bytes > 0;
    }
    if (!qs_link_read_enrolled(path, &key, error)) {
        return false;
    }
    os->link.tls = qs_tls_open(&key);
    explicit_bzero(&key, sizeof key);
    if (!os->link.tls) {
        qs_print(error, QS_LINK_ERROR_BYTES, "cannot make a TLS server");
    }
    return os->link.tls != NULL;
}

static bool open_link(struct qs_linux *os, const struct options *options, const struct qs_link *usb,
                      char *error)
{
    if (options->usb) {
        os->link = *usb;
        return true;
    }
    if (options->serial) {
        return take_line(options->serial, error) && qs_link_open_stdio(&os->link, 0, error);
    }
    if (options->stdio) {
        return qs_link_open_stdio(&os->link, os->supervised.started_by, error);
    }
    if (!qs_link_listen(&os->link, options->listen, error)) {
        return false;
    }
    if (os->link.kind == QS_LINK_TCP && !options->key_file) {
        qs_print(error, QS_LINK_ERROR_BYTES,
                 "a TCP link needs --key-file FILE, as `quiesce devices enroll` makes it: anybody could "
                 "connect; or use --listen unix:PATH");
        return false;
    }
    return !options->key_file || take_key(os, options->key_file, error);
}

/* Descriptors that we were born with are not for the benchmarks, and 0, 1, 2 must be taken. */
static void guard_descriptors(void)
{
    int fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2) {
        fd = open("/dev/null", O_RDWR);
    }
    if (fd > 2) {
        close(fd);
    }
    for (int i = 3; i < INHERITED_MAX; i++) {
        fcntl(i, F_SETFD, FD_CLOEXEC);
    }
}

/* The folder of the journal: --state, else --cache; on a device itself (no --sysfs) else one of our own.
 * There is one for each user: where another agent has it, this one changes nothing. */
static void open_keeper(struct qs_keeper *keeper, const struct options *options)
{
    const char *given = options->state ? options->state : options->cache;
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    char path[QS_PORT_PATH_BYTES] = "";
    if (!given && strcmp(options->sysfs, "/sys") == 0) {
        if (state && state[0] == '/') {
            qs_print(path, sizeof path, "%s/quiesce-agent/control", state);
        } else if (home && home[0] == '/') {
            qs_print(path, sizeof path, "%s/.local/state/quiesce-agent/control", home);
        } else if (access("/data/local/tmp", W_OK) == 0) {
            qs_print(path, sizeof path, "/data/local/tmp/quiesce-agent/control");
        }
        given = path[0] ? path : NULL;
    }
    qs_keeper_open(keeper, given, options->sysfs);
}

static int serve(struct qs_linux *os, const struct options *options)
{
    static struct qs_keeper keeper;
    char error[QS_LINK_ERROR_BYTES] = "", usb[QS_LINK_ERROR_BYTES];
    struct qs_link usb_door;
    guard_descriptors();
    if (options->usb && !qs_usb_split(&options->usb_options, &usb_door, usb)) {
        say(stderr, "quiesce-agent: %s\n", usb);
        return EXIT_SETUP;
    }
    keeper.shared = options->state != NULL;
    open_keeper(&keeper, options);
    if (options->state && !keeper.on) {
        say(stderr, "quiesce-agent: cannot use --state: %s\n", keeper.notes.journal + strlen("none: "));
        return EXIT_SETUP;
    }
    qs_control_init(&os->control, &keeper);
    if (!qs_supervisor_split(&os->supervised, &keeper)) {
        perror("quiesce-agent: cannot start a second process");
        return EXIT_SETUP;
    }
    os->control.fd = os->supervised.fd;
    os->spool_dir = options->state;
    qs_linux_init(os, options->sysfs);
    qs_linux_try_sensors(os);
    if (!open_cache(os, options, error) || !open_link(os, options, &usb_door, error) ||
        !qs_linux_start(os, error)) {
        say(stderr, "quiesce-agent: %s\n", error);
        qs_link_close(&os->link);
        return EXIT_SETUP;
    }
    if (os->link.kind == QS_LINK_TCP) {
        say(stderr, "quiesce-agent: listens on port %d, with TLS\n", qs_link_port(&os->link));
    } else if (os->link.kind == QS_LINK_UNIX) {
        say(stderr, options->usb ? "quiesce-agent: %s\n" : "quiesce-agent: listens on %s\n",
            options->usb ? usb : options->listen);
    }
    const char *wrong = options->state ? strchr(os->spool.note, ';') : NULL;
    if (wrong) {
        say(stderr, "quiesce-agent: kept in %s%s\n", options->state, wrong);
    }
    qs_linux_run(os);
    return EXIT_OK;
}

/* One way to talk, and no option of another one. */
static int check_link(const struct options *options)
{
    const struct qs_usb_options *usb = &options->usb_options;
    if (options->stdio + (options->serial != NULL) + (options->listen != NULL) + options->usb != 1) {
        fputs("quiesce-agent: choose one of --stdio, --serial PATH, --listen ADDRESS and --usb; see --help\n",
              stderr);
        return EXIT_USAGE;
    }
    if (!options->listen && options->key_file) {
        return complain(options->stdio    ? "there is no key on a --stdio link, remove"
                        : options->serial ? "there is no key on a --serial link, remove"
                                          : "there is no key on a --usb link, remove",
                        "--key-file", "");
    }
    if (!options->usb && (usb->serial || usb->id)) {
        return complain("only --usb has", usb->serial ? "--serial-number" : "--usb-id", "");
    }
    if (usb->serial && !qs_usb_is_serial(usb->serial)) {
        return complain("a serial number has 1 to 64 printable characters and no blanks, not", usb->serial,
                        "");
    }
    if (usb->id && !qs_usb_is_id(usb->id)) {
        return complain("the ids of a USB device are written as 1d6b:0104, not as", usb->id, "");
    }
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    static struct qs_linux os;
    struct options options = {.sysfs = "/sys"};
    if (argc > 1 && strcmp(argv[1], "--ftrace") == 0) {
        return qs_ftrace_main(argv + 2);
    }
    int status = argc > 0 ? parse(&options, argv) : EXIT_USAGE;
    if (status != EXIT_OK) {
        return status;
    }
    if (options.help || options.version) {
        fputs(options.help ? help : "quiesce-agent " QS_VERSION "\n", stdout);
        return EXIT_OK;
    }
    if (options.states) {
        return show_states();
    }
    if (options.facts) {
        return show_facts(&os, options.sysfs);
    }
    if ((status = check_link(&options)) != EXIT_OK) {
        return status;
    }
    return serve(&os, &options);
}
