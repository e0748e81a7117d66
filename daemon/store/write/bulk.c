#include "store/write/bulk.h"

#include <stdlib.h>

#include "base/mem.h"

static const char pointer_type[] = "qs_bulk";

enum {
    COL_I,
    COL_START,
    COL_DURATION,
    COL_TAINT,
    COL_STATUS,
    COL_VALUES,
    COL_BULK = COL_VALUES + QS_BULK_VALUES
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct qs_bulk *bulk; /* borrowed from the statement's parameter; NULL: no rows */
    size_t i;
};

static int on_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret,
                      char **ret_err)
{
    (void)aux, (void)argc, (void)argv, (void)ret_err;
    int rc = sqlite3_declare_vtab(
        db, "CREATE TABLE x(i INT, start_off_ns INT, duration_ns INT, taint INT, status INT,"
            " v0 INT, v1 INT, v2 INT, v3 INT, v4 INT, v5 INT, v6 INT, v7 INT, v8 INT,"
            " bulk HIDDEN)");
    *ret = rc == SQLITE_OK ? qs_calloc(1, sizeof **ret) : NULL;
    return rc;
}

static int on_disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

/* The only plan: all rows of the pointer. */
static int on_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    for (int k = 0; k < info->nConstraint; k++) {
        if (info->aConstraint[k].iColumn != COL_BULK || info->aConstraint[k].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!info->aConstraint[k].usable)
            return SQLITE_CONSTRAINT;
        info->aConstraintUsage[k].argvIndex = 1;
        info->aConstraintUsage[k].omit = 1;
    }
    return SQLITE_OK;
}

static int on_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
    (void)table;
    struct cursor *c = qs_calloc(1, sizeof *c);
    *ret = &c->base;
    return SQLITE_OK;
}

static int on_close(sqlite3_vtab_cursor *base)
{
    free(base);
    return SQLITE_OK;
}

static int on_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
    (void)plan, (void)text;
    struct cursor *c = (struct cursor *)base;
    c->bulk = argc == 1 ? sqlite3_value_pointer(argv[0], pointer_type) : NULL;
    c->i = 0;
    return SQLITE_OK;
}

static int on_next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->i++;
    return SQLITE_OK;
}

static int on_eof(sqlite3_vtab_cursor *base)
{
    const struct cursor *c = (const struct cursor *)base;
    return !c->bulk || c->i >= c->bulk->n;
}

static int on_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)((const struct cursor *)base)->i;
    return SQLITE_OK;
}

static int64_t cell(const struct cursor *c, int column)
{
    const struct qs_iteration_row *row = &c->bulk->rows[c->i];
    switch (column) {
    case COL_I:
        return (int64_t)c->i;
    case COL_START:
        return row->start_off_ns;
    case COL_DURATION:
        return row->duration_ns;
    case COL_TAINT:
        return row->taint;
    case COL_STATUS:
        return row->status;
    case COL_BULK:
        return INT64_MIN;
    default:
        return c->bulk->place[column - COL_VALUES] < 0 ? INT64_MIN
                                                       : row->values[c->bulk->place[column - COL_VALUES]];
    }
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
    int64_t v = cell((const struct cursor *)base, column);
    /* Else it stays NULL: a value that is not there, and the pointer. */
    if (v != INT64_MIN || column < COL_VALUES)
        sqlite3_result_int64(out, v);
    return SQLITE_OK;
}

bool qs_bulk_add(struct qs_db *db, struct qs_err *err)
{
    static const sqlite3_module module = {.xConnect =
                                              on_connect, /* no xCreate: it is there in every connection */
                                          .xBestIndex = on_best_index,
                                          .xDisconnect = on_disconnect,
                                          .xOpen = on_open,
                                          .xClose = on_close,
                                          .xFilter = on_filter,
                                          .xNext = on_next,
                                          .xEof = on_eof,
                                          .xColumn = on_column,
                                          .xRowid = on_rowid};
    int rc = sqlite3_create_module(db->sqlite, "window_rows", &module, NULL);
    return rc == SQLITE_OK || qs_db_fail(db, rc, err);
}

void qs_stmt_bulk(struct qs_stmt *s, const struct qs_bulk *bulk)
{
    sqlite3_bind_pointer(s->raw, ++s->param, (void *)bulk, pointer_type, NULL);
}
