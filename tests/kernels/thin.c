/* Thinning of one picture: each run needs a fresh one, so there is one evaluation per iteration. */
#include "quiesce/bench.h"

#include "kernels/zhang_suen.h"

static const char *size = "3840x2160";
static struct picture strokes, thinned, spare;
static struct zhang_suen rules;
static int passes;
static uint32_t m_checksum, m_passes, m_left;

static void setup(struct quiesce *q)
{
    if (!picture_init(&strokes, size) || !picture_init(&thinned, size) || !picture_init(&spare, size)) {
        quiesce_fail(q, "size: `%s` is not WIDTHxHEIGHT, 8 to 16384 each, or there is no memory for it",
                     size);
        return;
    }
    picture_fill_strokes(&strokes);
    zhang_suen_init(&rules);
}

static void prepare(struct quiesce *q)
{
    (void)q;
    memcpy(thinned.pixels, strokes.pixels, strokes.width * strokes.height);
}

static void run(struct quiesce *q)
{
    (void)q;
    passes = zhang_suen_thin(&rules, &thinned, &spare);
    quiesce_keep(thinned.pixels);
}

/* A pixel that was not there, or none left of strokes that cannot vanish, is a wrong result. */
static void conclude(struct quiesce *q)
{
    size_t left = 0;
    for (size_t i = 0; i < strokes.width * strokes.height; i++) {
        left += thinned.pixels[i];
        if (thinned.pixels[i] > strokes.pixels[i]) {
            quiesce_fail(q, "pixel %zu was added", i);
            return;
        }
    }
    if (left == 0) {
        quiesce_fail(q, "nothing is left of the strokes");
    }
    quiesce_record(q, m_checksum, picture_checksum(thinned.pixels, strokes.width * strokes.height));
    quiesce_record(q, m_passes, passes);
    quiesce_record(q, m_left, (int64_t)left);
}

static void teardown(struct quiesce *q)
{
    (void)q;
    picture_done(&strokes);
    picture_done(&thinned);
    picture_done(&spare);
}

int main(int argc, char **argv)
{
    struct quiesce q;
    quiesce_init(&q, "Zhang-Suen thinning of a generated picture");
    quiesce_param_text(&q, "size", &size, "WIDTHxHEIGHT of the picture");
    struct quiesce_benchmark *thin =
        quiesce_add(&q, "thin", "strokes of 9 to 17 pixels to their middle lines", run);
    thin->setup = setup;
    thin->prepare = prepare;
    thin->conclude = conclude;
    thin->teardown = teardown;
    thin->once = true;
    m_checksum = quiesce_metric(&q, thin, "checksum", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    m_passes = quiesce_metric(&q, thin, "passes", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    m_left = quiesce_metric(&q, thin, "left", "px", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    return quiesce_main(&q, argc, argv);
}
