/* `quiesce devices enroll`: a key for one device, as a file of ours that the device is given too. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/folder.h"
#include "base/mem.h"
#include "ctl/result.h"
#include "ctl/text_file.h"
#include "proto/enrolled.h"

/* Where its key is to be. The folder is made, and nobody else may exchange what lies there. */
static bool find_place(struct qs_ctl *ctl, const char *device, struct qs_buf *path, struct qs_err *err)
{
    const char *to = qs_args_text(ctl->args, "output", NULL);
    QS_FREED char *state = qs_folder_of_state(getenv);
    if (to != NULL && strcmp(to, "-") == 0)
        return qs_fail(err, QS_E_USAGE, "a key is not printed: name a file");
    if (to == NULL && state == NULL)
        return qs_fail(err, QS_E_USAGE,
                       "neither HOME nor XDG_STATE_HOME is set, so there is no place for keys");
    if (to != NULL)
        qs_buf_str(path, to);
    else
        qs_buf_fmt(path, "%s/keys/%s.key", state, device);
    QS_FREED char *folder = qs_folder_of(path->data);
    return (to != NULL || qs_folder_make(folder, err)) &&
           qs_folder_check(folder, 0022, "no key is written there", err);
}

static bool write_key(const char *path, const char *device, struct qs_err *err)
{
    struct qs_enrolled key = {0};
    char text[QS_ENROLLED_FILE_MAX_BYTES];
    strncpy(key.name, device, sizeof key.name - 1);
    if (getrandom(key.secret, sizeof key.secret, 0) != (ssize_t)sizeof key.secret)
        return qs_fail(err, QS_E_RESOURCE, "the kernel has no random bytes for a key");
    mode_t mask = umask(0077);
    bool ok = qs_create_text(path, text, qs_enrolled_write(&key, text), err);
    umask(mask);
    explicit_bzero(&key, sizeof key);
    explicit_bzero(text, sizeof text);
    QS_FREED char *folder = qs_folder_of(path);
    return ok && qs_folder_sync(folder, err);
}

/* What to do with it. The addresses are the person's to fill in. */
static void tell(struct qs_ctl *ctl, const char *device, const char *path)
{
    QS_BUF(out);
    qs_buf_fmt(&out, "The key of %s is in %s. Nobody else may read it, and it is not shown.\n\n", device,
               path);
    qs_buf_fmt(&out,
               "Give the device the same file, in a way that nobody else reads:\n  ssh BOARD 'umask 077; cat "
               "> quiesce.key' < %s\n",
               path);
    qs_buf_str(&out, "Start its agent:\n  quiesce-agent --listen tcp:0.0.0.0:7151 --key-file quiesce.key\n");
    qs_buf_fmt(
        &out,
        "Add it to the farm file:\n  devices:\n    %s: {link: tcp, address: \"ADDRESS:7151\", key_file: "
        "%s}\n",
        device, path);
    qs_ctl_print(ctl->out, &out);
}

static int fail(struct qs_ctl *ctl, const struct qs_err *err)
{
    return qs_api_fail_advised(ctl, err,
                               "--output FILE writes another one; a device that is enrolled anew needs "
                               "the old file removed");
}

int qs_device_enroll(struct qs_ctl *ctl, const char *device)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(path);
    if (!qs_enrolled_is_name(device, strlen(device))) {
        qs_fail(&err, QS_E_USAGE, "a device's name has up to %d visible ASCII characters",
                QS_ENROLLED_NAME_MAX_BYTES);
        return fail(ctl, &err);
    }
    if (!find_place(ctl, device, &path, &err))
        return fail(ctl, &err);
    QS_FREED char *folder = qs_folder_of(path.data), *whole = realpath(folder, NULL);
    QS_FREED char *shown =
        qs_asprintf("%s/%s", whole != NULL ? whole : folder,
                    strrchr(path.data, '/') != NULL ? strrchr(path.data, '/') + 1 : path.data);
    if (!write_key(shown, device, &err))
        return fail(ctl, &err);
    if (ctl->json) {
        json_auto_t *doc = json_pack("{s:s,s:s}", "device", device, "key_file", shown);
        qs_ctl_print_json(ctl->out, doc);
    } else {
        tell(ctl, device, shown);
    }
    return QS_EXIT_OK;
}
