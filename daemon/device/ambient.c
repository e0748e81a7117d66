#include "device/ambient.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/loop.h"
#include "base/mem.h"

enum { OUTPUT_MOST = 4096, LOW_MC = -60000, HIGH_MC = 100000 };

struct qs_ambient_ask {
    struct qs_ambients *a;
    const struct qs_farm_ambient *of;
    struct qs_command_run *run; /* owned */
    qs_ambient_fn *fn;
    void *user;
    struct qs_ambient_ask *prev, *next;
};

struct qs_ambients {
    struct qs_loop *loop;
    const struct qs_farm_config *farm;
    struct qs_ambient_reading *last; /* owned: of each sensor */
    struct qs_ambient_ask *asks;     /* owned */
};

struct qs_ambients *qs_ambients_new(struct qs_loop *loop, const struct qs_farm_config *farm)
{
    struct qs_ambients *a = qs_calloc(1, sizeof *a);
    a->loop = loop;
    a->farm = farm;
    a->last = qs_calloc(farm->ambient_count + 1, sizeof *a->last);
    for (size_t i = 0; i < farm->ambient_count; i++)
        snprintf(a->last[i].why, sizeof a->last[i].why, "it has not been read yet");
    return a;
}

void qs_ambients_free(struct qs_ambients *a)
{
    if (!a)
        return;
    while (a->asks)
        qs_ambients_drop(a->asks);
    free(a->last);
    free(a);
}

static struct qs_ambient_reading *last_of(const struct qs_ambients *a, const struct qs_farm_ambient *of)
{
    return &a->last[of - a->farm->ambients];
}

const struct qs_ambient_reading *qs_ambients_last(const struct qs_ambients *a,
                                                  const struct qs_farm_ambient *of)
{
    return last_of(a, of);
}

static bool is_younger(const struct qs_ambients *a, const struct qs_farm_ambient *of, int64_t than_ns)
{
    const struct qs_ambient_reading *last = last_of(a, of);
    return last->known && qs_loop_now_ns(a->loop) - last->at_ns <= than_ns;
}

bool qs_ambients_is_good(const struct qs_ambients *a, const struct qs_farm_ambient *of)
{
    return is_younger(a, of, of->max_age_ns);
}

bool qs_ambients_is_due(const struct qs_ambients *a, const struct qs_farm_ambient *of)
{
    return !is_younger(a, of, of->max_age_ns / 2);
}

/* One number, and nothing else. */
static bool read_number(const struct qs_farm_ambient *of, const char *output, struct qs_ambient_reading *ret)
{
    static const double factors[] = {[QS_AMBIENT_C] = 1000, [QS_AMBIENT_DC] = 100, [QS_AMBIENT_MC] = 1};
    char *end = NULL;
    errno = 0;
    double mc = strtod(output, &end) * factors[of->unit];
    bool number = end != output && errno == 0 && isfinite(mc) && end[strspn(end, " \n\r\t")] == '\0';
    if (!number)
        snprintf(ret->why, sizeof ret->why, "its answer is not one number");
    else if (!(mc >= LOW_MC && mc <= HIGH_MC))
        snprintf(ret->why, sizeof ret->why, "%.1f C is not plausible around a device", mc / 1000);
    else
        ret->mc = llround(mc);
    return number && mc >= LOW_MC && mc <= HIGH_MC;
}

static void set_last(struct qs_ambients *a, const struct qs_farm_ambient *of, const struct qs_err *err,
                     const char *output)
{
    struct qs_ambient_reading *last = last_of(a, of);
    struct qs_ambient_reading now = {.at_ns = qs_loop_now_ns(a->loop)};
    now.known = !err && read_number(of, output, &now);
    if (err)
        snprintf(now.why, sizeof now.why, "%.190s", err->text);
    if (now.known || !qs_ambients_is_good(a, of)) /* one that is good outlives a failure */
        *last = now;
    else
        memcpy(last->why, now.why, sizeof last->why);
}

static void take_out(struct qs_ambient_ask *ask)
{
    if (ask->prev)
        ask->prev->next = ask->next;
    else
        ask->a->asks = ask->next;
    if (ask->next)
        ask->next->prev = ask->prev;
}

static void on_answer(const struct qs_err *err, const char *output, size_t bytes, void *user)
{
    struct qs_ambient_ask *ask = user;
    qs_ambient_fn *fn = ask->fn;
    void *whose = ask->user;
    (void)bytes;
    set_last(ask->a, ask->of, err, output);
    take_out(ask);
    free(ask);
    fn(whose);
}

struct qs_ambient_ask *qs_ambients_ask(struct qs_ambients *a, const struct qs_farm_ambient *of,
                                       qs_ambient_fn *fn, void *user)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_ambient_ask *ask = qs_calloc(1, sizeof *ask);
    QS_FREED const char **argv = qs_calloc(of->command.count + 4, sizeof *argv);
    *ask = (struct qs_ambient_ask){.a = a, .of = of, .fn = fn, .user = user, .next = a->asks};
    for (size_t i = 0; i < of->command.count; i++)
        argv[i] = of->command.at[i];
    if (of->file != NULL) { /* a driver may take a second: not here */
        argv[0] = "cat";
        argv[1] = "--";
        argv[2] = of->file;
    }
    const struct qs_command_spec spec = {
        .argv = argv, .input = "", .timeout_ns = of->timeout_ns, .output_max_bytes = OUTPUT_MOST};
    ask->run = qs_command_start(a->loop, &spec, on_answer, ask, &err);
    if (!ask->run) {
        set_last(a, of, &err, NULL);
        free(ask);
        return NULL;
    }
    if (a->asks)
        a->asks->prev = ask;
    a->asks = ask;
    return ask;
}

void qs_ambients_drop(struct qs_ambient_ask *ask)
{
    if (!ask)
        return;
    qs_command_stop(ask->run);
    take_out(ask);
    free(ask);
}
