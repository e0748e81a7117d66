#include "samples_files.h"

#include <string.h>

#include "samples.h"

enum { MEMORY_BYTES = 256 };

static struct qs_content content_of(uint64_t bytes, bool named)
{
    struct qs_content v = {.bytes = bytes, .flags = named ? QS_FILE_EXECUTABLE : 0};
    if (named)
        sample_count_up(v.sha256, sizeof v.sha256);
    return v;
}

bool sample_put_have(struct qs_writer *w)
{
    uint8_t memory[MEMORY_BYTES];
    struct qs_build list;
    const struct qs_content first = content_of(UINT64_C(1) << 40, true), second = content_of(0, false);
    qs_build_init(&list, memory, sizeof memory);
    qs_build_content(&list, &first);
    qs_build_content(&list, &second);
    return qs_msg_encode_have(w, &(struct qs_msg_have){.id = 11, .files = qs_build_list(&list)});
}

bool sample_put_having(struct qs_writer *w)
{
    uint8_t memory[MEMORY_BYTES];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    qs_build_u16(&list, 0);
    qs_build_u16(&list, QS_FILES_MAX - 1);
    const struct qs_msg_having m = {.id = 11,
                                    .missing = qs_build_list(&list),
                                    .cache_bytes = UINT64_C(1) << 41,
                                    .free_bytes = UINT64_MAX,
                                    .most_bytes = UINT64_C(8) << 30};
    return qs_msg_encode_having(w, &m);
}

bool sample_put_put(struct qs_writer *w)
{
    return qs_msg_encode_put(w, &(struct qs_msg_put){.id = 12, .file = content_of(12000000, true)});
}

bool sample_put_put_data(struct qs_writer *w)
{
    static const char bytes[] = {0x7f, 'E', 'L', 'F', 0, (char)0xff};
    const struct qs_msg_put_data m = {.id = 12, .offset = 65536, .data = {.p = bytes, .n = sizeof bytes}};
    return qs_msg_encode_put_data(w, &m);
}

bool sample_put_put_at(struct qs_writer *w)
{
    const struct qs_msg_put_at m = {
        .id = 12, .status = QS_PUT_NO_SPACE, .offset = 65536, .why = qs_text_of("the cache is full")};
    return qs_msg_encode_put_at(w, &m);
}

static struct qs_place place_of(const char *name, bool named)
{
    struct qs_place v = {.name = qs_text_of(name), .flags = named ? QS_FILE_EXECUTABLE : 0};
    if (named)
        sample_count_up(v.sha256, sizeof v.sha256);
    return v;
}

bool sample_put_stage(struct qs_writer *w)
{
    uint8_t memory[MEMORY_BYTES];
    struct qs_build list;
    const struct qs_place first = place_of("blur", true), second = place_of("in/4k.ppm", false);
    qs_build_init(&list, memory, sizeof memory);
    qs_build_place(&list, &first);
    qs_build_place(&list, &second);
    return qs_msg_encode_stage(
        w, &(struct qs_msg_stage){.id = 13, .dir = UINT16_MAX, .places = qs_build_list(&list)});
}

bool sample_put_staged(struct qs_writer *w)
{
    const struct qs_msg_staged m = {.id = 13, .path = qs_text_of("/data/local/tmp/cache/1/dirs/ffff")};
    return qs_msg_encode_staged(w, &m);
}

bool sample_put_clean(struct qs_writer *w)
{
    return qs_msg_encode_clean(w, &(struct qs_msg_clean){.id = 14, .what = QS_CLEAN_ALL});
}

bool sample_put_cleaned(struct qs_writer *w)
{
    const struct qs_msg_cleaned m = {.id = 14, .freed_bytes = UINT64_C(1) << 40, .changed = 2};
    return qs_msg_encode_cleaned(w, &m);
}

bool sample_put_read(struct qs_writer *w)
{
    return qs_msg_encode_read(w, &(struct qs_msg_read){.id = 15});
}

bool sample_put_readings(struct qs_writer *w)
{
    uint8_t memory[MEMORY_BYTES];
    struct qs_build list;
    const struct qs_reading first = {.sensor = qs_text_of("freq:policy0_khz"), .value = 1800000},
                            second = {.sensor = qs_text_of("thermal:soc"), .status = QS_READING_UNREADABLE};
    qs_build_init(&list, memory, sizeof memory);
    qs_build_reading(&list, &first);
    qs_build_reading(&list, &second);
    return qs_msg_encode_readings(w, &(struct qs_msg_readings){.id = 15, .readings = qs_build_list(&list)});
}

#define FILES_RECODE(shape)                                                                                  \
    RECODE(shape)                                                                                            \
    int sample_recode_##shape(const uint8_t *payload, size_t n, struct qs_writer *w)                         \
    {                                                                                                        \
        return recode_##shape(payload, n, w);                                                                \
    }
FILES_RECODE(have)
FILES_RECODE(having)
FILES_RECODE(put)
FILES_RECODE(put_data)
FILES_RECODE(put_at)
FILES_RECODE(stage)
FILES_RECODE(staged)
FILES_RECODE(clean)
FILES_RECODE(cleaned)
FILES_RECODE(read)
FILES_RECODE(readings)
