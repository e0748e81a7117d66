#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/client/api.h"
#include "ctl/compared.h"
#include "ctl/offline.h"
#include "ctl/query.h"
#include "ctl/result.h"
#include "ctl/text_file.h"

static const char *const rules[] = {"judge",      "android", "kalibera2005", "futhark", "rancid",
                                    "perfherder", "skia",    "all",          NULL};

static const struct qs_opt options[] = {
    {.name = "markdown", .help = "Print a Markdown table.", .heading = "Form"},
    {.name = "junit",
     .help = "Print a JUnit report: a regression is a failure, an undecided comparison is skipped."},
    {.name = "csv", .help = "Print every iteration as CSV; `phase` tells warm-up from measuring."},
    {.name = "output", .values = "FILE", .help = "Write the result there."},
    {.name = "fail-on",
     .values = "WHAT",
     .kind = QS_OPT_WORD,
     .words = qs_fail_on_words,
     .help = "Exit with 5 for a regression (the default), also for a probable one, also for inconclusive "
             "verdicts, or never."},
    QS_TIME_UNIT_OPTION,
    {.name = "sort",
     .values = "HOW",
     .kind = QS_OPT_WORD,
     .words = qs_sort_words,
     .help = "The order of arms in the table: command (as given) or median."},
    {.name = "show-output", .help = "Show the output that was captured."},
    {.name = "rule",
     .values = "NAME",
     .kind = QS_OPT_WORD,
     .words = rules,
     .many = true,
     .help = "Show what this rule says, in addition to the verdict: judge (BenchmarkTools), android (the "
             "article on macrobenchmarks), kalibera2005, futhark, rancid, perfherder, skia, or all."},
    QS_VIEW_OPTIONS,
    {.name = "metric",
     .values = "NAME",
     .many = true,
     .help = "Judge this metric in addition to the duration (max_rss_bytes, user_time_us, ...), instead of "
             "all declared ones.",
     .heading = "Jobs"},
    {.name = "allow-diff",
     .values = "KEY,...",
     .optional = true,
     .many = true,
     .help = "Compare even if this differs as well (kernel, env.PATH, env for all variables); without keys, "
             "whatever differs."},
    QS_OFFLINE_OPTIONS,
    {.name = "margin",
     .values = "P",
     .kind = QS_OPT_RATIO,
     .max = 10000000,
     .help = "The smallest change that matters (2%)."},
    {.name = "per",
     .values = "WHAT",
     .kind = QS_OPT_WORD,
     .words = qs_per_words,
     .help = "What a verdict counts: run, or iteration, which takes each value as a run."},
    {0}};

/* Whatever the form, the exit code is the verdict's. */
static int print_csv(struct qs_ctl *ctl, struct qs_http *http, int64_t job)
{
    int code = QS_EXIT_OK;
    QS_BUF(text);
    QS_BUF(path);
    qs_buf_fmt(&path, "/api/v1/jobs/%" PRId64 "/export?format=csv", job);
    if (qs_api_text(ctl, http, path.data, &text, &code)) {
        qs_ctl_print(ctl->out, &text);
        qs_result_path(ctl->args, job, &path);
        json_auto_t *doc = qs_api_get(ctl, http, path.data, &code);
        if (doc != NULL)
            code = qs_compared_code(ctl, doc);
    }
    return code;
}

static int fail_words(struct qs_ctl *ctl, size_t word, const char *what, const char *advice)
{
    QS_BUF(problem);
    qs_args_fail(ctl->args, &problem, ctl->args->word[word], 0, advice, "%s", what);
    qs_ctl_print(ctl->err, &problem);
    return QS_EXIT_USAGE;
}

static bool has_form(const struct qs_args *args)
{
    return qs_args_has(args, "markdown") || qs_args_has(args, "csv") || qs_args_has(args, "junit");
}

/* An option that says nothing to what is compared is a mistake, not a wish to be ignored. */
static bool check_options(struct qs_ctl *ctl, const char *const *foreign, const char *what, int *ret_code)
{
    for (; *foreign != NULL; foreign++) {
        if (!qs_args_has(ctl->args, *foreign))
            continue;
        QS_BUF(text);
        qs_buf_fmt(&text, "--%s is not for %s", *foreign, what);
        *ret_code = fail_words(ctl, 0, text.data, "leave it out");
        return false;
    }
    return true;
}

static int run_files(struct qs_ctl *ctl)
{
    static const char *const of_jobs[] = {"csv", "show-output", "allow-diff", "metric", NULL};
    int code = QS_EXIT_OK;
    if (!check_options(ctl, of_jobs, "files", &code))
        return code;
    if (ctl->args->word_count != 2)
        return fail_words(ctl, 0, "a comparison of files needs two",
                          "the baseline first: quiesce compare old.json new.json");
    return qs_offline_run(ctl, "/api/v1/analyze:compare");
}

static int run_sides(struct qs_ctl *ctl)
{
    static const char *const of_others[] = {"csv",        "show-output", "format", "better", "seed",
                                            "resolution", "resamples",   "per",    NULL};
    int code = QS_EXIT_OK;
    const struct qs_args *args = ctl->args;
    if (!check_options(ctl, of_others, "jobs, builds and nights", &code))
        return code;
    return qs_compared_sides(ctl, args->argv[args->word[0]], args->argv[args->word[1]]);
}

