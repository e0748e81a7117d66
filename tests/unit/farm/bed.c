#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "link/link.h"

struct qs_farm_config *bed_farm_of(const char *text)
{
    struct qs_farm_config *config = NULL;
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    qs_problems_init(&problems);
    if (!qs_doc_read("farm", text, strlen(text), false, &doc, &problems) ||
        !qs_farm_from_doc(doc, qs_link_check_address, &config, &problems))
        fail_msg("%s", problems.count ? problems.at[0].what : "?");
    qs_doc_free(doc);
    qs_problems_done(&problems);
    return config;
}

/* In memory where there is such a place: some hundred databases are made. */
void bed_init(struct bed *b, const char *farm_text)
{
    *b = (struct bed){.config = bed_farm_of(farm_text)};
    snprintf(b->dir, sizeof b->dir, "%s/quiesce-test-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(b->dir));
    b->db = qs_asprintf("%s/farm.db", b->dir);
    b->work = qs_asprintf("%s/files", b->dir);
}

void bed_done(struct bed *b)
{
    char *command = qs_asprintf("rm -r -- '%s'", b->dir);
    assert_int_equal(system(command), 0);
    free(command);
    free(b->db);
    free(b->work);
    qs_farm_config_free(b->config);
}

void bed_begin(struct bed *b, int64_t start_ns, uint64_t seed)
{
    struct qs_err err = QS_ERR_INIT;
    b->loop = qs_loop_new_virtual(start_ns, seed);
    b->stopped = false;
    assert_true(qs_store_open(b->loop, b->db, &b->store_events, &b->store, &err));
    assert_non_null(b->files = qs_files_open(b->work, &err));
    const struct qs_farm_parts parts = {
        .loop = b->loop, .store = b->store, .files = b->files, .config = b->config};
    b->farm = qs_farm_new(&parts, &b->events);
    if (!qs_farm_start(b->farm, &err))
        fail_msg("%s", err.text);
}

void bed_end(struct bed *b)
{
    if (!b->stopped) {
        qs_farm_stop(b->farm, bed_on_stopped, b);
        qs_loop_run(b->loop);
    }
    qs_store_close(b->store);
    qs_loop_run(b->loop);
    qs_farm_free(b->farm);
    qs_files_close(b->files);
    assert_int_equal(qs_loop_free(b->loop), 0);
}

void bed_on_stopped(void *user)
{
    struct bed *b = user;
    b->stopped = true;
    qs_loop_stop(b->loop);
}

bool bed_submit(struct bed *b, const struct qs_submission *sub, const char *idem, qs_store_done_fn *done,
                void *user, char **ret_problem)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_prepared *p = qs_farm_prepare(b->farm, sub);
    const struct qs_problems *problems = qs_prepared_problems(p);
    bool ok = qs_farm_submit(b->farm, p, "me", idem, done, user, &err);
    if (ret_problem)
        *ret_problem = problems->count > 0 ? qs_strdup(problems->at[0].what) : NULL;
    qs_prepared_free(p);
    return ok;
}
