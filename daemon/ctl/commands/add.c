/* `quiesce devices add`: a starter profile of a device, as a file. */
#include <stdio.h>
#include <string.h>

#include "ctl/result.h"
#include "ctl/text_file.h"

static int usage(struct qs_ctl *ctl, const struct qs_err *err)
{
    return qs_api_fail_advised(ctl, err, "--output FILE writes another one, --output - prints it");
}

/* A path that is there already is somebody's work. */
static int write_profile(struct qs_ctl *ctl, const char *device, const json_t *doc)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(path);
    QS_BUF(out);
    QS_BUF(shown);
    const char *text = qs_json_get_text(doc, "text", ""), *to = qs_args_text(ctl->args, "output", NULL);
    if (to != NULL && strcmp(to, "-") == 0) {
        fputs(text, ctl->out);
        return QS_EXIT_OK;
    }
    const char *name = qs_json_get_text(doc, "profile", device);
    if (to == NULL && strchr(name, '/') != NULL) {
        qs_fail(&err, QS_E_USAGE, "\"%s\" cannot be the name of a file", name);
        return usage(ctl, &err);
    }
    qs_buf_fmt(&path, "%s%s", to != NULL ? to : name, to != NULL ? "" : ".yaml");
    if (!qs_create_text(path.data, text, strlen(text), &err))
        return usage(ctl, &err);
    qs_buf_fmt(&out, "%s is a profile of %s to go on from.", path.data, device);
    qs_face_wrap(&ctl->face, &shown, "", out.data, QS_INK_PLAIN);
    qs_face_wrap(
        &ctl->face, &shown, "",
        "Put it into the folder `profiles` beside the daemon's farm file (or where its key `profiles` "
        "says) and start the daemon again; `quiesced --check-config FARM.yaml` says whether it can be "
        "read.",
        QS_INK_PLAIN);
    qs_ctl_print(ctl->out, &shown);
    return QS_EXIT_OK;
}

static bool may_write(struct qs_ctl *ctl, int *ret_code)
{
    struct qs_err err = QS_ERR_INIT;
    const char *to = qs_args_text(ctl->args, "output", "-");
    if (strcmp(to, "-") == 0 || qs_may_create(to, &err))
        return true;
    *ret_code = usage(ctl, &err);
    return false;
}

int qs_device_add(struct qs_ctl *ctl, const char *device)
{
    int code = QS_EXIT_OK;
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(path);
    qs_buf_fmt(&path, "/api/v1/devices/%s:profile", device);
    QS_SCOPED(qs_http_free_at) struct qs_http *http = may_write(ctl, &code) ? qs_api_open(ctl, &code) : NULL;
    json_auto_t *doc = http != NULL ? qs_api_get(ctl, http, path.data, &code) : NULL;
    if (doc == NULL)
        return code;
    if (!qs_json_get_true(doc, "tried")) {
        fprintf(ctl->err, "%s was not tried yet: that comes first\n", device);
        code = qs_probe_with(ctl, http, device);
        json_decref(doc);
        doc = code == QS_EXIT_OK ? qs_api_get(ctl, http, path.data, &code) : NULL;
    }
    if (doc == NULL)
        return code;
    if (!json_is_string(json_object_get(doc, "text"))) {
        qs_fail(&err, QS_E_NOT_FOUND, "nothing of %s could be found", device);
        return qs_api_fail(ctl, &err);
    }
    if (!ctl->json)
        return write_profile(ctl, device, doc);
    qs_ctl_print_json(ctl->out, doc);
    return QS_EXIT_OK;
}
