/* CSV with a header: the names of its columns say what they are.
 *
 *   run, group, process, fork, runstamp      which run; without one, all rows are one run, or each row is
 *                                            one where it holds several iterations (v1, v2, ...)
 *   iteration, iter, seq                     the order inside the run
 *   benchmark, name, series, arm, point, device, test, side   together the name of the benchmark
 *   unit                                     of the row's values
 *   time, date, timestamp, commit, revision, night            a label of the value (for `history`); and what
 *                                            ends in _date, _timestamp, _commit or _revision: push_timestamp
 *   phase, taint       `warmup`, `tune` or `traced`, or any taint: the row is counted and left out
 *   evals              the column `duration` is of so many evaluations
 *   block, pos, status, index, hash, build, label, id         known, not used; and what ends in _id or _hash
 *   v1, v2, ...        iterations of one run, in the order of the columns, row after row of an equal run
 *
 * Any other column whose first cell is a number is a metric of its own, named after the column; a suffix such
 * as _ns is its unit. Other columns are text and not used. Separated by commas, semicolons or tabs. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "formats/reader.h"

enum role {
    ROLE_TEXT,
    ROLE_RUN,
    ROLE_ORDER,
    ROLE_NAME,
    ROLE_UNIT,
    ROLE_LABEL,
    ROLE_PHASE,
    ROLE_TAINT,
    ROLE_EVALS,
    ROLE_METRIC,
    ROLE_ITERATION
};

static const struct {
    const char *name;
    enum role role;
} roles[] = {
    {"run", ROLE_RUN},        {"group", ROLE_RUN},       {"process", ROLE_RUN}, {"fork", ROLE_RUN},
    {"runstamp", ROLE_RUN},   {"iteration", ROLE_ORDER}, {"iter", ROLE_ORDER},  {"seq", ROLE_ORDER},
    {"benchmark", ROLE_NAME}, {"name", ROLE_NAME},       {"series", ROLE_NAME}, {"arm", ROLE_NAME},
    {"point", ROLE_NAME},     {"device", ROLE_NAME},     {"test", ROLE_NAME},   {"side", ROLE_NAME},
    {"unit", ROLE_UNIT},      {"time", ROLE_LABEL},      {"date", ROLE_LABEL},  {"timestamp", ROLE_LABEL},
    {"commit", ROLE_LABEL},   {"revision", ROLE_LABEL},  {"night", ROLE_LABEL}, {"phase", ROLE_PHASE},
    {"taint", ROLE_TAINT},    {"block", ROLE_TEXT},      {"pos", ROLE_TEXT},    {"status", ROLE_TEXT},
    {"build", ROLE_TEXT},     {"conditions", ROLE_TEXT}, {"label", ROLE_TEXT},  {"index", ROLE_TEXT},
    {"hash", ROLE_TEXT},      {"evals", ROLE_EVALS},     {"id", ROLE_TEXT}};

/* What stands behind an underline in a name that is none of those: numbers, and no measurement. */
static const struct {
    const char *suffix;
    enum role role;
} suffixes[] = {{"_date", ROLE_LABEL},     {"_timestamp", ROLE_LABEL}, {"_commit", ROLE_LABEL},
                {"_revision", ROLE_LABEL}, {"_id", ROLE_TEXT},         {"_hash", ROLE_TEXT}};

struct cell {
    const char *at; /* place in the text */
    char *text;     /* owned, without quotes, trimmed */
};

struct column {
    char name[QS_IMPORT_NAME_BYTES + 1];
    char unit[8]; /* of the suffix, or "" */
    enum role role;
    bool known;     /* by its name; else its first cell decides */
    const char *at; /* its name's place in the text */
};

struct csv {
    struct qs_reader *r;
    const char *s;
    char separator;
    struct column *columns; /* owned */
    size_t column_count;
    struct cell cells[QS_IMPORT_COLUMNS];
    size_t cell_count;
    bool first;
    bool row_is_run; /* several iterations in a row, and no column that says which run */
};

static void drop_cells(struct csv *c)
{
    for (size_t i = 0; i < c->cell_count; i++)
        free(c->cells[i].text);
    c->cell_count = 0;
}

