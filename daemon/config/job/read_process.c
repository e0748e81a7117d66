/* How the processes of a job are started, and what is checked before: priority, addresses, the limit of
 * temperature, an app's build. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/scalar.h"
#include "config/job/read.h"

enum { FIFO_DEFAULT = 1, TRIP_MIN_MC = 20000, TRIP_MAX_MC = 150000, PACKAGE_BYTES = 200 };

/* "fifo", "fifo 50", "nice -5", "normal" */
static bool read_priority(const char *text, struct qs_start *ret)
{
    struct qs_scalar_why why;
    int64_t value = 0;
    size_t word = strcspn(text, " ");
    const char *number = text + word + strspn(text + word, " ");
    bool fifo = strncmp(text, "fifo", 4) == 0 && word == 4, nice = strncmp(text, "nice", 4) == 0 && word == 4;
    *ret = (struct qs_start){.sched = fifo ? QS_SCHED_FIFO : nice ? QS_SCHED_NICE : QS_SCHED_KEPT};
    if (fifo && *number == '\0')
        value = FIFO_DEFAULT;
    else if (fifo || nice ? !qs_scalar_int(number, &value, &why) : strcmp(text, "normal") != 0)
        return false;
    ret->value = value < INT16_MIN || value > INT16_MAX ? INT16_MAX : (int32_t)value;
    return qs_start_fits(ret);
}

void qs_job_read_priority(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                          void *at)
{
    struct qs_start *start = &((struct qs_job_controls *)at)->start, read;
    const char *text = qs_schema_text(r, node, key->form);
    if (text != NULL && !read_priority(text, &read)) {
        qs_schema_problem(r, node, "write normal, fifo, fifo 1 to fifo 99, or nice -20 to nice 19",
                          "`%s` is no priority", qs_show(text).text);
        return;
    }
    if (text != NULL) {
        start->sched = read.sched;
        start->value = read.value;
    }
}

void qs_job_read_aslr(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    struct qs_start *start = &((struct qs_job_controls *)at)->start;
    const char *text = qs_schema_text(r, node, key->form);
    if (text != NULL && strcmp(text, "off") != 0 && strcmp(text, "on") != 0)
        qs_schema_problem(r, node, "write on or off", "`%s` is neither on nor off", qs_show(text).text);
    else if (text != NULL)
        start->flags = strcmp(text, "off") == 0 ? QS_START_FIXED_ADDRESSES : 0;
}

void qs_job_read_trip(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    struct qs_job_conditions *set = at;
    struct qs_scalar_why why = {0};
    const char *text = qs_schema_text(r, node, key->form);
    if (text == NULL)
        return;
    if (!qs_scalar_quantity(text, QS_QTY_TEMPERATURE, &set->trip_mc, &why))
        qs_schema_problem(r, node, why.suggestion[0] != '\0' ? why.suggestion : "write it as 85C", "%s",
                          why.text);
    else if (set->trip_mc < TRIP_MIN_MC || set->trip_mc > TRIP_MAX_MC)
        qs_schema_problem(r, node, "write 20C to 150C", "`%s` is no limit that could protect a device",
                          qs_show(text).text);
}

void qs_job_put_priority(const struct qs_start *start, struct qs_buf *out)
{
    if (start->sched == QS_SCHED_KEPT)
        qs_buf_str(out, "normal");
    else
        qs_buf_fmt(out, "%s %d", start->sched == QS_SCHED_FIFO ? "fifo" : "nice", (int)start->value);
}

/* ---- app ---- */

static const char *const filters[] = {"assume-verified",    "extract",   "verify",        "quicken",
                                      "space-profile",      "space",     "speed-profile", "speed",
                                      "everything-profile", "everything"};

void qs_job_app_done(struct qs_job_app *app)
{
    free(app->package);
    free(app->compiled);
    *app = (struct qs_job_app){0};
}

void qs_job_app_copy(struct qs_job_app *to, const struct qs_job_app *from)
{
    *to = *from;
    to->package = qs_strdup(from->package);
    to->compiled = qs_strdup(from->compiled);
}

static bool is_package(const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '.' && *c != '_')
            return false;
    return isalpha((unsigned char)text[0]);
}

static void read_debuggable(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                            void *at)
{
    struct qs_job_app *app = at;
    struct qs_scalar_why why;
    bool value = false;
    const char *text = qs_schema_text(r, node, key->form);
    if (text != NULL && !qs_scalar_bool(text, &value, &why))
        qs_schema_problem(r, node, "write true or false", "%s", why.text);
    app->debuggable = value ? QS_APP_YES : QS_APP_NO;
}

static void check_app(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    struct qs_job_app *app = target;
    const struct qs_node *package = qs_node_get(node, "package", NULL);
    const struct qs_node *compiled = qs_node_get(node, "compiled", NULL);
    bool known = app->compiled == NULL;
    if (node == NULL)
        return;
    if (app->package == NULL) {
        if (package == NULL)
            qs_schema_problem(r, NULL, "such as `package: org.example.app`", "which app is not said");
        return;
    }
    if (!is_package(app->package))
        qs_schema_problem(r, package, "such as org.example.app", "`%s` is no name of a package",
                          qs_show(app->package).text);
    for (size_t i = 0; !known && i < sizeof filters / sizeof *filters; i++)
        known = strcmp(filters[i], app->compiled) == 0;
    if (!known) {
        QS_BUF(hint);
        qs_schema_suggest(&hint, app->compiled, "they are", filters, sizeof filters / sizeof *filters);
        qs_schema_problem(r, compiled, hint.data, "`%s` is no way in which Android compiles",
                          qs_show(app->compiled).text);
    } else if (app->compiled == NULL && app->debuggable == QS_APP_ANY) {
        qs_schema_problem(r, package, "add `debuggable: false` or `compiled: speed`",
                          "nothing of this app is checked");
    }
}

#define APP(field) offsetof(struct qs_job_app, field)

static const struct qs_key app_keys[] = {
    {.name = "package",
     .type = QS_KEY_TEXT,
     .offset = APP(package),
     .min = 1,
     .max = PACKAGE_BYTES,
     .help = "The app, by the name of its package; it has to be there."},
    {.name = "debuggable",
     .type = QS_KEY_CUSTOM,
     .read = read_debuggable,
     .form = "true or false",
     .help = "Whether it is a build that may be debugged: `false` asks for a release build."},
    {.name = "compiled",
     .type = QS_KEY_TEXT,
     .offset = APP(compiled),
     .min = 1,
     .max = 40,
     .help =
         "How the device has compiled it, such as speed or speed-profile (`cmd package compile -m speed -f "
         "PACKAGE`)."},
    {0}};
const struct qs_table qs_job_app_table = {.keys = app_keys, .check = check_app};
