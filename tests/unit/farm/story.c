#include "story.h"

#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "base/mem.h"
#include "ledger.h"

enum { SETTLES_MAX_S = 3600 };

static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    (void)user;
    assert_null(err);
}

static void on_cancelled(const struct qs_err *err, int64_t id, void *user)
{
    (void)err;
    (void)id;
    (void)user;
}

static void stop(struct story *s)
{
    qs_timer_stop(s->timer);
    s->timer = NULL;
    qs_farm_stop(s->base.farm, bed_on_stopped, &s->base);
}

/* What the agents still keep is fetched. */
static void look(void *user)
{
    struct story *s = user;
    s->timer = NULL;
    s->settled = ledger_is_settled();
    if (s->settled || s->settling_s++ == SETTLES_MAX_S)
        stop(s);
    else
        s->timer = qs_timer_start(s->base.loop, STORY_SECOND_NS, look, s);
}

static void on_idle(void *user)
{
    struct story *s = user;
    if (s->ended)
        return;
    s->ended = true;
    s->took_ns = qs_loop_now_ns(s->base.loop);
    s->on_end();
    qs_timer_stop(s->timer);
    s->timer = qs_timer_start(s->base.loop, STORY_SECOND_NS, look, s);
}

static void on_too_long(void *user)
{
    struct story *s = user;
    s->timer = NULL;
    s->on_end();
    stop(s);
}

static void bound(struct story *s)
{
    s->timer = qs_timer_start(s->base.loop, STORY_JOB_MAX_H * 3600 * STORY_SECOND_NS, on_too_long, s);
}

static void cancel(void *user)
{
    struct story *s = user;
    struct qs_err err = QS_ERR_INIT;
    bound(s);
    (void)qs_farm_cancel(s->base.farm, 1, "not needed", on_cancelled, s, &err);
}

void story_run(struct story *s)
{
    const struct qs_submission sub = {.text = s->job, .text_bytes = strlen(s->job), .name = "job.yaml"};
    bed_init(&s->base, s->farm);
    s->base.events = (struct qs_farm_events){.on_idle = on_idle, .user = s};
    bed_begin(&s->base, STORY_SECOND_NS, s->seed);
    if (s->cancel_ns > 0)
        s->timer = qs_timer_start(s->base.loop, s->cancel_ns, cancel, s);
    else
        bound(s);
    char *why = NULL;
    if (!bed_submit(&s->base, &sub, NULL, on_submitted, s, &why))
        fail_msg("%s", why);
    qs_loop_run(s->base.loop);
    bed_end(&s->base);
}

char *story_value(const struct story *s, const char *sql)
{
    sqlite3 *sqlite;
    sqlite3_stmt *row;
    assert_int_equal(sqlite3_open_v2(s->base.db, &sqlite, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite, sql, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    const char *text = (const char *)sqlite3_column_text(row, 0);
    char *copy = qs_strdup(text ? text : "");
    sqlite3_finalize(row);
    sqlite3_close(sqlite);
    return copy;
}

bool story_is(const struct story *s, const char *sql)
{
    QS_FREED char *text = story_value(s, sql);
    return strcmp(text, "1") == 0;
}

void story_judge(const struct story *s, struct qs_buf *problems)
{
    QS_FREED char *state = story_value(s, "SELECT state FROM job");
    bool failed = strcmp(state, "failed") == 0;
    if (!failed && strcmp(state, "done") != 0 && strcmp(state, "cancelled") != 0)
        qs_buf_fmt(problems, "  the job is %s after %d h\n", state, STORY_JOB_MAX_H);
    if (failed && !story_is(s, "SELECT length(reason) > 10 FROM job"))
        qs_buf_str(problems, "  the job failed without a reason\n");
    if (!story_is(s, "SELECT count(*) = 0 FROM run WHERE state = 'running'"))
        qs_buf_str(problems, "  a run is still open\n");
    if (!story_is(s, "SELECT count(*) = 0 FROM v_iteration i JOIN v_run r ON r.run = i.run "
                     "WHERE r.state <> 'done' AND i.taint = 0"))
        qs_buf_str(problems, "  iterations of a run that was cut short have no taint\n");
    if (!s->settled)
        qs_buf_str(problems, "  an agent still keeps what nobody fetches, or has no session\n");
}

void story_done(struct story *s)
{
    bed_done(&s->base);
}

void story_tell(const char *lines)
{
    for (const char *at = lines; at && *at;) {
        const char *end = strchr(at, '\n');
        print_message("# %.*s\n", (int)(end ? end - at : (ptrdiff_t)strlen(at)), at);
        at = end ? end + 1 : NULL;
    }
}
