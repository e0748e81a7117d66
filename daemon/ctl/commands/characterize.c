/* `quiesce characterize`: a job that measures a device and no benchmark. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ctl/follow.h"
#include "ctl/result.h"
#include "ctl/submit.h"

#define S INT64_C(1000000000)

enum { REST, HEAT, COOL, SOAK, EVERY, TIMES };

static const struct qs_opt options[] = {
    {.name = "heat",
     .values = "TIME",
     .kind = QS_OPT_TIME,
     .min = S,
     .max = 540 * S,
     .help = "How long the processors are kept busy in each stage (default 2min).",
     .heading = "Options"},
    {.name = "cool",
     .values = "TIME",
     .kind = QS_OPT_TIME,
     .min = S,
     .max = 3600 * S,
     .help = "How long the device is watched cooling down after it (default 5min)."},
    {.name = "soak",
     .values = "TIME",
     .kind = QS_OPT_TIME,
     .min = 0,
     .max = 540 * S,
     .help =
         "How long it is then kept busy at each of some operating points, to find the highest that nothing "
         "throttles (default 5min; 0: not at all)."},
    {.name = "rest",
     .values = "TIME",
     .kind = QS_OPT_TIME,
     .min = S,
     .max = 600 * S,
     .help = "How long it is watched at rest first (default 10s)."},
    {.name = "every",
     .values = "TIME",
     .kind = QS_OPT_TIME,
     .min = 20 * S / 1000,
     .max = 60 * S,
     .help = "The time between two readings (default 1s)."},
    {.name = "again", .help = "Find anew what an earlier job has found; otherwise only what is missing."},
    {.name = "no-wait", .help = "Only submit the job: `quiesce watch` follows it."},
    {0}};

static const struct {
    const char *key;
    int64_t ns;
} defaults[TIMES] = {[REST] = {"rest", 10 * S},
                     [HEAT] = {"heat", 120 * S},
                     [COOL] = {"cool", 300 * S},
                     [SOAK] = {"soak", 300 * S},
                     [EVERY] = {"every", S}};

static char *make_job(const char *device, const char *name, json_t *characterize)
{
    QS_BUF(where);
    qs_buf_fmt(&where, "name == \"%s\"", device);
    json_auto_t *job = json_pack("{s:i, s:s, s:{s:s}, s:o}", "quiesce", 1, "name", name, "devices", "where",
                                 where.data, "characterize", characterize);
    return json_dumps(job, 0);
}

static char *make_text(struct qs_ctl *ctl, const char *device, int64_t ns[TIMES])
{
    json_t *times = json_object();
    for (size_t i = 0; i < TIMES; i++) {
        const struct qs_opt_use *use = qs_args_last(ctl->args, defaults[i].key);
        char text[40];
        ns[i] = use != NULL ? use->number : defaults[i].ns;
        snprintf(text, sizeof(text), "%" PRId64 "ms", ns[i] / 1000000);
        json_object_set_new(times, defaults[i].key, json_string(text));
    }
    json_object_set_new(times, "again", json_boolean(qs_args_has(ctl->args, "again")));
    return make_job(device, "characterize", times);
}

/* What is ahead, before anything is done. */
static void announce(struct qs_ctl *ctl, const char *device, const int64_t ns[TIMES])
{
    QS_BUF(text);
    if (ctl->json)
        return;
    qs_buf_fmt(&text, "%s: ", device);
    qs_text_duration(&text, (double)ns[REST]);
    qs_buf_str(&text, " at rest, then ");
    qs_text_duration(&text, (double)ns[HEAT]);
    qs_buf_str(&text, " under load and ");
    qs_text_duration(&text, (double)ns[COOL]);
    qs_buf_str(&text, " of cooling, with all processors and with each kind of them: ");
    qs_text_duration(&text, (double)(ns[REST] + ns[HEAT] + ns[COOL]));
    qs_buf_str(&text, ", or ");
    qs_text_duration(&text, (double)(ns[REST] + 3 * (ns[HEAT] + ns[COOL])));
    qs_buf_str(&text, " where there are two kinds. What is found is kept stage by stage.");
    QS_BUF(out);
    qs_face_wrap(&ctl->err_face, &out, "", text.data, QS_INK_PLAIN);
    qs_ctl_print(ctl->err, &out);
}