/* One cell in quotes: "" is a quote, and a line may end inside. */
static bool quoted_cell(struct csv *c, struct qs_buf *text)
{
    const char *from = c->s++;
    for (; *c->s != '\0'; c->s++) {
        if (*c->s == '"' && c->s[1] != '"') {
            c->s++;
            c->s += strspn(c->s, " \r");
            if (*c->s != '\0' && *c->s != c->separator && *c->s != '\n')
                return qs_reader_fail(c->r, c->s, "write a quote inside quotes twice",
                                      "text after the closing quote");
            return true;
        }
        c->s += *c->s == '"';
        qs_buf_char(text, *c->s);
    }
    return qs_reader_fail(c->r, from, "close it", "this quote is not closed");
}

static void plain_cell(struct csv *c, struct qs_buf *text)
{
    const char stops[] = {c->separator, '\n', '\0'};
    size_t n = strcspn(c->s, stops), keep = n;
    while (keep > 0 && strchr(" \t\r", c->s[keep - 1]))
        keep--;
    qs_buf_add(text, c->s, keep);
    c->s += n;
}

static bool read_cell(struct csv *c)
{
    bool ok = true;
    while (*c->s == ' ' || (*c->s == '\t' && c->separator != '\t'))
        c->s++;
    const char *at = c->s;
    QS_BUF(text);
    if (*c->s == '"')
        ok = quoted_cell(c, &text);
    else
        plain_cell(c, &text);
    if (ok && c->cell_count == QS_IMPORT_COLUMNS)
        ok = qs_reader_fail(c->r, at, NULL, "more than %d columns", QS_IMPORT_COLUMNS);
    if (ok)
        c->cells[c->cell_count++] = (struct cell){.at = at, .text = qs_buf_take(&text)};
    return ok;
}

/* The next row that is neither empty nor a comment; *ret_more false at the end. */
static bool read_row(struct csv *c, bool *ret_more)
{
    drop_cells(c);
    while (*c->s != '\0' && (strchr("\r\n", *c->s) || *c->s == '#'))
        c->s += *c->s == '#' ? strcspn(c->s, "\n") : 1;
    *ret_more = *c->s != '\0';
    for (bool more = *ret_more; more;) {
        if (!read_cell(c))
            return false;
        more = *c->s == c->separator;
        c->s += *c->s != '\0'; /* the separator, or the end of the line */
    }
    return true;
}

static char separator_of(const char *header)
{
    size_t n = strcspn(header, "\n");
    const char *const candidates = ",;\t";
    for (const char *s = candidates; *s; s++)
        if (memchr(header, *s, n))
            return *s;
    return ',';
}

static enum role role_of(const char *name, bool *known)
{
    *known = true;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcasecmp(roles[i].name, name) == 0)
            return roles[i].role;
    const char *last = strrchr(name, '_');
    for (size_t i = 0; last && last > name && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcasecmp(suffixes[i].suffix, last) == 0)
            return suffixes[i].role;
    if ((name[0] == 'v' || name[0] == 'V') && name[1] != '\0' &&
        name[1 + strspn(name + 1, "0123456789")] == '\0')
        return ROLE_ITERATION;
    *known = strcasecmp(name, "value") == 0;
    return *known ? ROLE_METRIC : ROLE_TEXT;
}

/* duration_ns: the metric `duration` in ns. */
static void split_unit(struct column *col)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "bytes"};
    char *cut = strrchr(col->name, '_');
    for (size_t i = 0; cut && cut > col->name && i < sizeof units / sizeof *units; i++) {
        if (strcmp(cut + 1, units[i]) == 0) {
            memcpy(col->unit, units[i], strlen(units[i]) + 1);
            *cut = '\0';
            return;
        }
    }
}

