#include "base/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

bool qs_program_is(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *qs_program_beside(const char *const *places, const char *otherwise)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    const char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;
    for (; slash && *places; places++) {
        char *path = qs_asprintf("%.*s/%s", (int)(slash - self), self, *places);
        if (qs_program_is(path))
            return path;
        free(path);
    }
    return qs_strdup(otherwise);
}
