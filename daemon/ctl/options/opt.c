#include "ctl/options/opt.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/layout/face.h"

enum { NAMES_MAX = 128 };

struct reader {
    struct qs_args *args;
    const struct qs_opt *tables[2];
    struct qs_buf *problem;
    size_t i; /* the argument that is read */
};

static size_t count_values(const struct qs_opt *opt)
{
    size_t n = 0;
    for (const char *s = opt->values; s != NULL && *s != '\0'; n++) {
        s += strcspn(s, " ");
        s += strspn(s, " ");
    }
    return n;
}

static const struct qs_opt *find_name(const struct reader *r, const char *name, size_t n)
{
    for (size_t t = 0; t < 2; t++)
        for (const struct qs_opt *o = r->tables[t]; o != NULL && o->name != NULL; o++) {
            if (o->letters && n == 1 && islower((unsigned char)name[0]))
                return o;
            if (!o->letters && strlen(o->name) == n && memcmp(o->name, name, n) == 0)
                return o;
            if (o->alias != NULL && strlen(o->alias) == n && memcmp(o->alias, name, n) == 0)
                return o;
        }
    return NULL;
}

static const struct qs_opt *find_letter(const struct reader *r, char letter)
{
    for (size_t t = 0; t < 2; t++)
        for (const struct qs_opt *o = r->tables[t]; o != NULL && o->name != NULL; o++)
            if (o->letter == letter && letter != '\0')
                return o;
    return NULL;
}

static bool unknown(struct reader *r, const char *name, size_t n)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (size_t t = 0; t < 2; t++)
        for (const struct qs_opt *o = r->tables[t]; o != NULL && o->name != NULL && count < NAMES_MAX; o++)
            if (o->instead == NULL)
                names[count++] = o->name;
    QS_FREED char *word = qs_strndup(name, n);
    const char *near = qs_nearest(word, names, count);
    QS_BUF(advice);
    if (near != NULL)
        qs_buf_fmt(&advice, "did you mean --%s?", near);
    else
        qs_buf_fmt(&advice, "`quiesce %s --help` lists the options%s", r->args->command,
                   strcmp(r->args->command, "run") == 0
                       ? "; a command with options of its own comes after `--`"
                       : "");
    bool dashes = r->args->argv[r->i][1] == '-';
    qs_args_fail(r->args, r->problem, r->i, 0, advice.data, "there is no option %s%s", dashes ? "--" : "-",
                 word);
    return false;
}

static bool check_word(struct reader *r, const struct qs_opt_use *use, const char *value, size_t last)
{
    size_t count = 0;
    for (; use->opt->words[count] != NULL; count++)
        if (strcmp(use->opt->words[count], value) == 0)
            return true;
    const char *near = qs_nearest(value, use->opt->words, count);
    QS_BUF(list);
    if (near != NULL)
        qs_buf_fmt(&list, "did you mean %s?", near);
    else
        for (size_t i = 0; i < count; i++)
            qs_buf_fmt(&list, "%s%s", i == 0 ? "write one of " : ", ", use->opt->words[i]);
    qs_args_fail(r->args, r->problem, use->at[last], last == 0 ? use->skip : 0, list.data,
                 "--%s: `%s` is not one of its values", use->opt->name, value);
    return false;
}

static bool check_value(struct reader *r, struct qs_opt_use *use)
{
    const struct qs_opt *o = use->opt;
    size_t last = count_values(o) - 1;
    const char *value = use->value[last];
    char why[160] = "";
    char *end = NULL;
    bool ok = true;
    switch (o->kind) {
    case QS_OPT_TEXT:
        break;
    case QS_OPT_WHOLE:
        ok = qs_opt_read_whole(value, o->min, o->max, &use->number, why);
        break;
    case QS_OPT_NUMBER:
        strtod(value, &end);
        ok = value[0] != '\0' && *end == '\0' && strspn(value, "+-.0123456789") == strlen(value);
        snprintf(why, sizeof(why), "`%.100s` is not a number", value);
        break;
    case QS_OPT_RATIO:
        ok = qs_opt_read_ratio(value, o->min, o->max, &use->number, why);
        break;
    case QS_OPT_TIME:
        ok = qs_opt_read_time(value, o->min, o->max, &use->number, why);
        break;
    case QS_OPT_WORD:
        return check_word(r, use, value, last);
    }
    if (ok)
        return true;
    bool small = o->min <= 10000 && o->max >= 10000; /* whether 1 % is in its range */
    const char *advice = strstr(why, "out of range") != NULL ? NULL
                         : o->kind == QS_OPT_TIME  ? "write a number and its unit, such as 20s or 500ms"
                         : o->kind != QS_OPT_RATIO ? NULL
                         : small                   ? "write it as 1% or 0.01"
                                                   : "write it as 95% or 0.95";
    return qs_args_fail(r->args, r->problem, use->at[last], last == 0 ? use->skip : 0, advice, "--%s: %s",
                        o->name, why);
}

static bool keep(struct reader *r, const struct qs_opt_use *use)
{
    struct qs_args *a = r->args;
    if (use->opt->instead != NULL)
        return qs_args_fail(a, r->problem, use->arg, 0, use->opt->instead, "--%s is not an option here",
                            use->opt->name);
    for (size_t i = 0; i < a->use_count && !use->opt->many; i++)
        if (a->use[i].opt == use->opt)
            return qs_args_fail(a, r->problem, use->arg, 0, "keep one of them", "--%s is given twice",
                                use->opt->name);
    a->use = qs_grow(a->use, a->use_count, sizeof(*a->use));
    a->use[a->use_count++] = *use;
    return true;
}

