/* Which contents the history names: what lies beside it and is none of these may go. */
#include "store/read/files.h"

#include <stdlib.h>
#include <string.h>

#include "store/read/util.h"
#include "store/read/reader.h"

bool qs_read_file_uses(struct qs_store_reader *r, struct qs_file_uses *ret, struct qs_err *err)
{
    struct qs_stmt s;
    *ret = (struct qs_file_uses){0};
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT lower(hex(sha256)) AS hash FROM artifact WHERE sha256 IS NOT NULL"
                       " UNION SELECT lower(f.value) FROM job, json_each(job.spec, '$.files') AS f"
                       " WHERE f.type = 'text' ORDER BY hash",
                       err))
        return false;
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        const char *hash = qs_stmt_get_text(&s);
        if (hash && strlen(hash) == sizeof ret->at[0].sha256 - 1) {
            ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
            memcpy(ret->at[ret->count++].sha256, hash, sizeof ret->at[0].sha256);
        }
    }
    if (!ok)
        qs_file_uses_free(ret);
    return ok;
}

void qs_file_uses_free(struct qs_file_uses *uses)
{
    free(uses->at);
    *uses = (struct qs_file_uses){0};
}

static int by_hash(const void *key, const void *item)
{
    return strcmp(key, ((const struct qs_file_use *)item)->sha256);
}

bool qs_file_is_used(const char *sha256, void *uses)
{
    const struct qs_file_uses *all = uses;
    return all->count > 0 && bsearch(sha256, all->at, all->count, sizeof *all->at, by_hash);
}
