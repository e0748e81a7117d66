#include "kernels/zhang_suen.h"

#include <string.h>

void zhang_suen_init(struct zhang_suen *z)
{
    for (unsigned set = 0; set < 256; set++) {
        unsigned neighbours = 0, rises = 0;
        for (unsigned i = 0; i < 8; i++) {
            neighbours += set >> i & 1;
            rises += !(set >> i & 1) && (set >> ((i + 1) % 8) & 1);
        }
        bool north = set & 1, east = set & 4, south = set & 16, west = set & 64;
        bool thins = neighbours >= 2 && neighbours <= 6 && rises == 1;
        z->deletes[0][set] = thins && !(north && east && south) && !(east && south && west);
        z->deletes[1][set] = thins && !(north && east && west) && !(north && south && west);
    }
}

/* Half a pass; how many pixels it deleted. */
static size_t half(const uint8_t *deletes, const struct picture *from, struct picture *to)
{
    size_t width = from->width, deleted = 0;
    memcpy(to->pixels, from->pixels, width * from->height);
    for (size_t y = 1; y + 1 < from->height; y++) {
        const uint8_t *up = from->pixels + (y - 1) * width, *at = up + width, *down = at + width;
        for (size_t x = 1; x + 1 < width; x++) {
            if (!at[x]) {
                continue;
            }
            unsigned set = up[x] | (unsigned)up[x + 1] << 1 | (unsigned)at[x + 1] << 2 |
                           (unsigned)down[x + 1] << 3 | (unsigned)down[x] << 4 | (unsigned)down[x - 1] << 5 |
                           (unsigned)at[x - 1] << 6 | (unsigned)up[x - 1] << 7;
            if (deletes[set]) {
                to->pixels[y * width + x] = 0;
                deleted++;
            }
        }
    }
    return deleted;
}

int zhang_suen_thin(const struct zhang_suen *z, struct picture *p, struct picture *spare)
{
    size_t deleted = 1;
    int passes = 0;
    for (; deleted > 0; passes++) {
        deleted = half(z->deletes[0], p, spare);
        deleted += half(z->deletes[1], spare, p);
    }
    return passes;
}
