/* As much of OpenCL as two kernels need: one device, one queue, buffers, errors in words. */
#ifndef QS_KERNELS_OPENCL_H
#define QS_KERNELS_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdbool.h>
#include <stddef.h>

struct opencl {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    char error[512]; /* the first that happened; "": none */
};

/* The first device there is, and the program built for it. false: see error. */
bool opencl_init(struct opencl *cl, const char *source);
void opencl_done(struct opencl *cl);
/* What a call returned; false and words where that is an error. */
bool opencl_ok(struct opencl *cl, cl_int status, const char *what);
cl_mem opencl_buffer(struct opencl *cl, size_t bytes);
cl_kernel opencl_kernel(struct opencl *cl, const char *name);
void opencl_arg(struct opencl *cl, cl_kernel kernel, cl_uint index, size_t bytes, const void *value);
void opencl_run(struct opencl *cl, cl_kernel kernel, size_t width, size_t height);
void opencl_write(struct opencl *cl, cl_mem to, size_t bytes, const void *from);
void opencl_read(struct opencl *cl, cl_mem from, size_t bytes, void *to);

#endif