/* The values of an option whose name has been read; `inside` is what follows its "=" (or letter), or NULL. */
static bool take(struct reader *r, const struct qs_opt *opt, const char *inside, char letter)
{
    const char *arg = r->args->argv[r->i];
    struct qs_opt_use use = {.opt = opt, .arg = r->i, .letter = letter};
    size_t wanted = count_values(opt);
    if (wanted == 0 && inside != NULL)
        return qs_args_fail(r->args, r->problem, r->i, (size_t)(inside - arg), "leave out the value",
                            "--%s takes no value", opt->name);
    size_t n = 0;
    if (inside != NULL) {
        use.skip = (size_t)(inside - arg);
        use.value[n] = inside;
        use.at[n++] = r->i;
    }
    bool follows = opt->may_follow && r->i + 1 < r->args->argc && r->args->argv[r->i + 1][0] != '-';
    if (opt->optional && n == 0 && !follows)
        return keep(r, &use);
    for (; n < wanted; n++) {
        if (r->i + 1 >= r->args->argc)
            return qs_args_fail(r->args, r->problem, use.arg, 0, NULL, "--%.*s needs %s",
                                (int)(opt->letters ? 1 : strlen(opt->name)),
                                opt->letters ? &letter : opt->name, opt->values);
        use.value[n] = r->args->argv[++r->i];
        use.at[n] = r->i;
    }
    return (wanted == 0 || check_value(r, &use)) && keep(r, &use);
}

static bool long_option(struct reader *r)
{
    const char *name = r->args->argv[r->i] + 2;
    size_t n = strcspn(name, "=");
    const struct qs_opt *opt = find_name(r, name, n);
    if (opt == NULL)
        return unknown(r, name, n);
    return take(r, opt, name[n] == '=' ? name + n + 1 : NULL, opt->letters ? name[0] : '\0');
}

static bool short_options(struct reader *r)
{
    const char *arg = r->args->argv[r->i];
    for (size_t k = 1; arg[k] != '\0'; k++) {
        const struct qs_opt *opt = find_letter(r, arg[k]);
        if (opt == NULL)
            return unknown(r, arg + k, 1);
        if (opt->values != NULL && !opt->optional) {
            const char *inside = arg[k + 1] == '=' ? arg + k + 2 : arg + k + 1;
            return take(r, opt, arg[k + 1] != '\0' ? inside : NULL, '\0');
        }
        if (!take(r, opt, NULL, '\0'))
            return false;
    }
    return true;
}

bool qs_args_read(struct qs_args *args, size_t from, const struct qs_opt *table, const struct qs_opt *common,
                  bool *ret_help, struct qs_buf *problem)
{
    struct reader r = {.args = args, .tables = {table, common}, .problem = problem, .i = from};
    bool ok = true;
    args->rest = args->argc;
    *ret_help = false;
    for (; ok && r.i < args->argc; r.i++) {
        const char *arg = args->argv[r.i];
        if (strcmp(arg, "--") == 0) {
            args->rest = r.i + 1;
            break;
        }
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            *ret_help = true;
            break;
        }
        if (arg[0] == '-' && arg[1] == '-') {
            ok = long_option(&r);
        } else if (arg[0] == '-' && arg[1] != '\0') {
            ok = short_options(&r);
        } else {
            args->word = qs_grow(args->word, args->word_count, sizeof(*args->word));
            args->word[args->word_count++] = r.i;
        }
    }
    return ok;
}

void qs_args_done(struct qs_args *args)
{
    free(args->use);
    free(args->word);
    *args = (struct qs_args){0};
}

const struct qs_opt_use *qs_args_last(const struct qs_args *args, const char *name)
{
    for (size_t i = args->use_count; i > 0; i--)
        if (strcmp(args->use[i - 1].opt->name, name) == 0)
            return &args->use[i - 1];
    return NULL;
}

bool qs_args_has(const struct qs_args *args, const char *name)
{
    return qs_args_last(args, name) != NULL;
}

const char *qs_args_text(const struct qs_args *args, const char *name, const char *fallback)
{
    const struct qs_opt_use *use = qs_args_last(args, name);
    return use != NULL && use->value[0] != NULL ? use->value[0] : fallback;
}

int64_t qs_args_number(const struct qs_args *args, const char *name, int64_t fallback)
{
    const struct qs_opt_use *use = qs_args_last(args, name);
    return use != NULL ? use->number : fallback;
}

size_t qs_args_count(const struct qs_args *args, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < args->use_count; i++)
        n += strcmp(args->use[i].opt->name, name) == 0;
    return n;
}

void qs_opt_quote(struct qs_buf *out, const char *word)
{
    if (word[0] != '\0' && strpbrk(word, " \t\n'\"\\|&;<>()$`*?[]#~{}!") == NULL) {
        qs_buf_str(out, word);
        return;
    }
    qs_buf_char(out, '\'');
    for (const char *s = word; *s != '\0'; s++)
        if (*s == '\'')
            qs_buf_str(out, "'\\''");
        else
            qs_buf_char(out, *s);
    qs_buf_char(out, '\'');
}
