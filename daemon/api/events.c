#include "api/exchange.h"
#include "farm/farm.h"

#include <jansson.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/flow.h"
#include "api/reply.h"
#include "base/json.h"
#include "base/loop.h"
#include "store/read/read.h"

enum { PAGE = 256 };

struct stream {
    int64_t job;     /* 0: all */
    int64_t last_id; /* of what was queued for the client */
    int64_t newest;  /* of what is known to have happened */
    bool behind;     /* the store has more than was read */
    bool over;       /* the job's last event was before what the client asked for */
    struct qs_event_list page;
};

static void done_stream(void *data)
{
    struct stream *st = data;
    qs_events_free(&st->page);
}

/* Does this event end its job? */
static bool is_final(const char *kind, const json_t *body)
{
    const char *state = json_string_value(json_object_get(body, "state"));
    if (strcmp(kind, "job.state") != 0 || !state)
        return false;
    return strcmp(state, qs_job_state_name(QS_JOB_DONE)) == 0 ||
           strcmp(state, qs_job_state_name(QS_JOB_FAILED)) == 0 ||
           strcmp(state, qs_job_state_name(QS_JOB_CANCELLED)) == 0;
}

static void put_int(json_t *object, const char *key, int64_t v)
{
    if (!json_object_get(object, key))
        json_object_set_new(object, key, json_integer(v));
}

/* One event; true where it is the last of the job. The body comes from the store: valid JSON, but whoever
 * reads the stream relies on its lines, so that it is written anew. */
static bool put_event(struct qs_buf *out, const struct qs_farm_event *e)
{
    json_t *data = json_loads(e->body_json ? e->body_json : "{}", 0, NULL);
    if (!json_is_object(data)) {
        json_decref(data);
        data = json_object();
    }
    bool final = is_final(e->kind, data);
    put_int(data, "wall_ns", e->wall_ns);
    if (e->job)
        put_int(data, "job", e->job);
    if (e->device && !json_object_get(data, "device"))
        json_object_set_new(data, "device", json_string(e->device));
    QS_FREED char *text = json_dumps(data, JSON_COMPACT);
    if (e->id > 0) /* one of now has none: there is nothing to go on behind */
        qs_buf_fmt(out, "id: %lld\n", (long long)e->id);
    qs_buf_fmt(out, "event: %s\ndata: %s\n\n", e->kind, text ? text : "{}");
    json_decref(data);
    return final;
}

static void append(struct qs_exchange *ex, const struct qs_farm_event *e)
{
    struct stream *st = ex->data;
    if (ex->flow.ended || e->id <= st->last_id)
        return;
    st->last_id = e->id;
    ex->flow.ended = put_event(&ex->reply, e) && st->job != 0;
}

/* Pool. */
static bool read_page(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct stream *st = ex->data;
    return qs_read_events(reader, st->job, st->last_id, PAGE, &st->page, err);
}

static void take_page(struct qs_exchange *ex)
{
    struct stream *st = ex->data;
    for (size_t i = 0; i < st->page.count; i++) {
        const struct qs_event_info *e = &st->page.at[i];
        append(ex, &(struct qs_farm_event){.id = e->id,
                                           .wall_ns = e->wall_ns,
                                           .job = e->job,
                                           .kind = e->kind,
                                           .device = e->device,
                                           .body_json = e->body_json});
    }
    st->behind = st->page.count == PAGE;
    qs_events_free(&st->page);
    st->page = (struct qs_event_list){0};
}

static void more(struct qs_exchange *ex)
{
    struct stream *st = ex->data;
    if (st->behind || st->newest > st->last_id)
        qs_exchange_read(ex, read_page, take_page);
}

static bool has_final(const struct qs_event_list *page)
{
    bool found = false;
    for (size_t i = 0; !found && i < page->count; i++) {
        json_auto_t *body = json_loads(page->at[i].body_json, 0, NULL);
        found = is_final(page->at[i].kind, body);
    }
    return found;
}

/* Pool. Is the job's last event among those the client has seen? */
static bool find_final(struct qs_store_reader *reader, struct stream *st, struct qs_err *err)
{
    struct qs_event_list page;
    for (int64_t after = 0; after < st->last_id && !st->over;) {
        if (!qs_read_events(reader, st->job, after, PAGE, &page, err))
            return false;
        after = page.count ? page.at[page.count - 1].id : st->last_id;
        st->over = has_final(&page);
        qs_events_free(&page);
    }
    return true;
}

