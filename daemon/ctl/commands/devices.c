#include <stdio.h>
#include <string.h>

#include "ctl/result.h"

static const struct qs_opt options[] = {
    {.name = "output",
     .values = "FILE",
     .help = "Of `add`: write the profile there (`-`: to standard output) instead of DEVICE.yaml. Of "
             "`enroll`: write the key there instead of keys/DEVICE.key in $XDG_STATE_HOME/quiesce.",
     .heading = "Options"},
    {.name = "for",
     .values = "TIME",
     .kind = QS_OPT_TIME,
     .min = 1000000000,
     .max = INT64_C(366) * 86400 * 1000000000,
     .help = "Of `hold`: it ends by itself after so long, as 90min or 12h; otherwise with `release`."},
    {0}};

static int list(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_reach_reading(ctl, &code);
    QS_BUF(text);
    QS_BUF(out);
    if (http != NULL && qs_api_text(ctl, http, "/api/v1/devices", &text, &code)) {
        struct qs_layout layout = qs_result_layout(ctl);
        json_auto_t *doc = json_loadb(text.data, text.len, 0, NULL);
        qs_layout_devices(&layout, doc, &out);
        qs_ctl_print(ctl->out, ctl->json ? &text : &out);
        qs_ctl_notice(ctl, doc);
    }
    return code;
}

/* What its sensors say now, as one more member of the document: null where it is away, or a job has it. */
static void add_now(struct qs_http *http, const char *path, json_t *doc)
{
    struct qs_http_reply reply = {0};
    struct qs_err err = QS_ERR_INIT;
    json_t *now = NULL;
    QS_BUF(read);
    qs_buf_fmt(&read, "%s:read", path);
    const struct qs_http_request request = {.method = "GET", .path = read.data};
    qs_buf_init(&reply.body);
    if (strcmp(qs_json_get_text(doc, "state", ""), "ready") == 0 &&
        qs_http_call(http, &request, &reply, &err) && reply.status == 200)
        now = json_loadb(reply.body.data, reply.body.len, 0, NULL);
    qs_buf_done(&reply.body);
    json_object_set_new(doc, "now", now != NULL ? now : json_null());
}

static int show(struct qs_ctl *ctl, const char *device)
{
    int code = QS_EXIT_OK;
    QS_BUF(path);
    qs_buf_fmt(&path, "/api/v1/devices/%s", device);
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_reach_reading(ctl, &code);
    json_auto_t *doc = http != NULL ? qs_api_get(ctl, http, path.data, &code) : NULL;
    if (doc == NULL)
        return code;
    add_now(http, path.data, doc);
    if (ctl->json) {
        qs_ctl_print_json(ctl->out, doc);
    } else {
        struct qs_layout layout = qs_result_layout(ctl);
        QS_BUF(out);
        qs_layout_device(&layout, doc, &out);
        qs_ctl_print(ctl->out, &out);
    }
    qs_ctl_notice(ctl, doc);
    return code;
}

static void show_clean(const char *device, const struct qs_layout *layout, const json_t *doc,
                       struct qs_buf *out)
{
    char size[32];
    (void)layout;
    qs_layout_bytes(size, (double)qs_json_get_int(doc, "freed_bytes", 0));
    qs_buf_fmt(out, "%s: %s of files removed\n", device, size);
}

static void show_read(const char *device, const struct qs_layout *layout, const json_t *doc,
                      struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "sensor"}, {.title = "reading", .right = true}};
    struct qs_grid grid;
    size_t i;
    const json_t *reading;
    (void)device;
    qs_grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(json_object_get(doc, "readings"), i, reading)
    {
        if (!qs_json_get_true(reading, "gauge"))
            continue;
        qs_grid_cell(&grid, qs_json_get_text(reading, "sensor", ""));
        qs_grid_cell(&grid, qs_json_get_text(reading, "text", qs_json_get_text(reading, "status", "")));
    }
    qs_grid_print(&grid, &layout->face, "", out);
    qs_grid_done(&grid);
}

static const struct verb {
    const char *word, *method;
    void (*show)(const char *device, const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);
} verbs[] = {
    {"clean", "POST", show_clean},
    {"read", "GET", show_read},
};

static int ask(struct qs_ctl *ctl, const struct verb *verb, const char *device)
{
    int code = QS_EXIT_OK;
    QS_BUF(path);
    QS_BUF(out);
    qs_buf_fmt(&path, "/api/v1/devices/%s:%s", device, verb->word);
    const struct qs_http_request request = {.method = verb->method, .path = path.data, .body = ""};
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_open(ctl, &code);
    json_auto_t *doc = http != NULL ? qs_api_call(ctl, http, &request, &code) : NULL;
    if (doc != NULL && ctl->json) {
        qs_ctl_print_json(ctl->out, doc);
    } else if (doc != NULL) {
        struct qs_layout layout = qs_result_layout(ctl);
        verb->show(device, &layout, doc, &out);
        qs_ctl_print(ctl->out, &out);
    }
    return code;
}

