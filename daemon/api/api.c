#include "api/api_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/exchange.h"
#include "api/owner.h"
#include "api/server.h"
#include "api/submit.h"
#include "api/visitors.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "store/read/read.h"
#include "store/store.h"

struct qs_api *qs_api_new(const struct qs_api_parts *parts, const struct qs_api_events *events,
                          struct qs_err *err)
{
    if (!parts->loop || !parts->farm || !parts->store || !parts->files || !parts->socket_path ||
        !parts->version) {
        qs_fail(err, QS_E_INTERNAL, "the API needs a loop, a farm, a store, files, a path and a version");
        return NULL;
    }
    if (!qs_listen_path_fits(parts->socket_path, err))
        return NULL;
    struct qs_api *api = qs_calloc(1, sizeof *api);
    api->p = *parts;
    api->p.socket_path = qs_strdup(parts->socket_path);
    api->p.version = qs_strdup(parts->version);
    api->p.look_up = parts->look_up ? parts->look_up : qs_owner_look_up;
    if (events)
        api->events = *events;
    api->listen = (struct qs_listen){.fd = -1, .lock_fd = -1};
    api->tick_ns = INT64_C(5000000000);
    return api;
}

static bool read_newest(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct qs_api *api = user;
    struct qs_jobs jobs;
    if (!qs_read_jobs(reader, 0, 1, &jobs, err))
        return false;
    api->newest_job = jobs.count ? jobs.at[0].id : 0;
    qs_jobs_free(&jobs);
    return true;
}

bool qs_api_start(struct qs_api *api, struct qs_err *err)
{
    if (!qs_store_read_now(api->p.store, read_newest, api, err) ||
        !qs_listen_open(api->p.socket_path, &api->listen, err))
        return false;
    api->started_ns = qs_loop_now_ns(api->p.loop);
    api->started_wall_ns = qs_loop_wall_ns(api->p.loop);
    if (qs_server_start(api, err))
        return true;
    qs_listen_close(&api->listen);
    return false;
}

void qs_api_enter(struct qs_api *api)
{
    api->outstanding++;
}

void qs_api_leave(struct qs_api *api)
{
    assert(api->outstanding > 0);
    api->outstanding--;
    if (api->outstanding > 0 || !api->on_stopped)
        return;
    void (*on_stopped)(void *user) = api->on_stopped;
    api->on_stopped = NULL;
    on_stopped(api->stopped_user);
}

static void on_stop(void *user)
{
    qs_api_leave(user);
}

void qs_api_stop(struct qs_api *api, void (*on_stopped)(void *user), void *user)
{
    api->stopping = true;
    qs_listen_close(&api->listen);
    qs_server_stop(api);
    api->on_stopped = on_stopped;
    api->stopped_user = user;
    qs_api_enter(api);
    qs_loop_post(api->p.loop, on_stop, api);
}

bool qs_api_is_working(const struct qs_api *api)
{
    return api->outstanding > 0;
}

void qs_api_free(struct qs_api *api)
{
    if (!api)
        return;
    free((char *)api->p.socket_path);
    free((char *)api->p.version);
    free(api);
}

void qs_api_on_farm_event(struct qs_api *api, const struct qs_farm_event *event)
{
    if (api->stopping)
        return;
    qs_events_tell(api, event);
    if (strcmp(event->kind, "job.state") == 0)
        qs_submit_tell(api, event->job);
}

void qs_api_on_silence(struct qs_api *api, bool silent)
{
    api->silent = silent;
    qs_visitors_watch(api, !silent && api->visitors != NULL);
    for (struct qs_exchange *ex = api->exchanges; !silent && ex; ex = ex->next)
        qs_exchange_release(ex);
}

bool qs_api_is_answering(const struct qs_api *api)
{
    bool answering = api->sending;
    for (const struct qs_exchange *ex = api->exchanges; !answering && ex; ex = ex->next)
        answering = qs_exchange_is_in_hand(ex);
    return answering;
}
