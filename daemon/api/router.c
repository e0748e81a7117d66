#include "api/router.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* One segment of a pattern: "jobs", "{id}" or "{id}:cancel". The name of a parameter, and what follows it. */
struct piece {
    const char *text, *verb; /* verb: ":cancel", or "" */
    size_t len, verb_len;
    bool parameter;
};

static bool next_piece(const char **pattern, struct piece *ret)
{
    if (**pattern != '/')
        return false;
    const char *text = *pattern + 1;
    size_t len = strcspn(text, "/");
    *pattern = text + len;
    *ret = (struct piece){.text = text, .len = len, .verb = text + len};
    const char *end = text[0] == '{' ? memchr(text, '}', len) : NULL;
    if (end) {
        ret->parameter = true;
        ret->verb = end + 1;
        ret->verb_len = len - (size_t)(end + 1 - text);
    }
    return true;
}

static bool fits_piece(const struct piece *piece, const char *segment)
{
    size_t n = strlen(segment);
    if (!piece->parameter)
        return n == piece->len && memcmp(segment, piece->text, n) == 0;
    const char *colon = strchr(segment, ':');
    size_t verb_len = colon ? n - (size_t)(colon - segment) : 0;
    return verb_len == piece->verb_len && memcmp(segment + n - verb_len, piece->verb, verb_len) == 0;
}

static bool fits(const struct qs_route *route, const struct qs_uri *uri)
{
    const char *pattern = route->pattern;
    struct piece piece;
    size_t i = 0;
    while (next_piece(&pattern, &piece)) {
        if (i == uri->segment_count || !fits_piece(&piece, uri->segments[i++]))
            return false;
    }
    return i == uri->segment_count;
}

static bool take_number(const char *text, struct qs_match *ret)
{
    long long id;
    if (!qs_number_parse(text, 1, INT64_MAX, &id))
        return false;
    ret->id = id;
    return true;
}

static bool take_hash(const char *text, struct qs_match *ret)
{
    if (strlen(text) != 64 || strspn(text, "0123456789abcdef") != 64)
        return false;
    memcpy(ret->sha256, text, 65);
    return true;
}

static bool take_uid(const char *text, struct qs_match *ret)
{
    return qs_unhex(text, ret->uid, sizeof ret->uid);
}

static bool take_device(const char *text, struct qs_match *ret)
{
    size_t n = strlen(text);
    if (n == 0 || n >= sizeof ret->device)
        return false;
    memcpy(ret->device, text, n + 1);
    return true;
}

static bool take_parameter(const struct piece *piece, const char *segment, struct qs_match *ret,
                           struct qs_err *err)
{
    static const struct {
        const char *name, *what;
        bool (*take)(const char *text, struct qs_match *ret);
    } kinds[] = {{"{id}", "the number of a job, from 1", take_number},
                 {"{uid}", "the name of a run, 32 hex digits", take_uid},
                 {"{device}", "the name of a device", take_device},
                 {"{sha256}", "a SHA-256, 64 lower-case hex digits", take_hash}};
    char text[80];
    size_t n = strlen(segment) - piece->verb_len;
    snprintf(text, sizeof text, "%.*s", (int)n, segment);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strncmp(kinds[k].name, piece->text, strlen(kinds[k].name)) == 0)
            return kinds[k].take(text, ret) ||
                   qs_fail(err, QS_E_USAGE, "`%.70s` is not %s", text, kinds[k].what);
    }
    return qs_fail(err, QS_E_INTERNAL, "the route %.*s has an unknown parameter", (int)piece->len,
                   piece->text);
}

static bool take_parameters(const struct qs_uri *uri, struct qs_match *ret, struct qs_err *err)
{
    const char *pattern = ret->route->pattern;
    struct piece piece;
    for (size_t i = 0; next_piece(&pattern, &piece); i++) {
        if (piece.parameter && !take_parameter(&piece, uri->segments[i], ret, err))
            return false;
    }
    return true;
}

static bool check_query(const struct qs_uri *uri, const struct qs_route *route, struct qs_err *err)
{
    for (size_t i = 0; i < uri->query_count; i++) {
        char word[80];
        snprintf(word, sizeof word, " %.64s ", uri->names[i]);
        if (strlen(uri->names[i]) <= 64 && strstr(route->query, word))
            continue;
        if (*route->query == 0)
            return qs_fail(err, QS_E_USAGE, "%s takes no query; `%.64s` was given", route->pattern,
                           uri->names[i]);
        return qs_fail(err, QS_E_USAGE, "%s has no `%.64s` in its query, only:%s", route->pattern,
                       uri->names[i], route->query);
    }
    return true;
}

static void allow(char ret_allow[64], const char *method)
{
    size_t n = strlen(ret_allow);
    snprintf(ret_allow + n, 64 - n, "%s%s", n ? ", " : "", method);
}

bool qs_route_find(const char *method, const struct qs_uri *uri, struct qs_match *ret, char ret_allow[64],
                   struct qs_err *err)
{
    *ret = (struct qs_match){0};
    ret_allow[0] = 0;
    for (size_t i = 0; i < qs_route_count && !ret->route; i++) {
        const struct qs_route *route = &qs_routes[i];
        if (!fits(route, uri))
            continue;
        bool get = strcmp(route->method, "GET") == 0 && !(route->flags & QS_ROUTE_NO_HEAD);
        if (strcmp(route->method, method) == 0 || (get && strcmp(method, "HEAD") == 0)) {
            ret->route = route;
            ret->head = strcmp(method, route->method) != 0;
            continue;
        }
        allow(ret_allow, route->method);
        if (get)
            allow(ret_allow, "HEAD");
    }
    if (!ret->route && ret_allow[0])
        return qs_fail(err, QS_E_USAGE, "this address does not support the method %.16s, only: %s", method,
                       ret_allow);
    ret_allow[0] = 0;
    if (!ret->route)
        return qs_fail(err, QS_E_NOT_FOUND, "there is nothing at this address");
    return take_parameters(uri, ret, err) && check_query(uri, ret->route, err);
}
