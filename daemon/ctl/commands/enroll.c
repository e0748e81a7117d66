/* `quiesce devices enroll`: a key for one device, as a file of ours that the device is given too. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "ctl/options/opt.h"
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

/* As a farm file needs it: in quotes where it has a sign that YAML reads. */
static void add_yaml(struct qs_buf *out, const char *text)
{
    struct qs_json json = qs_json_to(out);
    if (text[0] != '-' && qs_text_is_word(text, "._/-"))
        qs_buf_str(out, text);
    else
        qs_json_string(&json, text);
}

/* What to do with it. The addresses are the person's to fill in. */
static void tell(struct qs_ctl *ctl, const char *device, const char *path)
{
    QS_BUF(out);
    qs_buf_fmt(&out, "The key of %s is in %s. Nobody else may read it, and it is not shown.\n\n", device,
               path);
    qs_buf_str(&out,
               "Give the device the same file, in a way that nobody else reads:\n  ssh BOARD 'umask 077; "
               "cat > quiesce.key' < ");
    qs_opt_quote(&out, path);
    qs_buf_str(&out,
               "\nStart its agent:\n  quiesce-agent --listen tcp:0.0.0.0:7151 --key-file quiesce.key\n");
    qs_buf_str(&out, "Add it to the farm file:\n  devices:\n    ");
    add_yaml(&out, device);
    qs_buf_str(&out, ": {link: tcp, address: \"ADDRESS:7151\", key_file: ");
    add_yaml(&out, path);
    qs_buf_str(&out, "}\n");
    qs_ctl_print(ctl->out, &out);
}

/* The name is a file's too, and part of an address of the API. */
static bool check_name(const char *device, struct qs_err *err)
{
    QS_BUF(shown);
    qs_text_escape(&shown, device, strnlen(device, QS_ENROLLED_NAME_MAX_BYTES + 1));
    return (qs_enrolled_is_name(device, strlen(device)) && strpbrk(device, "/?#%:") == NULL) ||
           qs_fail(err, QS_E_USAGE, "a device with a key cannot have the name `%s`", shown.data);
}

static const char *advice_on(const struct qs_err *err, const char *path)
{
    if (err->code == QS_E_DENIED)
        return "--output FILE writes it elsewhere, or take the right away from others: chmod go-w";
    if (access(path, F_OK) == 0)
        return "a key that a device has stays its key; to give it another one, remove this file first, or "
               "write "
               "to another one: --output FILE";
    return "--output FILE writes it elsewhere";
}

int qs_device_enroll(struct qs_ctl *ctl, const char *device)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(path);
    if (!check_name(device, &err))
        return qs_api_fail_advised(
            ctl, &err,
            "it is the name in the farm file: 1 to 64 visible ASCII characters, none of them / ? # % :");
    if (!find_place(ctl, device, &path, &err))
        return qs_api_fail_advised(ctl, &err, advice_on(&err, path.data));
    QS_FREED char *folder = qs_folder_of(path.data), *whole = realpath(folder, NULL);
    QS_FREED char *shown =
        qs_asprintf("%s/%s", whole != NULL ? whole : folder,
                    strrchr(path.data, '/') != NULL ? strrchr(path.data, '/') + 1 : path.data);
    if (!write_key(shown, device, &err))
        return qs_api_fail_advised(ctl, &err, advice_on(&err, shown));
    if (ctl->json) {
        json_auto_t *doc = json_pack("{s:s,s:s}", "device", device, "key_file", shown);
        qs_ctl_print_json(ctl->out, doc);
    } else {
        tell(ctl, device, shown);
    }
    return QS_EXIT_OK;
}
