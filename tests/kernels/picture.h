/* Pictures made by arithmetic, the same on every machine, and how kernels judge their results. */
#ifndef QS_KERNELS_PICTURE_H
#define QS_KERNELS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct picture {
    size_t width, height; /* 8 .. 16384 each */
    uint8_t *pixels;      /* width * height, row by row; owned */
};

/* "3840x2160" into *p with empty pixels; false where it is no such size or there is no memory. */
bool picture_init(struct picture *p, const char *extent);
void picture_done(struct picture *p);
/* Every grey, with fine structure. */
void picture_fill_grey(struct picture *p);
/* Strokes of 1 on 0, 9 to 17 wide, in two slants that cross; the outermost pixels are 0. */
void picture_fill_strokes(struct picture *p);

/* FNV-1a of 32 bits. */
uint32_t picture_checksum(const void *bytes, size_t n);

#endif
