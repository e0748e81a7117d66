/* Arguments of the command line, parameters of the agent. */
#ifndef QUIESCE_PARTS_ARGUMENTS_H
#define QUIESCE_PARTS_ARGUMENTS_H

#include "quiesce/parts/declare.h"
#include "quiesce/parts/names.h"

QUIESCE_FN void quiesce_i_set(struct quiesce *q, const struct quiesce_param *p, const char *text)
{
    char *end = NULL;
    errno = 0;
    if (p->kind == QUIESCE_TEXT) {
        *(const char **)p->value = text;
    } else if (p->kind == QUIESCE_INT) {
        long long value = strtoll(text, &end, 10);
        if (!*text || *end || errno || value < p->int_min || value > p->int_max) {
            quiesce_fail(q, "%s: `%s` is not a whole number, %lld to %lld", p->name, text,
                         (long long)p->int_min, (long long)p->int_max);
        }
        *(int64_t *)p->value = value;
    } else if (p->kind == QUIESCE_DOUBLE) {
        double value = strtod(text, &end);
        if (!*text || *end || errno || !(value >= p->min && value <= p->max)) {
            quiesce_fail(q, "%s: `%s` is not a number, %g to %g", p->name, text, p->min, p->max);
        }
        *(double *)p->value = value;
    }
}

/* Name and value of one argument or one string of the agent; `what` stands before the name in errors. */
QUIESCE_FN struct quiesce_param *quiesce_i_named(struct quiesce *q, const char *what, const char *text,
                                                 size_t bytes, bool options)
{
    char name[QUIESCE_BENCH_NAME_BYTES];
    const char *best = NULL;
    struct quiesce_param *p = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : sizeof name - 1), text);
    p = quiesce_i_find(q->params, q->params_count, name, &best);
    if (!p && options) {
        p = quiesce_i_find(q->options, q->options_count, name, &best);
    }
    if (!p && best) {
        quiesce_fail(q, "there is no %s%s; did you mean %s%s?", what, name, what, best);
    } else if (!p) {
        quiesce_fail(q, "there is no %s%s; --help lists the options", what, name);
    }
    return p;
}

/* --name value, --name=value, --flag */
QUIESCE_FN void quiesce_i_arguments(struct quiesce *q, int argc, char **argv)
{
    for (int i = 1; i < argc && !q->failed; i++) {
        const char *name = argv[i] + 2, *value = strchr(argv[i], '=');
        const struct quiesce_param *p = NULL;
        if (strncmp(argv[i], "--", 2) != 0 || !argv[i][2]) {
            quiesce_fail(q, "`%s`: arguments have the form --name value; --help lists the names", argv[i]);
            return;
        }
        p = quiesce_i_named(q, "--", name, value ? (size_t)(value - name) : strlen(name), true);
        if (p && p->kind == QUIESCE_FLAG) {
            *(bool *)p->value = true;
        } else if (p && !value && i + 1 == argc) {
            quiesce_fail(q, "--%s needs a value", p->name);
        } else if (p) {
            quiesce_i_set(q, p, value ? value + 1 : argv[++i]);
        }
    }
}

QUIESCE_FN void quiesce_i_option(struct quiesce *q, const char *name, enum quiesce_param_kind kind,
                                 void *value, const char *help)
{
    const char *best = NULL;
    struct quiesce_param *p = &q->options[q->options_count++];
    if (quiesce_i_find(q->params, q->params_count, name, &best)) {
        quiesce_fail(q, "the program calls a parameter --%s, which is an option of every benchmark", name);
    }
    p->name = name;
    p->kind = kind;
    p->value = value;
    p->help = help;
    p->int_max = INT64_MAX;
    p->max = 1e6;
}

/* Which benchmark: `name`, or the only one where that is empty. */
QUIESCE_FN void quiesce_i_choose(struct quiesce *q, const char *name)
{
    const char *best = NULL;
    if (!*name && q->benchmarks_count == 1) {
        q->current = &q->benchmarks[0];
        return;
    }
    for (uint32_t i = 0; i < q->benchmarks_count; i++) {
        if (strcmp(q->benchmarks[i].name, name) == 0) {
            q->current = &q->benchmarks[i];
            return;
        }
        quiesce_i_nearer(name, q->benchmarks[i].name, &best);
    }
    if (*name && best) {
        quiesce_fail(q, "there is no benchmark %s; did you mean %s?", name, best);
    } else if (*name) {
        quiesce_fail(q, "there is no benchmark %s; --list names them", name);
    } else {
        quiesce_fail(q, "there are %u benchmarks: say which with --benchmark NAME",
                     (unsigned)q->benchmarks_count);
    }
}

/* The strings of the agent; they lie in memory that stays. */
QUIESCE_FN void quiesce_i_shared_params(struct quiesce *q)
{
    const char *text = q->shared->params, *end = NULL;
    uint32_t bytes = q->shared->params_bytes;
    if (bytes > QUIESCE_BENCH_PARAMS_BYTES || (bytes > 0 && text[bytes - 1])) {
        quiesce_fail(q, "the agent's parameters do not end");
        return;
    }
    for (end = text + bytes; text < end && !q->failed; text += strlen(text) + 1) {
        const char *value = strchr(text, '=');
        const struct quiesce_param *p =
            quiesce_i_named(q, "parameter ", text, value ? (size_t)(value - text) : strlen(text), false);
        if (p) {
            quiesce_i_set(q, p, value ? value + 1 : "");
        }
    }
}

#endif
