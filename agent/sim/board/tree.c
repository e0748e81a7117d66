/* The device tree: its text into nodes, paths to nodes, and what is there now. */
#include "sim/board/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *qs_vboard_keep(struct qs_vboard *board, const char *text, size_t n, size_t cap)
{
    size_t need = (cap > n + 1 ? cap : n + 1);
    if (need > sizeof board->arena - board->arena_used_bytes) {
        return NULL;
    }
    char *kept = board->arena + board->arena_used_bytes;
    memcpy(kept, text, n);
    kept[n] = '\0';
    board->arena_used_bytes += need;
    return kept;
}

/* Of by_path: the first that is not before the path. */
static size_t place_of(const struct qs_vboard *board, const char *path)
{
    size_t low = 0;
    for (size_t high = board->node_count; low < high;) {
        size_t middle = (low + high) / 2;
        bool before = strcmp(board->nodes[board->by_path[middle]].path, path) < 0;
        *(before ? &low : &high) = middle + before;
    }
    return low;
}

struct qs_vboard_node *qs_vboard_add(struct qs_vboard *board, const char *path, char *text, size_t text_bytes)
{
    if (!path || !text || board->node_count == QS_VBOARD_NODES_MAX) {
        return NULL;
    }
    size_t place = place_of(board, path);
    while (place < board->node_count && strcmp(board->nodes[board->by_path[place]].path, path) == 0) {
        place++; /* of two with one path the first is found */
    }
    int16_t *by_path = board->by_path + place;
    memmove(by_path + 1, by_path, (board->node_count - place) * sizeof *by_path);
    *by_path = (int16_t)board->node_count;
    struct qs_vboard_node *node = &board->nodes[board->node_count++];
    *node = (struct qs_vboard_node){.path = path,
                                    .text = text,
                                    .text_bytes = text_bytes,
                                    .mode = 0444,
                                    .role = QS_VROLE_PLAIN,
                                    .index = -1,
                                    .cpu = -1,
                                    .clock = -1};
    return node;
}

/* "\n" and "\t" written as two characters, into what they stand for. */
static size_t unescape(const char *text, size_t n, char *out, size_t cap)
{
    size_t used = 0;
    for (size_t i = 0; i < n && used + 1 < cap; i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < n && (text[i + 1] == 'n' || text[i + 1] == 't')) {
            c = text[++i] == 'n' ? '\n' : '\t';
        }
        out[used++] = c;
    }
    out[used] = '\0';
    return used;
}

static bool owner_number(const char *name, size_t n, uint32_t *id)
{
    static const struct {
        const char *name;
        uint32_t id;
    } known[] = {{"root", 0}, {"system", 1000}, {"shell", 2000}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strlen(known[i].name) == n && memcmp(known[i].name, name, n) == 0) {
            *id = known[i].id;
            return true;
        }
    }
    return false;
}

static bool read_owner(const char *owner, size_t n, struct qs_vboard_node *node)
{
    const char *colon = memchr(owner, ':', n);
    return colon && owner_number(owner, (size_t)(colon - owner), &node->uid) &&
           owner_number(colon + 1, n - (size_t)(colon - owner) - 1, &node->gid);
}

struct field {
    const char *at;
    size_t n;
};

/* path, mode or "link", owner or target, value, source */
static const char *read_line(struct qs_vboard *board, const struct field f[5])
{
    char text[QS_VBOARD_TEXT_BYTES];
    bool is_link = f[1].n == 4 && memcmp(f[1].at, "link", 4) == 0;
    if (f[0].n < 2 || f[0].at[0] != '/' || !memchr(f[0].at + 1, '/', f[0].n - 1) ||
        f[0].n >= QS_VBOARD_PATH_BYTES) {
        return "its path is not /FOLDER/..., or too long";
    }
    char *end = NULL;
    unsigned long mode = is_link ? 0777 : strtoul(f[1].at, &end, 8);
    if (!is_link && (end != f[1].at + f[1].n || mode > 0777 || f[1].n == 0)) {
        return "its mode is neither octal nor `link`";
    }
    const struct field *value = &f[is_link ? 2 : 3];
    if (value->n >= sizeof text) {
        return "its value is too long";
    }
    size_t n = unescape(value->at, value->n, text, sizeof text);
    size_t cap = (mode & 0222) && !is_link ? QS_VBOARD_VALUE_BYTES + n : n + 1;
    char *path = qs_vboard_keep(board, f[0].at + 1, f[0].n - 1, 0);
    struct qs_vboard_node *node = qs_vboard_add(board, path, qs_vboard_keep(board, text, n, cap), cap);
    if (!node) {
        return "the tree has more than a board can hold";
    }
    node->mode = (uint16_t)mode;
    node->is_link = is_link;
    if (!is_link && !read_owner(f[2].at, f[2].n, node)) {
        return "its owner is none of root, system and shell, as user:group";
    }
    return NULL;
}