static bool read_header(struct csv *c)
{
    bool more;
    if (!read_row(c, &more))
        return false;
    c->columns = qs_calloc(c->cell_count, sizeof *c->columns);
    c->column_count = c->cell_count;
    for (size_t i = 0; i < c->column_count; i++) {
        struct column *col = &c->columns[i];
        double v;
        if (strlen(c->cells[i].text) > QS_IMPORT_NAME_BYTES)
            return qs_reader_fail(c->r, c->cells[i].at, NULL, "a name of more than %d bytes",
                                  QS_IMPORT_NAME_BYTES);
        if (qs_reader_number(c->cells[i].text, strlen(c->cells[i].text), &v) == QS_NUMBER_FINITE)
            return qs_reader_fail(c->r, c->cells[i].at, "give the columns names: run,iteration,value,unit",
                                  "the first line should name the columns, and this is a number");
        col->at = c->cells[i].at;
        memcpy(col->name, c->cells[i].text, strlen(c->cells[i].text) + 1);
        col->role = role_of(col->name, &col->known);
        if (!col->known)
            split_unit(col);
    }
    return true;
}

/* Two columns of one name would become one series. */
static bool has_twins(struct csv *c)
{
    for (size_t i = 1; i < c->column_count; i++) {
        const struct column *col = &c->columns[i];
        if (col->role != ROLE_METRIC && col->role != ROLE_ITERATION)
            continue;
        for (size_t k = 0; k < i; k++)
            if (c->columns[k].role == col->role && strcmp(c->columns[k].name, col->name) == 0 &&
                strcmp(c->columns[k].unit, col->unit) == 0)
                return !qs_reader_fail(c->r, col->at, "give each column a name of its own",
                                       "a second column is named `%.40s`", col->name);
    }
    return false;
}

static size_t count_role(const struct csv *c, enum role role)
{
    size_t n = 0;
    for (size_t i = 0; i < c->column_count; i++)
        n += c->columns[i].role == role;
    return n;
}

/* Columns without a known name are metrics where their first cell is a number. */
static bool settle_roles(struct csv *c)
{
    bool any = false;
    double v;
    c->row_is_run = count_role(c, ROLE_ITERATION) > 1 && count_role(c, ROLE_RUN) == 0;
    for (size_t i = 0; i < c->column_count; i++) {
        struct column *col = &c->columns[i];
        const char *text = c->cells[i].text;
        if (!col->known && qs_reader_number(text, strlen(text), &v) != QS_NUMBER_NO)
            col->role = ROLE_METRIC;
        any = any || col->role == ROLE_METRIC || col->role == ROLE_ITERATION;
    }
    for (size_t i = 0; !any && i < c->column_count; i++) { /* a column `time` of durations, not of dates */
        const char *text = c->cells[i].text;
        any = strcasecmp(c->columns[i].name, "time") == 0 &&
              qs_reader_number(text, strlen(text), &v) == QS_NUMBER_FINITE;
        if (any)
            c->columns[i].role = ROLE_METRIC;
    }
    if (any)
        return !has_twins(c);
    return qs_reader_fail(c->r, c->cells[0].at,
                          "name the column of the numbers `value`: run,iteration,value,unit",
                          "no column holds numbers");
}

struct row {
    char name[QS_IMPORT_NAME_BYTES + 1], label[QS_IMPORT_NAME_BYTES + 1];
    const char *unit;
    uint64_t run;
    double order, evals;
    bool warmup, tainted;
};

static void join(char *to, const char *with, const char *text)
{
    size_t n = strlen(to);
    if (text[0] != '\0')
        snprintf(to + n, QS_IMPORT_NAME_BYTES + 1 - n, "%s%s", n > 0 ? with : "", text);
}

static bool is_warmup(const char *text)
{
    return strcasecmp(text, "warmup") == 0 || strcasecmp(text, "warm-up") == 0 ||
           strcasecmp(text, "tune") == 0 || strcasecmp(text, "traced") == 0;
}