static int follow(struct qs_ctl *ctl, struct qs_http *http, int64_t job, bool silent)
{
    char state[16];
    struct qs_follow f = {.ctl = ctl,
                          .http = http,
                          .job = job,
                          .interrupt_fd = qs_interrupt_open(),
                          .cancels = true,
                          .silent = silent};
    int code = qs_follow_job(&f, state);
    qs_interrupt_close(f.interrupt_fd);
    return code;
}

static int send(struct qs_ctl *ctl, struct qs_http *http, const char *text, const char *name)
{
    int code = QS_EXIT_OK;
    bool wait = !qs_args_has(ctl->args, "no-wait");
    const struct qs_submit job = {.text = text, .text_bytes = strlen(text), .name = name, .json = true};
    json_auto_t *answer = qs_submit_send(ctl, http, &job, NULL, &code);
    int64_t id = qs_json_get_int(answer, "id", 0);
    if (answer != NULL && wait)
        code = follow(ctl, http, id, false);
    else if (answer != NULL && !ctl->json)
        fprintf(ctl->out, "job %" PRId64 " is queued; `quiesce watch %" PRId64 "` follows it\n", id, id);
    if (answer != NULL && ctl->json)
        qs_ctl_print_json(ctl->out, answer);
    return code;
}

int qs_characterize(struct qs_ctl *ctl, const char *device)
{
    int code = QS_EXIT_OK;
    int64_t ns[TIMES];
    QS_FREED char *text = make_text(ctl, device, ns);
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_open(ctl, &code);
    if (http == NULL)
        return code;
    if (!qs_args_has(ctl->args, "no-wait"))
        announce(ctl, device, ns);
    return send(ctl, http, text, "characterize");
}

static int probe(struct qs_ctl *ctl, struct qs_http *http, const char *device)
{
    QS_FREED char *text =
        make_job(device, "probe", json_pack("{s:b, s:b, s:b}", "knobs", 1, "curves", 0, "again", 1));
    return send(ctl, http, text, "probe");
}

/* Another command's standard output is not for what this one has to say. */
static struct qs_ctl within(const struct qs_ctl *ctl)
{
    struct qs_ctl other = *ctl;
    other.json = false;
    other.out = ctl->err;
    return other;
}

int qs_look_with(struct qs_ctl *ctl, struct qs_http *http, const char *device)
{
    struct qs_ctl other = within(ctl);
    int code = QS_EXIT_OK;
    QS_FREED char *text = make_job(device, "look", json_pack("{s:b, s:b}", "knobs", 0, "curves", 0));
    const struct qs_submit job = {.text = text, .text_bytes = strlen(text), .name = "look", .json = true};
    json_auto_t *answer = qs_submit_send(&other, http, &job, NULL, &code);
    return answer != NULL ? follow(&other, http, qs_json_get_int(answer, "id", 0), true) : code;
}

int qs_probe(struct qs_ctl *ctl, const char *device)
{
    int code = QS_EXIT_OK;
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_open(ctl, &code);
    return http != NULL ? probe(ctl, http, device) : code;
}

int qs_probe_with(struct qs_ctl *ctl, struct qs_http *http, const char *device)
{
    struct qs_ctl other = within(ctl);
    return probe(&other, http, device);
}

static int run(struct qs_ctl *ctl)
{
    return qs_characterize(ctl, ctl->args->argv[ctl->args->word[0]]);
}

const struct qs_command qs_command_characterize = {
    .name = "characterize",
    .summary = "Find out how a device warms up and cools down",
    .usage = "[OPTIONS] DEVICE",
    .about = "A job of its own keeps the device's processors busy, first all of them, then each kind, and "
             "reads its temperatures meanwhile and while it cools down. Before that, each frequency and "
             "switch is tried, "
             "and put back. From that come the time constants "
             "and the ends of its curves, with 95 % intervals, and what each sensor is worth. What is found "
             "is kept for this device and system; `quiesce devices show DEVICE` shows it. A job that was "
             "cut short is taken up again by the next one. Ctrl-C cancels.",
    .options = options,
    .examples = "quiesce characterize board1\nquiesce characterize --heat 5min --cool 10min board1\n"
                "quiesce characterize --again --no-wait board1",
    .least_words = 1,
    .most_words = 1,
    .run = run};