/* Markdown or JUnit. */
static int run_form(struct qs_ctl *ctl, struct qs_http *http, int64_t job)
{
    int code = QS_EXIT_OK;
    QS_BUF(text);
    QS_BUF(path);
    qs_result_path(ctl->args, job, &path);
    if (qs_api_text(ctl, http, path.data, &text, &code))
        code = qs_compared_show(ctl, &text);
    return code;
}

static int run_job(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    int64_t job = 0;
    json_t *doc = NULL;
    static const char *const of_sides[] = {"allow-diff", "margin",     "level",     "format", "better",
                                           "seed",       "resolution", "resamples", "per",    NULL};
    if (!qs_api_job_id(ctl, 0, &job))
        return QS_EXIT_USAGE;
    if (!check_options(ctl, of_sides, "the arms of one job: name two sides, as in 7:old 7:new", &code))
        return code;
    if (qs_args_has(ctl->args, "rule") && has_form(ctl->args))
        return fail_words(ctl, 0, "--rule goes with the page and with --json",
                          "leave out --markdown, --csv or --junit");
    if (qs_args_has(ctl->args, "csv") &&
        (qs_query_views(NULL, ctl->args) || qs_args_has(ctl->args, "metric")))
        return fail_words(ctl, 0,
                          "--csv has every iteration with all its metrics, also those that do not count",
                          "filter by its columns, and leave out views and --metric");
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_reach_reading(ctl, &code);
    if (http == NULL)
        return code;
    if (qs_args_has(ctl->args, "csv"))
        code = print_csv(ctl, http, job);
    else if (has_form(ctl->args))
        code = run_form(ctl, http, job);
    else if (qs_result_print(ctl, http, job, false, &doc, &code))
        code = qs_compared_code(ctl, doc);
    json_decref(doc);
    return code;
}

/* Words of the store win over files of the same name: ./12 is a file for sure. */
static int run_what(struct qs_ctl *ctl)
{
    const struct qs_args *args = ctl->args;
    const char *first = args->argv[args->word[0]];
    bool two = args->word_count == 2;
    if (two && qs_compared_is_side(first) && qs_compared_is_side(args->argv[args->word[1]]))
        return run_sides(ctl);
    if (two || qs_offline_is_file(first))
        return run_files(ctl);
    return run_job(ctl);
}

/* The file is written when there is something to write: an error leaves the old one as it is. */
static int run(struct qs_ctl *ctl)
{
    const char *path = qs_args_text(ctl->args, "output", NULL);
    struct qs_err err = QS_ERR_INIT;
    char *text = NULL;
    size_t n = 0;
    if (path == NULL || strcmp(path, "-") == 0)
        return run_what(ctl);
    if (!qs_may_write(path, &err))
        return qs_api_fail(ctl, &err);
    FILE *out = ctl->out;
    struct qs_face face = ctl->face;
    ctl->out = open_memstream(&text, &n);
    if (ctl->out == NULL)
        abort();
    ctl->face.color = false;
    int code = run_what(ctl);
    fclose(ctl->out);
    ctl->out = out;
    ctl->face = face;
    if (n > 0 && code != QS_EXIT_USAGE && code != QS_EXIT_INFRASTRUCTURE && code != QS_EXIT_INTERRUPTED)
        code = qs_write_text(path, text, n, &err) ? code : qs_api_fail(ctl, &err);
    else
        fwrite(text, 1, n, out);
    free(text);
    return code;
}

const struct qs_command qs_command_compare = {
    .name = "compare",
    .summary = "Compare two sides: jobs, builds, nights or files; exit code 5 for a regression",
    .usage = "[OPTIONS] JOB\n[OPTIONS] BASE CANDIDATE\n[OPTIONS] FILE_A FILE_B",
    .about = "BASE and CANDIDATE are 12 (a job), 12:ARM, build:LABEL, build:FROM..TO, night:2026-11-20 "
             "(sessions that began on that day), or several of these with commas, taken as one sample. "
             "Differences other than the arm are listed; if one matters the comparison is refused (exit code "
             "4), unless --allow-diff says otherwise. One job alone compares its arms. Of files, the first "
             "is the baseline; the formats are those of `quiesce analyze`. The verdict rests on runs: "
             "medians of freshly started processes. Where a file has a single run it is inconclusive, and "
             "--per iteration shows the verdict if every value were a run.",
    .options = options,
    .examples = "quiesce compare 7\nquiesce compare 7:old 9:new --margin 5%\n"
                "quiesce compare build:v1 build:v2 --markdown --output comment.md\n"
                "quiesce compare build:r01..r06 build:r07..r12\n"
                "quiesce compare 7,8 9,10 --allow-diff=kernel --junit > report.xml\n"
                "quiesce compare 7 --rule judge --rule skia\n"
                "quiesce compare build:v1 build:v2 --fail-on probable\n"
                "quiesce compare before.json after.json\n"
                "quiesce compare --per iteration --margin 5% old.txt new.txt",
    .least_words = 1,
    .most_words = 2,
    .run = run};
