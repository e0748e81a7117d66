#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/run/run.h"

enum { SCALE_MAX = 9 };

bool qs_run_uses(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = strchr(text, '{'); p != NULL; p = strchr(p + 1, '{'))
        if (strncmp(p + 1, name, n) == 0 && p[n + 1] == '}')
            return true;
    return false;
}

static bool starts_param(const struct qs_run_line *line, const char *brace)
{
    for (size_t i = 0; i < line->param_count; i++) {
        size_t n = strlen(line->params[i].name);
        if (strncmp(brace + 1, line->params[i].name, n) == 0 && brace[n + 1] == '}')
            return true;
    }
    return false;
}

void qs_run_template(const struct qs_run_line *line, const char *text, struct qs_buf *out)
{
    for (; *text != '\0'; text++) {
        qs_buf_char(out, *text);
        if (*text == '{' && !starts_param(line, text))
            qs_buf_char(out, '{');
    }
}

static bool is_name(const char *s)
{
    if (!isalpha((unsigned char)s[0]) && s[0] != '_')
        return false;
    for (; *s != '\0'; s++)
        if (!isalnum((unsigned char)*s) && strchr("_-.", *s) == NULL)
            return false;
    return true;
}

/* "-1.25" as -125 with two digits after the point. */
static bool read_decimal(const char *s, int64_t *ret, int *ret_digits)
{
    bool negative = *s == '-', point = false;
    int64_t v = 0;
    int digits = 0;
    s += *s == '-' || *s == '+';
    if (*s == '\0')
        return false;
    for (; *s != '\0'; s++) {
        if (*s == '.' && !point) {
            point = true;
            continue;
        }
        if (!isdigit((unsigned char)*s) || v > INT64_C(1000000000000) || digits >= SCALE_MAX)
            return false;
        v = v * 10 + (*s - '0');
        digits += point ? 1 : 0;
    }
    *ret = negative ? -v : v;
    *ret_digits = digits;
    return true;
}

static bool rescale(int64_t *v, int from, int to)
{
    for (; from < to; from++)
        if (__builtin_mul_overflow(*v, 10, v))
            return false;
    return true;
}

static void add_decimal(struct qs_words *values, int64_t v, int digits)
{
    char text[48];
    int64_t one = 1;
    for (int i = 0; i < digits; i++)
        one *= 10;
    int64_t whole = (v < 0 ? -v : v) / one, part = (v < 0 ? -v : v) % one;
    int n = snprintf(text, sizeof(text), "%s%" PRId64, v < 0 ? "-" : "", whole);
    if (digits > 0)
        n += snprintf(text + n, sizeof(text) - (size_t)n, ".%0*" PRId64, digits, part);
    qs_words_add(values, text, (size_t)n);
}

static bool read_scan(const struct qs_args *args, const struct qs_opt_use *use, struct qs_run_param *p,
                      struct qs_buf *problem)
{
    int64_t v[3] = {0, 0, 1};
    int digits[3] = {0, 0, 0}, most = 0;
    const struct qs_opt_use *step = qs_args_last(args, "step");
    for (size_t i = 0; i < 2; i++)
        if (!read_decimal(use->value[i + 1], &v[i], &digits[i]))
            return qs_args_fail(args, problem, use->at[i + 1], 0, NULL,
                                "--parameter-scan: `%s` is not a number", use->value[i + 1]);
    if (step != NULL && (!read_decimal(step->value[0], &v[2], &digits[2]) || v[2] <= 0))
        return qs_args_fail(args, problem, step->at[0], step->skip, NULL,
                            "--step: `%s` is not a number above 0", step->value[0]);
    for (size_t i = 0; i < 3; i++)
        most = digits[i] > most ? digits[i] : most;
    for (size_t i = 0; i < 3; i++)
        if (!rescale(&v[i], digits[i], most))
            return qs_args_fail(args, problem, use->at[i < 2 ? i + 1 : 2], 0, NULL,
                                "--parameter-scan: too many digits");
    if (v[0] > v[1])
        return qs_args_fail(args, problem, use->at[1], 0, "write the smaller number first",
                            "--parameter-scan: there is nothing from %s to %s", use->value[1], use->value[2]);
    int64_t span;
    if (__builtin_sub_overflow(v[1], v[0], &span) || span / v[2] >= QS_RUN_VALUES_MAX)
        return qs_args_fail(args, problem, use->at[2], 0, "take a larger --step", "more than %d values",
                            QS_RUN_VALUES_MAX);
    for (int64_t i = 0; i <= span / v[2]; i++)
        add_decimal(&p->values, v[0] + i * v[2], most);
    return true;
}

