/* Gaussian blur of one picture. */
#include "quiesce/bench.h"

#include "kernels/gauss.h"

static const char *size = "3840x2160";
static int64_t radius = 5;
static struct picture from, to;
static struct gauss gauss;
static uint32_t m_checksum;

static void setup(struct quiesce *q)
{
    if (!picture_init(&from, size) || !picture_init(&to, size)) {
        quiesce_fail(q, "size: `%s` is not WIDTHxHEIGHT, 8 to 16384 each, or there is no memory for it",
                     size);
    } else if (!gauss_init(&gauss, &from, (int)radius)) {
        quiesce_fail(q, "no memory for %s", size);
    } else {
        picture_fill_grey(&from);
    }
}

static void run(struct quiesce *q)
{
    (void)q;
    gauss_blur(&gauss, &from, &to);
    quiesce_keep(to.pixels);
}

static void conclude(struct quiesce *q)
{
    quiesce_record(q, m_checksum, picture_checksum(to.pixels, to.width * to.height));
}

static void teardown(struct quiesce *q)
{
    (void)q;
    gauss_done(&gauss);
    picture_done(&from);
    picture_done(&to);
}

int main(int argc, char **argv)
{
    struct quiesce q;
    quiesce_init(&q, "Gaussian blur of a generated picture");
    quiesce_param_text(&q, "size", &size, "WIDTHxHEIGHT of the picture");
    quiesce_param_int(&q, "radius", &radius, 1, GAUSS_RADIUS_MAX, "pixels on each side; sigma is half of it");
    struct quiesce_benchmark *blur = quiesce_add(&q, "blur", "8-bit grey, along x and then along y", run);
    blur->setup = setup;
    blur->conclude = conclude;
    blur->teardown = teardown;
    m_checksum = quiesce_metric(&q, blur, "checksum", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    return quiesce_main(&q, argc, argv);
}
