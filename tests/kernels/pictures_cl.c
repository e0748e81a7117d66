/* Blur and thinning on an OpenCL device; each result is compared with what the C kernels give. */
#include "quiesce/bench.h"

#include "kernels/gauss.h"
#include "kernels/opencl.h"
#include "kernels/zhang_suen.h"
#include "kernels_cl.h"

static const char *size = "3840x2160";
static int64_t radius = 5;
static struct opencl cl;
static struct picture original, wanted, got;
static size_t bytes;
static cl_mem from, middle, to, tables[2], changed;
static cl_kernel blur_x, blur_y, half[2];
static int passes;
static uint32_t m_blur, m_thin, m_passes;

/* After a step: an error of OpenCL is the step's. */
static void finish(struct quiesce *q)
{
    if (cl.error[0]) {
        quiesce_fail(q, "%s", cl.error);
    }
}

static bool setup_both(struct quiesce *q)
{
    if (!picture_init(&original, size) || !picture_init(&wanted, size) || !picture_init(&got, size)) {
        quiesce_fail(q, "size: `%s` is not WIDTHxHEIGHT, 8 to 16384 each, or there is no memory for it",
                     size);
        return false;
    }
    bytes = original.width * original.height;
    if (!opencl_init(&cl, kernels_cl)) {
        finish(q);
        return false;
    }
    from = opencl_buffer(&cl, bytes);
    to = opencl_buffer(&cl, bytes);
    return true;
}

static void pass_buffers(cl_kernel kernel, cl_mem in, cl_mem out, cl_mem table)
{
    opencl_arg(&cl, kernel, 0, sizeof(cl_mem), &in);
    opencl_arg(&cl, kernel, 1, sizeof(cl_mem), &out);
    opencl_arg(&cl, kernel, 2, sizeof(cl_mem), &table);
}

static void setup_blur(struct quiesce *q)
{
    struct gauss gauss;
    if (!setup_both(q)) {
        return;
    }
    picture_fill_grey(&original);
    if (!gauss_init(&gauss, &original, (int)radius)) {
        quiesce_fail(q, "no memory for %s", size);
        return;
    }
    gauss_blur(&gauss, &original, &wanted);
    cl_int width = (cl_int)original.width, height = (cl_int)original.height, reach = (cl_int)radius;
    middle = opencl_buffer(&cl, bytes * sizeof(cl_ushort));
    tables[0] = opencl_buffer(&cl, sizeof gauss.weights);
    opencl_write(&cl, tables[0], sizeof gauss.weights, gauss.weights);
    opencl_write(&cl, from, bytes, original.pixels);
    gauss_done(&gauss);
    blur_x = opencl_kernel(&cl, "blur_x");
    blur_y = opencl_kernel(&cl, "blur_y");
    pass_buffers(blur_x, from, middle, tables[0]);
    pass_buffers(blur_y, middle, to, tables[0]);
    opencl_arg(&cl, blur_x, 3, sizeof reach, &reach);
    opencl_arg(&cl, blur_y, 3, sizeof reach, &reach);
    opencl_arg(&cl, blur_x, 4, sizeof width, &width);
    opencl_arg(&cl, blur_y, 4, sizeof width, &width);
    opencl_arg(&cl, blur_y, 5, sizeof height, &height);
    finish(q);
}

static void run_blur(struct quiesce *q)
{
    (void)q;
    opencl_run(&cl, blur_x, original.width, original.height);
    opencl_run(&cl, blur_y, original.width, original.height);
    opencl_ok(&cl, clFinish(cl.queue), "clFinish");
}

static void compare(struct quiesce *q, cl_mem result, uint32_t metric)
{
    opencl_read(&cl, result, bytes, got.pixels);
    finish(q);
    for (size_t i = 0; i < bytes; i++) {
        if (got.pixels[i] != wanted.pixels[i]) {
            quiesce_fail(q, "pixel %zu is %d, the C kernel gives %d", i, got.pixels[i], wanted.pixels[i]);
            return;
        }
    }
    quiesce_record(q, metric, picture_checksum(got.pixels, bytes));
}

