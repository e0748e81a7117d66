#include "sim/board/load.h"

#include "sim/board/calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TREE_MAX_BYTES = 1 << 20 };

bool qs_vboard_load(struct qs_vboard *board, const char *path)
{
    char wrong[sizeof board->why];
    char *tree = malloc(TREE_MAX_BYTES);
    FILE *file = tree ? fopen(path, "re") : NULL;
    size_t n = file ? fread(tree, 1, TREE_MAX_BYTES, file) : 0;
    bool ok = false;
    if (!file) {
        snprintf(wrong, sizeof wrong, "%s", strerror(errno));
    } else if (ferror(file) || n == TREE_MAX_BYTES) {
        snprintf(wrong, sizeof wrong, "cannot be read, or is too long for a tree");
    } else if (n == 0) {
        snprintf(wrong, sizeof wrong, "is empty");
    } else {
        ok = qs_vboard_init(board, tree, n);
        snprintf(wrong, sizeof wrong, "%s", board->why);
    }
    if (file) {
        fclose(file);
    }
    free(tree);
    if (!ok) {
        snprintf(board->why, sizeof board->why, "%.150s: %.150s", path, wrong);
    }
    return ok;
}