static bool read_tree(struct qs_vboard *board, const char *tree, size_t n)
{
    int number = 0;
    for (size_t at = 0; at < n;) {
        struct field f[5];
        size_t fields = 0;
        const char *line = tree + at;
        const char *newline = memchr(line, '\n', n - at);
        size_t left = newline ? (size_t)(newline - line) : n - at;
        at += left + 1;
        number++;
        if (left == 0 || line[0] == '#') {
            continue;
        }
        for (const char *p = line; fields < 5; fields++) {
            const char *tab = memchr(p, '\t', left);
            f[fields] = (struct field){p, tab ? (size_t)(tab - p) : left};
            left -= f[fields].n + (tab ? 1 : 0);
            if (!tab) {
                fields++;
                break;
            }
            p = tab + 1;
        }
        const char *wrong = fields == 5 ? read_line(board, f) : "it has not the five fields of a tree";
        if (wrong) {
            snprintf(board->why, sizeof board->why, "line %d: %s", number, wrong);
            return false;
        }
    }
    return true;
}

bool qs_vboard_init(struct qs_vboard *board, const char *tree, size_t n)
{
    memset(board, 0, sizeof *board);
    board->ambient_mc = 25000;
    if (!read_tree(board, tree, n)) {
        return false;
    }
    if (!qs_vboard_find_roles(board)) {
        snprintf(board->why, sizeof board->why, "the tree has more than a board can hold");
        return false;
    }
    qs_vboard_find_zones(board);
    qs_vboard_settle(board);
    qs_vboard_heat_now(board);
    return true;
}

void qs_vboard_restart(struct qs_vboard *board, const struct qs_vboard *first)
{
    memcpy(board->arena, first->arena, sizeof board->arena);
    memcpy(board->clocks, first->clocks, sizeof board->clocks);
    memcpy(board->coolers, first->coolers, sizeof board->coolers);
    for (size_t i = 0; i < board->zone_count; i++) {
        memcpy(board->zones[i].trips, first->zones[i].trips, sizeof first->zones[i].trips);
    }
    board->online = first->online;
    board->unplugged = first->unplugged;
    board->fan = first->fan;
    board->reported = first->reported;
    board->delayed_count = 0;
    qs_vboard_settle(board);
}

int16_t qs_vboard_node(const struct qs_vboard *board, const char *path)
{
    size_t place = place_of(board, path);
    int16_t node = place < board->node_count ? board->by_path[place] : -1;
    return node >= 0 && strcmp(board->nodes[node].path, path) == 0 ? node : -1;
}

int16_t qs_vboard_node_in(const struct qs_vboard *board, const char *folder, const char *file)
{
    char path[QS_VBOARD_PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s/%s", folder, file);
    return n < 0 || (size_t)n >= sizeof path ? -1 : qs_vboard_node(board, path);
}

bool qs_vboard_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

bool qs_vboard_number(const char *text, int64_t *value)
{
    char *end;
    *value = strtoll(text, &end, 10);
    return end != text && *end == '\0' && text[0] != ' ' && text[0] != '+';
}

bool qs_vboard_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; *p;) {
        p += strspn(p, " []\n");
        size_t length = strcspn(p, " []\n");
        if (n > 0 && length == n && memcmp(p, word, n) == 0) {
            return true;
        }
        p += length;
    }
    return false;
}

uint32_t qs_vboard_cpus(const char *list)
{
    uint32_t cpus = 0;
    for (const char *p = list; *p;) {
        char *end;
        unsigned long first = strtoul(p, &end, 10);
        unsigned long last = first;
        if (end == p) {
            p++;
            continue;
        }
        if (*end == '-') {
            last = strtoul(end + 1, &end, 10);
        }
        for (unsigned long cpu = first; cpu <= last && cpu < 32; cpu++) {
            cpus |= 1u << cpu;
        }
        p = end;
    }
    return cpus;
}

