#include "kernels/opencl.h"

#include <stdio.h>
#include <string.h>

bool opencl_ok(struct opencl *cl, cl_int status, const char *what)
{
    if (status != CL_SUCCESS && !cl->error[0]) {
        snprintf(cl->error, sizeof cl->error, "%s: OpenCL error %d", what, (int)status);
    }
    return status == CL_SUCCESS;
}

static bool build(struct opencl *cl, const char *source)
{
    cl_int status = CL_SUCCESS;
    char log[400] = "";
    cl->program = clCreateProgramWithSource(cl->context, 1, &source, NULL, &status);
    if (!opencl_ok(cl, status, "clCreateProgramWithSource")) {
        return false;
    }
    status = clBuildProgram(cl->program, 1, &cl->device, "", NULL, NULL);
    if (status != CL_SUCCESS) {
        clGetProgramBuildInfo(cl->program, cl->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        snprintf(cl->error, sizeof cl->error, "clBuildProgram: OpenCL error %d: %s", (int)status, log);
    }
    return status == CL_SUCCESS;
}

bool opencl_init(struct opencl *cl, const char *source)
{
    cl_int status = CL_SUCCESS;
    cl_platform_id platform;
    memset(cl, 0, sizeof *cl);
    if (!opencl_ok(cl, clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs") ||
        !opencl_ok(cl, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &cl->device, NULL),
                   "clGetDeviceIDs")) {
        return false;
    }
    cl->context = clCreateContext(NULL, 1, &cl->device, NULL, NULL, &status);
    if (!opencl_ok(cl, status, "clCreateContext")) {
        return false;
    }
    cl->queue = clCreateCommandQueue(cl->context, cl->device, 0, &status);
    return opencl_ok(cl, status, "clCreateCommandQueue") && build(cl, source);
}

void opencl_done(struct opencl *cl)
{
    if (cl->program) {
        clReleaseProgram(cl->program);
    }
    if (cl->queue) {
        clReleaseCommandQueue(cl->queue);
    }
    if (cl->context) {
        clReleaseContext(cl->context);
    }
}

cl_mem opencl_buffer(struct opencl *cl, size_t bytes)
{
    cl_int status = CL_SUCCESS;
    cl_mem made = clCreateBuffer(cl->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    opencl_ok(cl, status, "clCreateBuffer");
    return made;
}

cl_kernel opencl_kernel(struct opencl *cl, const char *name)
{
    cl_int status = CL_SUCCESS;
    cl_kernel made = clCreateKernel(cl->program, name, &status);
    opencl_ok(cl, status, name);
    return made;
}

void opencl_arg(struct opencl *cl, cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    opencl_ok(cl, clSetKernelArg(kernel, index, bytes, value), "clSetKernelArg");
}

void opencl_run(struct opencl *cl, cl_kernel kernel, size_t width, size_t height)
{
    const size_t size[2] = {width, height};
    opencl_ok(cl, clEnqueueNDRangeKernel(cl->queue, kernel, 2, NULL, size, NULL, 0, NULL, NULL),
              "clEnqueueNDRangeKernel");
}

void opencl_write(struct opencl *cl, cl_mem to, size_t bytes, const void *from)
{
    opencl_ok(cl, clEnqueueWriteBuffer(cl->queue, to, CL_TRUE, 0, bytes, from, 0, NULL, NULL),
              "clEnqueueWriteBuffer");
}

void opencl_read(struct opencl *cl, cl_mem from, size_t bytes, void *to)
{
    opencl_ok(cl, clEnqueueReadBuffer(cl->queue, from, CL_TRUE, 0, bytes, to, 0, NULL, NULL),
              "clEnqueueReadBuffer");
}
