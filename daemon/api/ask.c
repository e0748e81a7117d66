/* What people ask of a device: a row here, its address in routes.c, a row in ctl/commands/devices.c. */
#include <string.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "base/json.h"
#include "config/farm/sensors.h"
#include "device/ambient.h"
#include "farm/farm.h"
#include "proto/names.h"

struct ask {
    const char *word;              /* the end of its address, behind the colon */
    enum qs_msg_type type;         /* of the request to the agent */
    void (*fill)(union qs_msg *m); /* all but its id; NULL: it has nothing else */
    /* The answer, as members of the open object. */
    void (*put)(const struct qs_exchange *ex, const union qs_msg *reply, struct qs_json *j);
    bool ambient; /* how warm it is around the device belongs to it */
};

static void fill_clean(union qs_msg *m)
{
    m->clean.what = QS_CLEAN_ALL;
}

static void put_clean(const struct qs_exchange *ex, const union qs_msg *reply, struct qs_json *j)
{
    (void)ex;
    qs_json_kcount(j, "freed_bytes", reply->cleaned.freed_bytes);
}

/* Beside what the device says, how warm it is around it. */
static void put_ambient(const struct qs_exchange *ex, struct qs_json *j)
{
    const char *name;
    int64_t age_ns;
    const struct qs_ambient_reading *last =
        qs_farm_ambient_last(ex->api->p.farm, ex->match.device, &name, &age_ns);
    if (!last)
        return;
    QS_BUF(text);
    qs_buf_fmt(&text, "ambient:%s", name);
    qs_json_object(j);
    qs_json_kstring(j, "sensor", text.data);
    qs_json_kstring(j, "status", qs_reading_status_name(last->known ? QS_READING_OK : QS_READING_UNREADABLE));
    qs_json_kbool(j, "gauge", true);
    qs_buf_clear(&text);
    if (last->known) {
        qs_sensor_print("thermal:ambient", last->mc, &text);
        qs_json_kint(j, "value", last->mc);
        qs_json_kstring(j, "text", text.data);
    }
    qs_json_object_end(j);
}

static void put_read(const struct qs_exchange *ex, const union qs_msg *reply, struct qs_json *j)
{
    struct qs_iter it = qs_list_iter(&reply->readings.readings);
    struct qs_reading reading;
    QS_BUF(text);
    qs_json_karray(j, "readings");
    while (qs_list_reading(&it, &reading)) {
        char sensor[QS_NAME_MAX_BYTES + 1];
        qs_text_copy(reading.sensor, sensor, sizeof sensor);
        qs_buf_clear(&text);
        const struct qs_sensor_kind *kind = qs_sensor_find(sensor, &text);
        bool known = reading.status == QS_READING_OK;
        qs_buf_clear(&text); /* a newer agent may know more */
        if (known)
            qs_sensor_print(sensor, reading.value, &text);
        qs_json_object(j);
        qs_json_kstring(j, "sensor", sensor);
        qs_json_kstring(j, "status", qs_reading_status_name(reading.status));
        qs_json_kbool(j, "gauge", kind && kind->gauge);
        if (known) {
            qs_json_kint(j, "value", reading.value);
            qs_json_kstring(j, "text", text.data);
        }
        qs_json_object_end(j);
    }
    put_ambient(ex, j);
    qs_json_array_end(j);
}

static const struct ask asks[] = {
    {"clean", QS_MSG_CLEAN, fill_clean, put_clean, false},
    {"read", QS_MSG_READ, NULL, put_read, true},
};

static const struct ask *ask_of(const struct qs_exchange *ex)
{
    const char *word = strrchr(ex->match.route->pattern, ':') + 1;
    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
        if (strcmp(asks[i].word, word) == 0)
            return &asks[i];
    }
    return NULL;
}

static void on_asked(const struct qs_err *err, const union qs_msg *reply, void *user)
{
    struct qs_exchange *ex = user;
    struct qs_buf out;
    if (!qs_exchange_leave(ex))
        return;
    if (err) {
        qs_reply_error(ex, err);
        return;
    }
    qs_buf_init(&out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_kstring(&j, "device", ex->match.device);
    ask_of(ex)->put(ex, reply, &j);
    qs_json_object_end(&j);
    qs_reply_json(ex, 200, &out);
}

static void ask_device(struct qs_exchange *ex)
{
    const struct ask *ask = ask_of(ex);
    union qs_msg m;
    struct qs_err err;
    memset(&m, 0, sizeof m);
    if (ask->fill)
        ask->fill(&m);
    qs_exchange_enter(ex);
    if (qs_farm_ask(ex->api->p.farm, ex->match.device, ask->type, &m, on_asked, ex, &err) ||
        !qs_exchange_leave(ex))
        return;
    qs_reply_error(ex, &err);
}

static void on_ambient(void *user)
{
    struct qs_exchange *ex = user;
    if (qs_exchange_leave(ex))
        ask_device(ex);
}

void qs_handle_device_ask(struct qs_exchange *ex)
{
    qs_exchange_enter(ex);
    bool waits =
        ask_of(ex)->ambient && qs_farm_refresh_ambient(ex->api->p.farm, ex->match.device, on_ambient, ex);
    if (!waits && qs_exchange_leave(ex))
        ask_device(ex);
}