/* One more part of a path at its end; ".." takes one away. */
static bool append(char *out, size_t cap, const char *part, size_t n)
{
    size_t used = strlen(out);
    if (n == 0 || (n == 1 && part[0] == '.')) {
        return true;
    }
    if (n == 2 && memcmp(part, "..", 2) == 0) {
        char *slash = strrchr(out, '/');
        *(slash ? slash : out) = '\0';
        return true;
    }
    if (used + n + 2 > cap) {
        return false;
    }
    snprintf(out + used, cap - used, "%s%.*s", used ? "/" : "", (int)n, part);
    return true;
}

bool qs_vboard_resolve(const struct qs_vboard *board, const char *path, char *out, size_t cap)
{
    char rest[QS_VBOARD_PATH_BYTES * 2];
    char then[QS_VBOARD_PATH_BYTES * 2];
    if (strlen(path) >= sizeof rest) {
        return false;
    }
    snprintf(rest, sizeof rest, "%s", path);
    out[0] = '\0';
    for (int links = 0; rest[0];) {
        size_t n = strcspn(rest, "/");
        if (!append(out, cap, rest, n)) {
            return false;
        }
        memmove(rest, rest + n + (rest[n] == '/'), strlen(rest + n + (rest[n] == '/')) + 1);
        int16_t node = qs_vboard_node(board, out);
        if (node < 0 || !board->nodes[node].is_link) {
            continue;
        }
        int length = snprintf(then, sizeof then, "../%s/%s", board->nodes[node].text, rest);
        if (length < 0 || (size_t)length >= sizeof then || ++links > 16) {
            return false;
        }
        memcpy(rest, then, (size_t)length + 1);
    }
    return true;
}

bool qs_vboard_gone(const struct qs_vboard *board, const struct qs_vboard_node *node)
{
    const struct qs_vboard_clock *clock = node->clock < 0 ? NULL : &board->clocks[node->clock];
    if (node->cpu >= 0 && !(board->online & 1u << node->cpu)) {
        return true;
    }
    if (clock && clock->cpus && !(clock->cpus & board->online)) {
        return true;
    }
    if (clock && node->governor && strcmp(node->governor, clock->governor) != 0) {
        return true;
    }
    for (size_t i = 0; i < board->fault_count; i++) {
        if (board->faults[i].kind == QS_VFAULT_VANISH && qs_vboard_below(node->path, board->faults[i].path)) {
            return true;
        }
    }
    return false;
}

enum qs_vboard_what qs_vboard_look(const struct qs_vboard *board, const char *path,
                                   const struct qs_vboard_node **node)
{
    size_t n = strlen(path);
    *node = NULL;
    for (size_t i = 0; i < board->node_count; i++) {
        const struct qs_vboard_node *other = &board->nodes[i];
        if (strncmp(other->path, path, n) != 0 || qs_vboard_gone(board, other)) {
            continue;
        }
        if (other->path[n] == '\0') {
            *node = other;
            return other->is_link ? QS_VBOARD_LINK : QS_VBOARD_FILE;
        }
        if (other->path[n] == '/') {
            return QS_VBOARD_FOLDER;
        }
    }
    return QS_VBOARD_NOTHING;
}

bool qs_vboard_next(const struct qs_vboard *board, const char *folder, const char *after, char *name,
                    size_t cap)
{
    size_t n = strlen(folder);
    bool found = false;
    for (size_t i = 0; i < board->node_count; i++) {
        const struct qs_vboard_node *node = &board->nodes[i];
        if (strncmp(node->path, folder, n) != 0 || node->path[n] != '/') {
            continue;
        }
        char part[QS_VBOARD_PATH_BYTES];
        snprintf(part, sizeof part, "%.*s", (int)strcspn(node->path + n + 1, "/"), node->path + n + 1);
        if (strcmp(part, after) > 0 && (!found || strcmp(part, name) < 0) && strlen(part) < cap &&
            !qs_vboard_gone(board, node)) {
            memcpy(name, part, strlen(part) + 1);
            found = true;
        }
    }
    return found;
}
