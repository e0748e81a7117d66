/* Three programs that have a warm-up of their own: memory that is touched for the first time, answers that
 * are remembered, and a table that grows. A fresh process begins anew. */
#include "quiesce/bench.h"

enum { BLOCKS = 1024, NUMBERS = 8192, QUESTIONS = 200000, ASKED = 6000, KEYS = 524288, COUNTED = 1000 };

static uint64_t drawn = 1;

static uint32_t draw(void)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(drawn >> 33);
}

/* An allocator that goes round in 64 MiB: until it comes back to its beginning, each page costs a fault. */
static uint64_t *arena;
static size_t arena_at;

static void setup_arena(struct quiesce *q)
{
    arena = malloc(sizeof *arena * BLOCKS * NUMBERS);
    if (!arena) {
        quiesce_fail(q, "no memory for %d blocks", BLOCKS);
    }
}

static void run_arena(struct quiesce *q)
{
    uint64_t *block = arena + arena_at++ % BLOCKS * NUMBERS;
    (void)q;
    for (int i = 0; i < NUMBERS; i++) {
        block[i] = draw();
    }
    quiesce_keep(block);
}

/* Questions of which some are asked much more often than others; each is worked out once. */
static uint32_t *answers;

static void setup_memo(struct quiesce *q)
{
    answers = calloc(QUESTIONS, sizeof *answers);
    if (!answers) {
        quiesce_fail(q, "no memory for %d answers", QUESTIONS);
    }
}

static uint32_t work_out(uint32_t question)
{
    uint64_t n = question + 1;
    uint32_t steps = 1;
    for (; steps < 200; steps++) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        quiesce_keep(n);
    }
    return steps;
}

static void run_memo(struct quiesce *q)
{
    uint64_t sum = 0;
    (void)q;
    for (int i = 0; i < ASKED; i++) {
        double u = draw() / 2147483648.0;
        uint32_t question = (uint32_t)(QUESTIONS * u * u * u);
        if (!answers[question]) {
            answers[question] = work_out(question);
        }
        sum += answers[question];
    }
    quiesce_keep(sum);
}

/* Keys are counted in a table that doubles when it is half full; it ends at KEYS of them. */
struct slot {
    uint32_t key, count; /* key 0: free */
};
static struct slot *slots;
static uint32_t slot_count, held;

static struct slot *find(struct slot *in, uint32_t room, uint32_t key)
{
    uint32_t at = key * 2654435761u;
    while (in[at & (room - 1)].key != 0 && in[at & (room - 1)].key != key) {
        at++;
    }
    return &in[at & (room - 1)];
}

static bool grow(uint32_t room)
{
    struct slot *more = calloc(room, sizeof *more);
    if (!more) {
        return false;
    }
    for (uint32_t i = 0; i < slot_count; i++) {
        if (slots[i].key != 0) {
            *find(more, room, slots[i].key) = slots[i];
        }
    }
    free(slots);
    slots = more;
    slot_count = room;
    return true;
}

static void setup_table(struct quiesce *q)
{
    if (!grow(64)) {
        quiesce_fail(q, "no memory for a table");
    }
}

static void run_table(struct quiesce *q)
{
    for (int i = 0; i < COUNTED; i++) {
        uint32_t key = 1 + draw() % KEYS;
        struct slot *slot = find(slots, slot_count, key);
        held += slot->key == 0 ? 1 : 0;
        *slot = (struct slot){key, slot->count + 1};
        if (2 * held > slot_count && !grow(2 * slot_count)) {
            quiesce_fail(q, "no memory for %u slots", 2 * slot_count);
            return;
        }
    }
}

int main(int argc, char **argv)
{
    struct quiesce q;
    quiesce_init(&q, "programs that warm up");
    quiesce_add(&q, "arena", "writes 64 KiB of a ring of 64 MiB", run_arena)->setup = setup_arena;
    quiesce_add(&q, "memo", "asks 6000 of 200000 questions, each worked out once", run_memo)->setup =
        setup_memo;
    quiesce_add(&q, "table", "counts 1000 of 524288 keys in a table that grows", run_table)->setup =
        setup_table;
    return quiesce_main(&q, argc, argv);
}