/* a,b,c; a comma that belongs to a value is written \, */
static bool read_list(const struct qs_args *args, const struct qs_opt_use *use, struct qs_run_param *p,
                      struct qs_buf *problem)
{
    QS_BUF(word);
    for (const char *s = use->value[1];; s++) {
        if (*s == '\\' && s[1] == ',') {
            qs_buf_char(&word, *++s);
        } else if (*s == ',' || *s == '\0') {
            qs_words_add(&p->values, word.data, word.len);
            qs_buf_clear(&word);
            if (*s == '\0')
                break;
        } else {
            qs_buf_char(&word, *s);
        }
    }
    for (size_t i = 0; i < p->values.count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(p->values.at[i], p->values.at[k]) == 0)
                return qs_args_fail(args, problem, use->at[1], 0, NULL,
                                    "--parameter-list: `%s` is in it twice", p->values.at[i]);
    return p->values.count <= QS_RUN_VALUES_MAX ||
           qs_args_fail(args, problem, use->at[1], 0, NULL, "more than %d values", QS_RUN_VALUES_MAX);
}

static bool is_used(const struct qs_args *args, const struct qs_run_line *line, const char *name)
{
    static const char *const hooks[] = {"setup", "prepare", "conclude", "cleanup"};
    for (size_t i = 0; i < line->command_count; i++)
        if (qs_run_uses(line->commands[i].text, name))
            return true;
    for (size_t i = 0; i < args->use_count; i++)
        for (size_t h = 0; h < 4; h++)
            if (strcmp(args->use[i].opt->name, hooks[h]) == 0 && qs_run_uses(args->use[i].value[0], name))
                return true;
    return false;
}

static bool read_one(const struct qs_args *args, const struct qs_opt_use *use, bool scan,
                     struct qs_run_line *line, struct qs_buf *problem)
{
    const char *name = use->value[0];
    if (!is_name(name) || strlen(name) > 40)
        return qs_args_fail(args, problem, use->at[0], use->skip,
                            "letters, digits, `_`, `-` and `.`, beginning with a letter",
                            "`%s` cannot be a parameter's name", name);
    for (size_t i = 0; i < line->param_count; i++)
        if (strcmp(line->params[i].name, name) == 0)
            return qs_args_fail(args, problem, use->at[0], use->skip, NULL,
                                "the parameter `%s` is given twice", name);
    if (line->param_count == QS_RUN_PARAMS_MAX)
        return qs_args_fail(args, problem, use->arg, 0, NULL, "more than %d parameters", QS_RUN_PARAMS_MAX);
    if (!qs_args_has(args, "harness") && !is_used(args, line, name))
        return qs_args_fail(args, problem, use->at[0], use->skip, "write {NAME} where its value belongs",
                            "no command uses {%s}", name);
    struct qs_run_param *p = &line->params[line->param_count++];
    *p = (struct qs_run_param){.name = qs_strdup(name), .arg = use->arg};
    return scan ? read_scan(args, use, p, problem) : read_list(args, use, p, problem);
}

bool qs_run_read_params(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem)
{
    bool any_scan = false;
    for (size_t i = 0; i < args->use_count; i++) {
        const struct qs_opt_use *use = &args->use[i];
        bool scan = strcmp(use->opt->name, "parameter-scan") == 0;
        any_scan = any_scan || scan;
        if ((scan || strcmp(use->opt->name, "parameter-list") == 0) &&
            !read_one(args, use, scan, line, problem))
            return false;
    }
    const struct qs_opt_use *step = qs_args_last(args, "step");
    if (step != NULL && !any_scan)
        return qs_args_fail(args, problem, step->arg, 0, "add --parameter-scan VAR MIN MAX",
                            "--step is for --parameter-scan");
    return true;
}
