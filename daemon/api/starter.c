/* A starter profile of a device, made of what was found on it. */
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "base/json.h"
#include "base/mem.h"
#include "device/board/starter.h"
#include "device/device.h"
#include "farm/farm.h"
#include "store/control.h"

struct rows { /* texts of what is stored, which outlive its reading */
    struct qs_knob_row *knobs;
    struct qs_model_row *sensors;
    size_t knob_count, sensor_count;
    struct qs_strings texts;
};
struct starter {
    const struct qs_profiles *profiles; /* borrowed of the farm; they do not change */
    const char *name;                   /* borrowed, whose facts are wanted */
    bool found;
    char *facts_json, *state, *fingerprint; /* owned; facts NULL: it is away */
    struct qs_board_info board;
    struct rows rows;
    struct qs_buf text;
    char *profile; /* owned: its name */
};

static void done_starter(void *data)
{
    struct starter *s = data;
    free(s->facts_json);
    free(s->state);
    free(s->fingerprint);
    free(s->profile);
    free(s->rows.knobs);
    free(s->rows.sensors);
    qs_strings_done(&s->rows.texts);
    qs_board_info_free(&s->board);
    qs_buf_done(&s->text);
}

static const char *kept(struct rows *r, const char *text)
{
    if (text == NULL)
        return NULL;
    qs_strings_add(&r->texts, qs_strdup(text));
    return r->texts.at[r->texts.count - 1];
}

static void take_knob(const struct qs_knob_info *k, void *user)
{
    struct starter *s = user;
    struct rows *r = &s->rows;
    if (strcmp(k->fingerprint, s->fingerprint) != 0)
        return;
    r->knobs = qs_grow(r->knobs, r->knob_count, sizeof *r->knobs);
    struct qs_knob_row *row = &r->knobs[r->knob_count++];
    *row = k->row;
    row->name = kept(r, row->name);
    row->kind = kept(r, row->kind);
    row->path = kept(r, row->path);
    row->sticks = kept(r, row->sticks);
    row->effect = kept(r, row->effect);
    row->why = kept(r, row->why);
}

static void take_model(const struct qs_model_info *m, void *user)
{
    struct rows *r = &((struct starter *)user)->rows;
    if (strcmp(m->row.kind, "sensor") != 0 || strcmp(m->row.says, "ok") == 0)
        return;
    r->sensors = qs_grow(r->sensors, r->sensor_count, sizeof *r->sensors);
    r->sensors[r->sensor_count++] = (struct qs_model_row){.kind = "sensor",
                                                          .sensor = kept(r, m->row.sensor),
                                                          .says = kept(r, m->row.says),
                                                          .why = kept(r, m->row.why)};
}

static bool make(struct starter *s, struct qs_err *err)
{
    QS_SCOPED(qs_board_free_at) struct qs_board *board = qs_board_from_json(s->board.json, err);
    if (board == NULL)
        return false;
    const struct qs_starter of = {.device = s->name,
                                  .board = board,
                                  .facts_json = s->facts_json,
                                  .profiles = s->profiles,
                                  .probed_wall_ns = s->board.probed_wall_ns,
                                  .knobs = s->rows.knobs,
                                  .knob_count = s->rows.knob_count,
                                  .sensors = s->rows.sensors,
                                  .sensor_count = s->rows.sensor_count};
    qs_starter_profile(&of, &s->text, &s->profile);
    return true;
}

static bool read_starter(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct starter *s = ex->data;
    if (!qs_read_board(reader, s->name, &s->board, err))
        return false;
    if (s->board.json == NULL || strcmp(s->board.fingerprint, s->fingerprint) != 0)
        return true; /* of what it is now nothing was found yet */
    return qs_read_knobs(reader, s->name, take_knob, s, err) &&
           qs_read_models(reader, s->name, s->fingerprint, false, take_model, s, err) && make(s, err);
}

static void say_starter(struct qs_exchange *ex)
{
    const struct starter *s = ex->data;
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_kstring(&j, "device", s->name);
    qs_json_kstring(&j, "profile", s->profile);
    qs_json_kbool(&j, "tried", s->rows.knob_count > 0);
    qs_json_kstring(&j, "text", s->profile != NULL ? s->text.data : NULL);
    qs_json_object_end(&j);
    qs_reply_json(ex, 200, &out);
}

static void take_if_named(const struct qs_device_info *device, void *user)
{
    struct starter *s = user;
    if (s->found || strcmp(device->config->name, s->name) != 0)
        return;
    s->found = true;
    s->state = qs_strdup(device->state);
    s->facts_json = device->facts_json != NULL ? qs_strdup(device->facts_json) : NULL;
}

void qs_handle_device_profile(struct qs_exchange *ex)
{
    struct starter *s = qs_exchange_data(ex, sizeof *s, done_starter);
    struct qs_err err;
    QS_BUF(fingerprint);
    s->name = ex->match.device;
    s->profiles = qs_farm_profiles(ex->api->p.farm);
    qs_buf_init(&s->text);
    qs_farm_devices(ex->api->p.farm, take_if_named, s);
    if (!s->found)
        qs_fail(&err, QS_E_NOT_FOUND, "this farm has no device `%s`", s->name);
    else if (s->facts_json == NULL)
        qs_fail(&err, QS_E_CONFLICT, "%s is %s: what it is can only be asked while it is connected", s->name,
                s->state);
    if (!s->found || s->facts_json == NULL) {
        qs_reply_error(ex, &err);
        return;
    }
    qs_board_fingerprint(s->facts_json, &fingerprint);
    s->fingerprint = qs_buf_take(&fingerprint);
    qs_exchange_read(ex, read_starter, say_starter);
}
