/* Any bytes as the file of an enrolled key: what is taken is, written again, the same file. */
#include <string.h>

#include "fuzz.h"
#include "proto/enrolled.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qs_enrolled key;
    char text[QS_ENROLLED_FILE_MAX_BYTES];
    if (!qs_enrolled_parse(data, size, &key))
        return 0;
    fuzz_require(qs_enrolled_is_name(key.name, strlen(key.name)));
    size_t n = qs_enrolled_write(&key, text);
    fuzz_require(n == size || n == size + 1); /* an editor may have cut the line's end */
    fuzz_require(memcmp(text, data, size) == 0 && text[n - 1] == '\n');
    return 0;
}
