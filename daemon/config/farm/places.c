/* What the file of a farm names on this machine, and whether it is there. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/process.h"
#include "config/farm/farm.h"
#include "proto/enrolled.h"

static bool is_in_path(const char *name)
{
    bool found = false;
    for (const char *dirs = getenv("PATH"); dirs != NULL && !found; dirs = strchr(dirs, ':')) {
        dirs += *dirs == ':';
        size_t n = strcspn(dirs, ":");
        QS_FREED char *path = qs_asprintf("%.*s/%s", n > 0 ? (int)n : 1, n > 0 ? dirs : ".", name);
        found = qs_program_is(path);
    }
    return found;
}

static void check_program(const char *kind, const char *name, const char *key, const char *program,
                          struct qs_buf *out)
{
    bool path = strchr(program, '/') != NULL;
    if (path ? qs_program_is(program) : is_in_path(program))
        return;
    qs_buf_fmt(out, "%s.%s.%s: there is no program ", kind, name, key);
    qs_buf_fmt(out, path ? "%s\n" : "%s in PATH\n", program);
}

/* Of an enrolled device; false: there is none to read, which is told elsewhere. */
static bool read_key(const struct qs_farm_device *d, struct qs_enrolled *ret)
{
    uint8_t text[QS_ENROLLED_FILE_MAX_BYTES];
    int fd =
        d->link == QS_LINK_TCP && d->key_file ? open(d->key_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (fd >= 0)
        close(fd);
    bool ok = got > 0 && qs_enrolled_parse(text, (size_t)got, ret);
    explicit_bzero(text, sizeof text);
    return ok;
}

/* What else its link would refuse. */
static void check_enrolled(const struct qs_farm_device *d, struct qs_buf *out)
{
    struct qs_enrolled key = {0};
    if (!read_key(d, &key))
        qs_buf_fmt(out,
                   "devices.%s.key_file: %s is no key of a device\n  make one: quiesce devices enroll %s\n",
                   d->name, d->key_file, d->name);
    else if (strcmp(key.name, d->name) != 0)
        qs_buf_fmt(
            out,
            "devices.%s.key_file: %s is the key of `%s`\n  make one of its own: quiesce devices enroll "
            "%s\n",
            d->name, d->key_file, key.name, d->name);
    explicit_bzero(&key, sizeof key);
}

static void check_key(const struct qs_farm_device *d, struct qs_buf *out)
{
    struct stat st;
    if (d->key_file == NULL)
        return;
    if (stat(d->key_file, &st) != 0)
        qs_buf_fmt(out, "devices.%s.key_file: %s: %s\n  make one: quiesce devices enroll %s --output %s\n",
                   d->name, d->key_file, strerror(errno), d->name, d->key_file);
    else if (!S_ISREG(st.st_mode) || st.st_size == 0)
        qs_buf_fmt(out, "devices.%s.key_file: %s is empty, or not a file\n", d->name, d->key_file);
    else if ((st.st_mode & 077) != 0)
        qs_buf_fmt(out, "devices.%s.key_file: others may read %s (mode %04o)\n  chmod 600 %s\n", d->name,
                   d->key_file, (unsigned)(st.st_mode & 07777), d->key_file);
    else if (d->link == QS_LINK_TCP)
        check_enrolled(d, out);
}

bool qs_farm_check_secrets(const struct qs_farm_config *farm, struct qs_err *err)
{
    struct qs_enrolled *keys = qs_calloc(farm->device_count + 1, sizeof *keys);
    bool *is_key = qs_calloc(farm->device_count + 1, sizeof *is_key), ok = true;
    for (size_t i = 0; ok && i < farm->device_count; i++) {
        is_key[i] = read_key(&farm->devices[i], &keys[i]);
        for (size_t k = 0; ok && is_key[i] && k < i; k++)
            if (is_key[k] && memcmp(keys[k].secret, keys[i].secret, sizeof keys[i].secret) == 0)
                ok = qs_fail(err, QS_E_CONFIG,
                             "the devices `%s` and `%s` have the same key, so each could pass for the other: "
                             "quiesce devices enroll %s makes another one",
                             farm->devices[k].name, farm->devices[i].name, farm->devices[i].name);
    }
    explicit_bzero(keys, (farm->device_count + 1) * sizeof *keys);
    free(keys);
    free(is_key);
    return ok;
}

size_t qs_farm_missing(const struct qs_farm_config *farm, struct qs_buf *out)
{
    size_t before = out->len, n = 0;
    for (size_t i = 0; i < farm->device_count; i++) {
        const struct qs_farm_device *d = &farm->devices[i];
        if (d->argv.count > 0)
            check_program("devices", d->name, "argv", d->argv.at[0], out);
        else if (d->link == QS_LINK_SSH)
            check_program("devices", d->name, "link", "ssh", out);
        check_key(d, out);
    }
    for (size_t i = 0; i < farm->rule_count; i++)
        check_program("rules", farm->rules[i].name, "command", farm->rules[i].command.at[0], out);
    for (size_t i = 0; i < farm->metric_count; i++)
        check_program("metrics", farm->metrics[i].name, "command", farm->metrics[i].command.at[0], out);
    for (size_t i = 0; i < farm->ambient_count; i++)
        if (farm->ambients[i].command.count > 0)
            check_program("ambient", farm->ambients[i].name, "command", farm->ambients[i].command.at[0], out);
    for (size_t i = before; i < out->len; i++)
        n += out->data[i] == '\n' && out->data[i + 1] != ' ';
    return n;
}
