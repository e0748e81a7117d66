#include "device/board/board.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "device/board/impl.h"
#include "report/system.h"

enum { NAME_BYTES = 56, NOTES_MAX = 64, FACTS_BYTES = 4 * 1024 * 1024 };

void qs_work_note(struct qs_work *w, const char *fmt, ...)
{
    va_list ap;
    QS_BUF(text);
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    if (w->board->notes.count < NOTES_MAX && !qs_strings_have(&w->board->notes, text.data))
        qs_strings_add(&w->board->notes, qs_buf_take(&text));
}

bool qs_work_seen(struct qs_strings *keys, const char *key)
{
    bool seen = qs_strings_have(keys, key);
    if (!seen)
        qs_strings_add(keys, qs_strdup(key));
    return seen;
}

bool qs_work_avoided(const struct qs_work *w, const char *path)
{
    for (size_t l = 0; l < w->layer_count; l++)
        for (size_t i = 0; i < w->layers[l]->avoid.count; i++)
            if (qs_glob(w->layers[l]->avoid.at[i], path))
                return true;
    return false;
}

const char *qs_board_avoids(const struct qs_board *board, const struct qs_profiles *profiles,
                            const char *path)
{
    for (size_t l = 0; l < board->profiles.count; l++) {
        const struct qs_profile *p = qs_profiles_find(profiles, board->profiles.at[l]);
        for (size_t i = 0; p && i < p->avoid.count; i++)
            if (qs_glob(p->avoid.at[i], path))
                return board->profiles.at[l];
    }
    return NULL;
}

/* The parts of the folder that wildcards stand for; without any, its last part. */
static void put_folder(struct qs_buf *out, const struct qs_strings *each, const char *folder)
{
    const char *pattern = NULL, *last = strrchr(folder, '/') != NULL ? strrchr(folder, '/') + 1 : folder;
    size_t before = out->len;
    for (size_t i = 0; i < each->count && pattern == NULL; i++)
        pattern = qs_glob(each->at[i], folder) ? each->at[i] : NULL;
    while (pattern != NULL && *pattern != '\0' && *folder != '\0') {
        size_t n = strcspn(pattern, "/"), m = strcspn(folder, "/");
        if (strcspn(pattern, "*?[") < n) {
            qs_buf_str(out, out->len > before ? "." : "");
            qs_buf_add(out, folder, m);
        }
        pattern += n + (pattern[n] == '/');
        folder += m + (folder[m] == '/');
    }
    if (out->len == before)
        qs_buf_str(out, last);
}

static void put_file(struct qs_buf *out, const char *file)
{
    const char *base = strrchr(file, '/') != NULL ? strrchr(file, '/') + 1 : file;
    qs_buf_add(out, base, strcspn(base, "_") > 0 ? strcspn(base, "_") : strlen(base));
}

char *qs_work_name(const char *form, const struct qs_strings *each, const char *folder, const char *type,
                   const char *file)
{
    QS_BUF(out);
    for (const char *at = form; *at != '\0';) {
        if (*at != '{') {
            qs_buf_char(&out, *at++);
            continue;
        }
        if (strncmp(at, QS_TOOL_ARG, sizeof QS_TOOL_ARG - 1) == 0)
            qs_buf_str(&out, QS_TOOL_ARG); /* a job says it */
        else if (at[1] == 't')
            qs_buf_str(&out, type);
        else if (strncmp(at, "{folder}", 8) == 0)
            put_folder(&out, each, folder);
        else
            put_file(&out, file);
        at = strchr(at, '}') + 1;
    }
    char *name = qs_strndup(out.data, out.len < NAME_BYTES ? out.len : NAME_BYTES);
    for (char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c <= 0x20 || (unsigned char)*c >= 0x7f)
            *c = '_';
    return name;
}

static const char *name_of(const void *list, size_t i, size_t size)
{
    const char *name;
    memcpy(&name, (const char *)list + i * size, sizeof name);
    return name;
}

char *qs_work_unique(char *name, const void *list, size_t count, size_t size)
{
    size_t n = strlen(name), number = 1;
    bool taken = false;
    for (size_t i = 0; i < count; i++) {
        const char *other = name_of(list, i, size);
        bool same = strcmp(other, name) == 0;
        taken = taken || same;
        number += same || (strncmp(other, name, n) == 0 && other[n] == '.');
    }
    while (taken) {
        QS_FREED char *next = qs_asprintf("%s.%zu", name, number++);
        taken = false;
        for (size_t i = 0; i < count && !taken; i++)
            taken = strcmp(name_of(list, i, size), next) == 0;
        if (!taken) {
            free(name);
            return qs_strdup(next);
        }
    }
    return name;
}

/* --- which profiles --- */

static bool fact_holds(const struct qs_node *facts, const struct qs_profile_pair *pair)
{
    const struct qs_node *value = qs_node_get(facts, pair->key, NULL);
    return value != NULL && value->kind == QS_NODE_TEXT && qs_glob_type(pair->pattern, value->text);
}

static bool file_holds(const struct qs_work *w, const struct qs_profile_pair *pair)
{
    QS_SCOPED(qs_strings_done) struct qs_strings files = {0};
    qs_work_files(w, pair->key, &files);
    for (size_t i = 0; i < files.count; i++) {
        QS_FREED char *text = qs_row_text(qs_work_find(w, files.at[i]));
        if (strcmp(pair->pattern, "*") == 0 || (text != NULL && qs_glob_type(pair->pattern, text)))
            return true;
    }
    return false;
}