/* What the row says about its values. */
static bool read_keys(struct csv *c, struct row *row)
{
    memset(row, 0, sizeof *row);
    row->unit = "";
    row->evals = 1;
    row->run = c->row_is_run ? (uint64_t)(c->cells[0].at - c->r->text) : 0;
    for (size_t i = 0; i < c->column_count; i++) {
        const char *text = c->cells[i].text;
        size_t n = strlen(text);
        enum role role = c->columns[i].role;
        if ((role == ROLE_NAME || role == ROLE_UNIT) && n > QS_IMPORT_NAME_BYTES)
            return qs_reader_fail(c->r, c->cells[i].at, NULL, "a name of more than %d bytes",
                                  QS_IMPORT_NAME_BYTES);
        if (role == ROLE_RUN)
            row->run = row->run * 31 + qs_reader_hash(text, n);
        else if (role == ROLE_NAME)
            join(row->name, " ", text);
        else if (role == ROLE_LABEL)
            join(row->label, " ", text);
        else if (role == ROLE_UNIT)
            row->unit = text;
        else if (role == ROLE_PHASE)
            row->warmup = is_warmup(text);
        else if (role == ROLE_TAINT)
            row->tainted = n > 0 && strcmp(text, "0") != 0;
        else if (role == ROLE_EVALS &&
                 !(qs_reader_number(text, n, &row->evals) == QS_NUMBER_FINITE && row->evals >= 1))
            return qs_reader_fail(c->r, c->cells[i].at, "write how many, 1 or more",
                                  "`%.40s` is not a number of evaluations", text);
        else if (role == ROLE_ORDER && qs_reader_number(text, n, &row->order) != QS_NUMBER_FINITE)
            return qs_reader_fail(c->r, c->cells[i].at, "number the iterations: 0, 1, 2",
                                  "`%.40s` in the column `%s` is not a number", text, c->columns[i].name);
    }
    return true;
}

static bool take_cell(struct csv *c, const struct row *row, size_t i)
{
    const struct column *col = &c->columns[i];
    const char *text = c->cells[i].text, *unit = col->unit[0] ? col->unit : row->unit;
    bool iteration = col->role == ROLE_ITERATION;
    const struct qs_import_key key = {.benchmark = row->name,
                                      .metric = iteration ? "value" : col->name,
                                      .unit = unit,
                                      .direction = qs_direction_of_unit(unit)};
    double v = 0;
    struct qs_import_build *b = qs_reader_series(c->r, &key, c->cells[i].at);
    if (!b)
        return false;
    if (text[0] == '\0')
        return iteration || qs_reader_drop(c->r, b, QS_DROP_EMPTY, 1);
    if (qs_reader_number(text, strlen(text), &v) == QS_NUMBER_NO)
        return qs_reader_fail(c->r, c->cells[i].at, "write numbers with a point and without a unit: 12.5",
                              "`%.40s` in the column `%s` is not a number", text, col->name);
    if (row->warmup || row->tainted)
        return qs_reader_drop(c->r, b, row->warmup ? QS_DROP_WARMUP : QS_DROP_FAILED, 1);
    if (strcasecmp(col->name, "duration") == 0)
        v /= row->evals;
    return qs_reader_value(c->r, b, v, row->run, row->order, row->label[0] ? row->label : NULL);
}

static bool take_row(struct csv *c)
{
    struct row row;
    if (c->cell_count != c->column_count)
        return qs_reader_fail(c->r, c->cells[c->cell_count - 1].at, NULL,
                              "this row has %zu cell%s, the header %zu", c->cell_count,
                              c->cell_count == 1 ? "" : "s", c->column_count);
    if (c->first && !settle_roles(c))
        return false;
    c->first = false;
    if (!read_keys(c, &row))
        return false;
    for (size_t i = 0; i < c->column_count; i++) {
        enum role role = c->columns[i].role;
        if ((role == ROLE_METRIC || role == ROLE_ITERATION) && !take_cell(c, &row, i))
            return false;
    }
    return true;
}

bool qs_import_csv(struct qs_reader *r)
{
    struct csv *c = qs_calloc(1, sizeof *c);
    *c = (struct csv){.r = r, .s = r->text, .first = true};
    c->s += strspn(c->s, "\r\n");
    while (*c->s == '#')
        c->s += strcspn(c->s, "\n") + (c->s[strcspn(c->s, "\n")] == '\n');
    c->separator = separator_of(c->s);
    bool more = true, ok = read_header(c);
    while (ok && more) {
        ok = read_row(c, &more);
        if (ok && more)
            ok = take_row(c);
    }
    drop_cells(c);
    free(c->columns);
    free(c);
    return ok;
}
