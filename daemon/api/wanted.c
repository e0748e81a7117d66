#include "api/wanted.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool qs_wanted_take(struct qs_wanted *w, const struct qs_uri *uri, struct qs_err *err)
{
    const char *text = qs_uri_get(uri, "metric");
    if (!text)
        return true;
    w->text = qs_strdup(text);
    w->list.names = w->names;
    for (char *rest = w->text, *name; (name = strsep(&rest, ",")) != NULL;) {
        if (*name == '\0' || w->list.count == QS_WANTED_MOST)
            return qs_fail(err, QS_E_USAGE, "`metric` names 1 to %d metrics with commas between",
                           QS_WANTED_MOST);
        w->names[w->list.count++] = name;
    }
    return true;
}

void qs_wanted_done(struct qs_wanted *w)
{
    free(w->text);
}