/* Pool. A job that ended in a former life whose last event was never written has none to wait for. */
static bool read_first(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct stream *st = ex->data;
    struct qs_jobs jobs = {0};
    if (st->job && !qs_read_job(reader, st->job, &jobs, err))
        return false;
    bool ended = st->job && jobs.at[0].state != QS_JOB_QUEUED && jobs.at[0].state != QS_JOB_RUNNING;
    bool before = ended && jobs.at[0].ended_wall_ns < ex->api->started_wall_ns;
    if (st->job)
        qs_jobs_free(&jobs);
    if (!read_page(reader, ex, err))
        return false;
    if (!ended || st->page.count > 0)
        return true;
    st->over = before;
    return find_final(reader, st, err);
}

/* What was told to those who listened then holds for who comes later. */
static void put_waiting(struct qs_exchange *ex, int64_t job)
{
    QS_BUF(body);
    if (job && qs_farm_waiting_event(ex->api->p.farm, job, &body))
        put_event(&ex->reply, &(struct qs_farm_event){.wall_ns = qs_loop_wall_ns(ex->api->p.loop),
                                                      .job = job,
                                                      .kind = "job.waiting",
                                                      .body_json = body.data});
}

static void begin(struct qs_exchange *ex)
{
    struct stream *st = ex->data;
    qs_buf_str(&ex->reply, ": hello\n\n");
    take_page(ex);
    ex->flow.ended |= st->over;
    if (!ex->flow.ended)
        put_waiting(ex, st->job);
    qs_flow_end_with_client(ex);
    qs_reply_flow(ex, "text/event-stream", more);
}

static bool start_after(struct qs_exchange *ex, int64_t *ret, struct qs_err *err)
{
    const char *seen = MHD_lookup_connection_value(ex->connection, MHD_HEADER_KIND, "Last-Event-ID");
    long long after = 0;
    bool ok = seen ? qs_number_parse(seen, 0, INT64_MAX, &after)
                   : qs_uri_int(&ex->uri, "after", 0, INT64_MAX, 0, &after, err);
    *ret = after;
    return ok || !seen
               ? ok
               : qs_fail(err, QS_E_USAGE, "Last-Event-ID: `%.40s` is not the number of an event", seen);
}

static void open_stream(struct qs_exchange *ex, int64_t job)
{
    struct qs_err err;
    int64_t after;
    if (ex->api->streams >= ex->api->most_streams) {
        qs_fail(&err, QS_E_RESOURCE, "%zu streams of events are open already", ex->api->streams);
        qs_reply_error(ex, &err);
    } else if (!start_after(ex, &after, &err)) {
        qs_reply_error(ex, &err);
    } else {
        struct stream *st = qs_exchange_data(ex, sizeof *st, done_stream);
        st->job = job;
        st->last_id = after;
        ex->flow.events = true;
        ex->api->streams++;
        qs_exchange_read(ex, read_first, begin);
    }
}

void qs_handle_job_events(struct qs_exchange *ex)
{
    open_stream(ex, ex->match.id);
}

void qs_handle_all_events(struct qs_exchange *ex)
{
    open_stream(ex, 0);
}

static bool is_meant(const struct qs_exchange *ex, const struct qs_farm_event *event)
{
    const struct stream *st = ex->data;
    return ex->flow.events && (!st->job || st->job == event->job) &&
           (event->id == 0 || event->id > st->newest);
}

void qs_events_tell(struct qs_api *api, const struct qs_farm_event *event)
{
    for (struct qs_exchange *ex = api->exchanges; ex; ex = ex->next) {
        struct stream *st = ex->data;
        if (!is_meant(ex, event))
            continue;
        bool room = ex->queued && !ex->flow.ended && ex->reply.len - ex->flow.sent < QS_API_QUEUE_BYTES;
        if (event->id == 0) {
            if (room)
                put_event(&ex->reply, event);
            qs_flow_wake(ex);
            continue;
        }
        bool caught_up = ex->queued && !st->behind && st->newest <= st->last_id && !ex->busy && !ex->reading;
        st->newest = event->id;
        if (caught_up && room && event->body_json)
            append(ex, event);
        qs_flow_wake(ex);
    }
}
