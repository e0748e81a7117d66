/* A phone or a board that adb reaches: the agent is brought there, and listens on an abstract socket, to
 * which adb's server and the device's adbd carry the bytes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "link/adb/call.h"
#include "link/adb/deploy.h"
#include "link/adb/discover.h"
#include "link/link_impl.h"

enum { SERIAL_MOST_BYTES = 255 };

struct adb_own {
    char *serial, *agents; /* owned */
    struct qs_adb_deploy *deploy;
    struct qs_adb_call *call;
    bool restart; /* it said that the agent runs, and nobody answered */
};

static void *adb_new_own(const struct qs_farm_device *device)
{
    struct adb_own *own = qs_calloc(1, sizeof *own);
    own->serial = qs_strdup(device->address ? device->address : "");
    own->agents = qs_strdup(device->agents ? device->agents : "");
    return own;
}

static void adb_free_own(void *user)
{
    struct adb_own *own = user;
    free(own->serial);
    free(own->agents);
    free(own);
}

static bool adb_check_address(const char *address, struct qs_err *err)
{
    size_t n = strcspn(address, " \t\r\n");
    return (n > 0 && address[n] == '\0' && n <= SERIAL_MOST_BYTES) ||
           qs_fail(err, QS_E_CONFIG, "`%.60s` is no serial of adb: write what `adb devices` shows", address);
}

static void adb_close(struct qs_link *link)
{
    struct adb_own *own = link->own;
    qs_adb_deploy_stop(own->deploy);
    own->deploy = NULL;
    qs_adb_close(own->call);
    own->call = NULL;
    qs_link_stream_close(link);
}

static void on_open(void *user)
{
    struct qs_link *link = user;
    struct adb_own *own = link->own;
    struct qs_err why = QS_ERR_INIT;
    int fd = qs_adb_take(own->call);
    own->call = NULL;
    own->restart = false;
    if (!qs_link_stream_open(link, fd, false, &why))
        qs_link_down(link, &why);
}

static void on_end(const struct qs_err *why, void *user)
{
    struct qs_link *link = user;
    struct adb_own *own = link->own;
    struct qs_err copy = *why; /* it never ends without a reason: what is open is taken */
    own->call = NULL;
    own->restart = true;
    qs_link_down(link, &copy);
}

static void on_deployed(const struct qs_err *failed, const uint8_t key[QS_ADB_KEY_BYTES], void *user)
{
    struct qs_link *link = user;
    struct adb_own *own = link->own;
    const struct qs_adb_events events = {.on_open = on_open, .on_end = on_end, .user = link};
    struct qs_err why = failed ? *failed : QS_ERR_INIT;
    own->deploy = NULL;
    if (!failed) {
        memcpy(link->key, key, QS_ADB_KEY_BYTES);
        link->key_bytes = QS_ADB_KEY_BYTES;
        own->call = qs_adb_open(link->loop, own->serial, QS_ADB_AGENT_SERVICE, &events, &why);
    }
    if (!own->call)
        qs_link_down(link, &why);
}

static bool adb_deploy(struct qs_link *link, struct qs_err *err)
{
    struct adb_own *own = link->own;
    const struct qs_adb_deploy_parts parts = {
        .loop = link->loop, .serial = own->serial, .agents = own->agents, .restart = own->restart};
    own->deploy = qs_adb_deploy_start(&parts, on_deployed, link, err);
    return own->deploy != NULL;
}

const struct qs_link_ops qs_link_adb_ops = {
    .traits = {.silent_lead_ns = INT64_C(20000000), /* two programs are between us and the cable */
               .opening_ns = INT64_C(90000000000),  /* it may have to be pushed over a slow one */
               .discover = qs_adb_discover,
               .discover_end = qs_adb_discover_end},
    .check_address = adb_check_address,
    .new_own = adb_new_own,
    .free_own = adb_free_own,
    .deploy = adb_deploy,
    .close = adb_close,
    .send = qs_link_stream_send,
};
