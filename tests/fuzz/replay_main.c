/* Runs a fuzz target over files, where there is no libFuzzer: every argument is a file, or a folder of files.
 * Each input lies in memory of exactly its size. A broken property or a sanitizer's finding ends the program
 * by a signal. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

enum { INPUT_MAX_BYTES = 4 * 1024 * 1024 };

static bool replay_file(const char *path, long bytes)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(bytes > 0 ? (size_t)bytes : 1);
    bool ok = f != NULL && data != NULL && fread(data, 1, (size_t)bytes, f) == (size_t)bytes;
    if (ok)
        LLVMFuzzerTestOneInput(data, (size_t)bytes);
    else
        fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
    free(data);
    if (f != NULL)
        fclose(f);
    return ok;
}

static int replay(const char *path);

/* The number of inputs that were run; -1 where one could not be. */
static int replay_folder(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir != NULL && count >= 0 && (entry = readdir(dir)) != NULL) {
        char inner[4096];
        if (entry->d_name[0] == '.')
            continue;
        int n = snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        int ran = n > 0 && (size_t)n < sizeof inner ? replay(inner) : -1;
        count = ran < 0 ? -1 : count + ran;
    }
    if (dir == NULL)
        return -1;
    closedir(dir);
    return count;
}

static int replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || (!S_ISDIR(st.st_mode) && st.st_size > INPUT_MAX_BYTES)) {
        fprintf(stderr, "%s: not found, or larger than %d bytes\n", path, INPUT_MAX_BYTES);
        return -1;
    }
    if (S_ISDIR(st.st_mode))
        return replay_folder(path);
    return replay_file(path, (long)st.st_size) ? 1 : -1;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int ran = replay(argv[i]);
        if (ran < 0)
            return 1;
        total += ran;
    }
    printf("%d inputs\n", total);
    return total > 0 ? 0 : 1;
}