static void conclude_blur(struct quiesce *q)
{
    compare(q, to, m_blur);
}

static void setup_thin(struct quiesce *q)
{
    struct zhang_suen rules;
    if (!setup_both(q)) {
        return;
    }
    picture_fill_strokes(&original);
    zhang_suen_init(&rules);
    memcpy(wanted.pixels, original.pixels, bytes);
    zhang_suen_thin(&rules, &wanted, &got);
    cl_int width = (cl_int)original.width, height = (cl_int)original.height;
    changed = opencl_buffer(&cl, sizeof(cl_int));
    for (int i = 0; i < 2; i++) {
        tables[i] = opencl_buffer(&cl, sizeof rules.deletes[i]);
        opencl_write(&cl, tables[i], sizeof rules.deletes[i], rules.deletes[i]);
        half[i] = opencl_kernel(&cl, "thin");
        pass_buffers(half[i], i == 0 ? from : to, i == 0 ? to : from, tables[i]);
        opencl_arg(&cl, half[i], 3, sizeof width, &width);
        opencl_arg(&cl, half[i], 4, sizeof height, &height);
        opencl_arg(&cl, half[i], 5, sizeof(cl_mem), &changed);
    }
    finish(q);
}

static void prepare_thin(struct quiesce *q)
{
    opencl_write(&cl, from, bytes, original.pixels);
    finish(q);
}

static void run_thin(struct quiesce *q)
{
    cl_int any = 1;
    (void)q;
    for (passes = 0; any && !cl.error[0]; passes++) {
        any = 0;
        opencl_write(&cl, changed, sizeof any, &any);
        opencl_run(&cl, half[0], original.width, original.height);
        opencl_run(&cl, half[1], original.width, original.height);
        opencl_read(&cl, changed, sizeof any, &any);
    }
}

static void conclude_thin(struct quiesce *q)
{
    compare(q, from, m_thin);
    quiesce_record(q, m_passes, passes);
}

static void release(cl_mem *buffer)
{
    if (*buffer) {
        clReleaseMemObject(*buffer);
    }
    *buffer = NULL;
}

static void release_kernel(cl_kernel *kernel)
{
    if (*kernel) {
        clReleaseKernel(*kernel);
    }
    *kernel = NULL;
}

static void teardown(struct quiesce *q)
{
    (void)q;
    release_kernel(&blur_x);
    release_kernel(&blur_y);
    release_kernel(&half[0]);
    release_kernel(&half[1]);
    release(&tables[0]);
    release(&tables[1]);
    release(&from);
    release(&to);
    release(&middle);
    release(&changed);
    opencl_done(&cl);
    picture_done(&original);
    picture_done(&wanted);
    picture_done(&got);
}

int main(int argc, char **argv)
{
    struct quiesce q;
    quiesce_init(&q, "Gaussian blur and Zhang-Suen thinning on an OpenCL device");
    quiesce_param_text(&q, "size", &size, "WIDTHxHEIGHT of the picture");
    quiesce_param_int(&q, "radius", &radius, 1, GAUSS_RADIUS_MAX, "of the blur, pixels on each side");
    struct quiesce_benchmark *blur =
        quiesce_add(&q, "blur", "8-bit grey, along x and then along y", run_blur);
    blur->setup = setup_blur;
    blur->conclude = conclude_blur;
    blur->teardown = teardown;
    m_blur = quiesce_metric(&q, blur, "checksum", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    struct quiesce_benchmark *thin = quiesce_add(&q, "thin", "strokes to their middle lines", run_thin);
    thin->setup = setup_thin;
    thin->prepare = prepare_thin;
    thin->conclude = conclude_thin;
    thin->teardown = teardown;
    thin->once = true;
    m_thin = quiesce_metric(&q, thin, "checksum", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    m_passes = quiesce_metric(&q, thin, "passes", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    return quiesce_main(&q, argc, argv);
}