static bool matches(const struct qs_work *w, const struct qs_profile *p, const struct qs_node *facts)
{
    bool any = p->match_count == 0;
    for (size_t i = 0; i < p->match_count && !any; i++) {
        const struct qs_profile_match *m = &p->match[i];
        bool all = m->facts.count + m->files.count > 0;
        for (size_t k = 0; k < m->facts.count && all; k++)
            all = fact_holds(facts, &m->facts.at[k]);
        for (size_t k = 0; k < m->files.count && all; k++)
            all = file_holds(w, &m->files.at[k]);
        any = all;
    }
    return any;
}

static bool has_layer(const struct qs_work *w, const struct qs_profile *p)
{
    for (size_t i = 0; i < w->layer_count; i++)
        if (w->layers[i] == p)
            return true;
    return false;
}

/* Above that of whatever it extends; above that of all that are built in where it, or what it extends, is the
 * farm's own. */
static size_t rank(const struct qs_profiles *profiles, const struct qs_profile *p)
{
    size_t n = p->file != NULL, own = 0;
    for (; p != NULL && n <= 2 * profiles->count; n += 2) {
        own = own || p->file != NULL ? 2 * QS_PROFILES_MAX + 2 : 0;
        p = p->extends != NULL ? qs_profiles_find(profiles, p->extends) : NULL;
    }
    return n + own;
}

/* Those that match and what they extend: the farm's own and what extends them, then those that are built in;
 * among these who extends more, then by name. */
static void choose_layers(struct qs_work *w, const struct qs_profiles *profiles, const char *facts_json)
{
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    if (facts_json != NULL &&
        !qs_doc_read_most("facts", facts_json, strlen(facts_json), FACTS_BYTES, true, &doc, &problems))
        qs_work_note(w, "the device's facts could not be read: profiles are chosen by files alone");
    for (size_t i = 0; i < profiles->count; i++) {
        const struct qs_profile *p = profiles->at[i];
        bool match = matches(w, p, qs_system_facts(doc));
        for (; match && p != NULL && !has_layer(w, p) && w->layer_count < QS_PROFILES_MAX;
             p = p->extends != NULL ? qs_profiles_find(profiles, p->extends) : NULL)
            w->layers[w->layer_count++] = p;
    }
    for (size_t i = 1; i < w->layer_count; i++) /* stable */
        for (size_t k = i; k > 0 && rank(profiles, w->layers[k]) > rank(profiles, w->layers[k - 1]); k--) {
            const struct qs_profile *higher = w->layers[k];
            w->layers[k] = w->layers[k - 1];
            w->layers[k - 1] = higher;
        }
    for (size_t i = 0; i < w->layer_count; i++)
        qs_strings_add(&w->board->profiles, qs_strdup(w->layers[i]->name));
}

/* --- the board --- */

static int by_path(const void *a, const void *b)
{
    const struct qs_survey_row *const *x = a, *const *y = b;
    int order = strcmp((*x)->path, (*y)->path);
    return order != 0 ? order : (*x > *y) - (*x < *y); /* of one path the first is found */
}

static void sort_rows(struct qs_work *w, const struct qs_survey *survey)
{
    w->rows = qs_calloc(survey->count + 1, sizeof *w->rows);
    for (size_t i = 0; i < survey->count; i++)
        if (survey->rows[i].status != QS_READING_MISSING)
            w->rows[w->row_count++] = &survey->rows[i];
    qsort(w->rows, w->row_count, sizeof *w->rows, by_path);
    if (survey->refused > 0)
        qs_work_note(w, "%zu files of the survey were left out: not valid paths, or more than %d",
                     survey->refused, QS_BOARD_ROWS_MAX);
}

static void read_cpus(struct qs_work *w)
{
    struct qs_cpu_set set;
    for (size_t l = w->layer_count; l-- > 0;) { /* the most special has the last word */
        const struct qs_profile *p = w->layers[l];
        if (p->present != NULL && qs_row_cpus(qs_work_find(w, p->present), &set)) {
            free(w->board->cpus);
            w->board->cpus = qs_cpu_set_text(&set);
        }
        if (p->online != NULL && qs_row_cpus(qs_work_find(w, p->online), &set)) {
            free(w->board->online);
            w->board->online = qs_cpu_set_text(&set);
        }
    }
}

struct qs_board *qs_board_new(const struct qs_profiles *profiles, const struct qs_survey *survey,
                              const char *facts_json)
{
    struct qs_work w = {.board = qs_calloc(1, sizeof *w.board)};
    w.board->version = 1;
    sort_rows(&w, survey);
    choose_layers(&w, profiles, facts_json);
    read_cpus(&w);
    qs_work_domains(&w);
    qs_work_sensors(&w);
    qs_work_commands(&w);
    qs_work_switches(&w);
    qs_work_clusters(&w);
    qs_strings_done(&w.taken);
    qs_strings_done(&w.replaced);
    free(w.rows);
    return w.board;
}

void qs_board_fingerprint(const char *facts_json, struct qs_buf *out)
{
    qs_system_fingerprint(facts_json, out);
}

const struct qs_board_domain *qs_board_domain(const struct qs_board *board, const char *name)
{
    for (size_t i = 0; i < board->domains.count; i++)
        if (strcmp(board->domains.at[i].name, name) == 0)
            return &board->domains.at[i];
    return NULL;
}

const struct qs_board_sensor *qs_board_sensor(const struct qs_board *board, const char *name)
{
    for (size_t i = 0; i < board->sensors.count; i++)
        if (strcmp(board->sensors.at[i].name, name) == 0)
            return &board->sensors.at[i];
    return NULL;
}

bool qs_board_is_like(const char *pattern, const char *name)
{
    return qs_glob_type(pattern, name);
}

const struct qs_board_cluster *qs_board_cluster(const struct qs_board *board, const char *name)
{
    for (size_t i = 0; i < board->clusters.count; i++)
        if (strcmp(board->clusters.at[i].name, name) == 0)
            return &board->clusters.at[i];
    return NULL;
}
