#include "kernels/picture.h"

#include <stdio.h>
#include <stdlib.h>

bool picture_init(struct picture *p, const char *extent)
{
    char rest;
    *p = (struct picture){.width = 0};
    if (sscanf(extent, "%5zux%5zu%c", &p->width, &p->height, &rest) != 2 || p->width < 8 ||
        p->width > 16384 || p->height < 8 || p->height > 16384) {
        return false;
    }
    p->pixels = calloc(p->width, p->height);
    return p->pixels != NULL;
}

void picture_done(struct picture *p)
{
    free(p->pixels);
    p->pixels = NULL;
}

void picture_fill_grey(struct picture *p)
{
    for (size_t y = 0; y < p->height; y++) {
        for (size_t x = 0; x < p->width; x++) {
            p->pixels[y * p->width + x] = (uint8_t)(x * 7 + y * 13 + (x * y) / 32);
        }
    }
}

void picture_fill_strokes(struct picture *p)
{
    for (size_t y = 1; y + 1 < p->height; y++) {
        for (size_t x = 1; x + 1 < p->width; x++) {
            bool on = (x + y / 2) % 64 < 17 || (y + x / 3) % 83 < 9;
            p->pixels[y * p->width + x] = on ? 1 : 0;
        }
    }
}

uint32_t picture_checksum(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < n; i++) {
        sum = (sum ^ p[i]) * 16777619u;
    }
    return sum;
}
