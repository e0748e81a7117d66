/* Thinning of a binary picture: Zhang and Suen 1984, "A fast parallel algorithm for thinning digital
 * patterns". */
#ifndef QS_KERNELS_ZHANG_SUEN_H
#define QS_KERNELS_ZHANG_SUEN_H

#include "kernels/picture.h"

/* For each set of neighbours (bit 0 north, then clockwise) whether the first or the second half of a pass
 * deletes. */
struct zhang_suen {
    uint8_t deletes[2][256];
};
void zhang_suen_init(struct zhang_suen *z);

/* Thins `p` in place until nothing changes; `spare` is as large. The number of passes, the last of which
 * changed nothing. The outermost pixels are taken for background. */
int zhang_suen_thin(const struct zhang_suen *z, struct picture *p, struct picture *spare);

#endif
