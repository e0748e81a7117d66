/* What a simulated process of stream mode has written: as many lines as it measured values. */
#include "sim/impl.h"

#include <stdio.h>
#include <string.h>

void qs_sim_document(void *ctx, uint8_t *memory, size_t cap, struct qs_port_document *document)
{
    struct qs_sim *sim = ctx;
    /* On a board: as its clock ran. */
    long long lasted_ns =
        (sim->child.end_ns - sim->child.start_ns) / (sim->run.values ? (int64_t)sim->run.values : 1);
    *document = (struct qs_port_document){.status = QS_PULL_OK};
    for (uint32_t i = 0; i < sim->run.values; i++) {
        char line[64];
        long long ns = sim->options.bed ? lasted_ns : qs_sim_lasts_ns(sim, &sim->run, true);
        int n = sim->run.words ? snprintf(line, sizeof line, "run %u: time=%lld ns\n", (unsigned)i, ns)
                               : snprintf(line, sizeof line, "%lld\n", ns);
        size_t room = cap - document->n;
        size_t fits = (size_t)n < room ? (size_t)n : room;
        memcpy(memory + document->n, line, fits);
        document->n += fits;
        document->total_bytes += (uint64_t)n;
    }
}
