/* What runs came to: reactive_study STRICTNESS square|cube FILE. FILE has a run a line, the iterations that
 * count, in ns. Prints JSON: a list with an object for each run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stopping.h"
#include "stats/sum.h"
#include "studies/stop/series.h"

enum { FEWEST = 3 };

/* wants_more: whether Junge's rule would go on if it took a correlation of 0 or below for one just above. */
static bool print(const struct series *s, int root, double strictness, const char *before)
{
    struct qs_moments m;
    struct qs_futhark f;
    if (qs_moments(s->v, s->n, &m) != QS_OK || qs_futhark_metrics(s->v, s->n, NULL, 0, root, &f) != QS_OK)
        return false;
    bool more = qs_futhark_wants_more(&f, QS_FUTHARK_CORRECTED, strictness);
    printf("%s{\"n\": %zu, \"mean_ns\": %.17g, \"r1\": %.17g, \"wants_more\": %s}", before, s->n, m.mean,
           f.r1, more ? "true" : "false");
    return true;
}

int main(int argc, char **argv)
{
    struct set set = {0};
    double strictness = argc == 4 ? strtod(argv[1], NULL) : 0;
    bool cube = argc == 4 && strcmp(argv[2], "cube") == 0;
    if (!(strictness >= 1) || (!cube && strcmp(argv[2], "square") != 0)) {
        fputs("usage: reactive_study STRICTNESS square|cube FILE\n", stderr);
        return 2;
    }
    bool ok = set_read(&set, argv[3], FEWEST);
    for (size_t i = 0; ok && i < set.count; i++)
        ok = print(&set.s[i], cube ? QS_ROOT_CUBE : QS_ROOT_SQUARE, strictness, i > 0 ? ", " : "[");
    if (ok)
        puts("]");
    else
        fputs("reactive_study: fewer than 3 positive values in a line, or no memory\n", stderr);
    set_free(&set);
    return ok ? 0 : 1;
}