static const struct {
    const char *word;
    int (*run)(struct qs_ctl *ctl, const char *device);
    bool judges; /* the name, too */
    bool more;   /* words may follow the device's */
} own[] = {{"show", show, false, false},
           {"probe", qs_probe, false, false},
           {"characterize", qs_characterize, false, false},
           {"add", qs_device_add, false, false},
           {"enroll", qs_device_enroll, true, false},
           {"hold", qs_device_say, false, true},
           {"release", qs_device_say, false, true},
           {"note", qs_device_say, false, true},
           {"tag", qs_device_say, false, true}};

/* A device's name is part of an address: what it cannot hold is no name. */
static bool is_name(const char *word)
{
    return word[0] != '\0' && strpbrk(word, "/?#%: ") == NULL && strlen(word) <= 64;
}

static const struct {
    const char *option, *words, *says, *form;
} belongs[] = {{"output", " add enroll ", "--output is of `add` and `enroll`",
                "quiesce devices add DEVICE --output FILE"},
               {"for", " hold ", "--for is of `hold`", "quiesce devices hold DEVICE --for 2h"}};

/* Each option is of some words alone. */
static bool check_options(struct qs_ctl *ctl, const char *word)
{
    QS_BUF(spaced);
    qs_buf_fmt(&spaced, " %s ", word);
    for (size_t i = 0; i < sizeof belongs / sizeof belongs[0]; i++) {
        const struct qs_opt_use *use = qs_args_last(ctl->args, belongs[i].option);
        if (use == NULL || strstr(belongs[i].words, spaced.data) != NULL)
            continue;
        QS_BUF(problem);
        qs_args_fail(ctl->args, &problem, use->arg, 0, belongs[i].form, "%s", belongs[i].says);
        qs_ctl_print(ctl->err, &problem);
        return false;
    }
    return true;
}

static int run(struct qs_ctl *ctl)
{
    const struct qs_args *args = ctl->args;
    const char *word = args->word_count > 0 ? args->argv[args->word[0]] : "";
    const char *device = args->word_count > 1 ? args->argv[args->word[1]] : "";
    if (!check_options(ctl, word))
        return QS_EXIT_USAGE;
    if (args->word_count == 0)
        return list(ctl);
    for (size_t i = 0; args->word_count >= 2 && i < sizeof own / sizeof own[0]; i++) {
        if (strcmp(word, own[i].word) == 0 && (own[i].judges || is_name(device)) &&
            (own[i].more || args->word_count == 2))
            return own[i].run(ctl, device);
    }
    for (size_t i = 0; args->word_count == 2 && is_name(device) && i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(word, verbs[i].word) == 0)
            return ask(ctl, &verbs[i], device);
    }
    fprintf(
        ctl->err,
        "quiesce devices: write `quiesce devices`, or `quiesce devices WORD DEVICE` with show, read, probe, "
        "add, enroll, characterize, clean, hold, release, note or tag for WORD\n");
    return QS_EXIT_USAGE;
}

const struct qs_command qs_command_devices = {
    .name = "devices",
    .summary = "List the devices of the farm and what they do",
    .usage = "[OPTIONS] [show DEVICE | read DEVICE | probe DEVICE | add DEVICE | enroll DEVICE | "
             "characterize DEVICE | clean DEVICE]\n"
             "[OPTIONS] hold DEVICE [WHY] | release DEVICE | note DEVICE TEXT | tag DEVICE KEY[=VALUE]...",
    .about =
        "show is a page about one device: what it is, which frequencies and sensors it has and by which "
        "right "
        "they can be pinned, temperatures and clocks now and over the last minutes of its last job, what is "
        "changed on it right now, how it cools down, and what to do about what is missing. read shows the "
        "current readings of a device's sensors: what the gates of its jobs can wait for (--json has "
        "counters, "
        "too). probe is a job that reads its sensors under load, holds each frequency at its lowest and its "
        "highest, turns each harmless switch, tells which stay as they are written and do something, and "
        "puts "
        "all back. add writes a profile of the device to go on from, DEVICE.yaml; it probes the device first "
        "where nobody has, and leaves a file that is there alone. enroll makes a key for a device that is "
        "reached over TCP, and says what to do with its file; it needs no daemon. clean removes the job "
        "files "
        "that its agent has cached. read and clean need a device that no job is using. hold keeps jobs from "
        "beginning on a device until `release`, or for as long as --for says; the job that it has goes on. "
        "note "
        "writes down what everybody should know of it; an empty text takes the note away. tag gives it tags "
        "that jobs can ask for like labels (`devices: {where: label.KEY == \"VALUE\"}`); KEY- removes one. "
        "All "
        "of that outlives the daemon.",
    .options = options,
    .examples =
        "quiesce devices\nquiesce devices --json\nquiesce devices show bench1\n"
        "quiesce devices read bench1\nquiesce devices add bench1\n"
        "quiesce devices add bench1 --output farm/profiles/bench1.yaml\nquiesce devices enroll board7\n"
        "quiesce devices clean bench1\n"
        "quiesce devices hold bench1 'its battery is changed' --for 2h\nquiesce devices release bench1\n"
        "quiesce devices note bench1 'the screen is cracked'\nquiesce devices tag bench1 rack=3 rooted old-",
    .most_words = 34,
    .run = run};
