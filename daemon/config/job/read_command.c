#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/job/read.h"
#include "config/document/scalar.h"
#include "config/job/words.h"
#include "proto/limits.h"

enum { FILES_MAX = 256 };

/* A command line where a list belongs: shown as the list it would be, or as a shell's work. */
static void refuse_line(struct qs_schema_reader *r, const struct qs_node *node, const char *or_shell,
                        const char *shell)
{
    QS_BUF(out);
    qs_buf_str(&out, "write ");
    if (qs_words_as_list(node->text, &out))
        qs_buf_str(&out, or_shell);
    else
        qs_buf_fmt(&out, "%s: this line needs a shell", shell);
    qs_schema_problem(r, node, out.data, "a command is a list, one word each: a line is not split for you");
}

static bool is_taken(struct qs_schema_reader *r, const struct qs_node *node, const struct qs_strings *s)
{
    if (s->count > 0)
        qs_schema_problem(r, node, "keep one of the two", "`argv` and `shell` both name the command");
    return s->count > 0;
}

static void read_words(struct qs_schema_reader *r, const struct qs_node *node, struct qs_strings *out)
{
    size_t bytes = 0;
    if (node->count == 0)
        qs_schema_problem(r, node, NULL, "an empty command");
    if (node->count > QS_ARGV_MAX)
        qs_schema_problem(r, node, NULL, "%zu words are too many (at most %d)", node->count, QS_ARGV_MAX);
    if (node->count == 0 || node->count > QS_ARGV_MAX)
        return;
    out->at = qs_calloc(node->count, sizeof(*out->at));
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter_index(r, i);
        const char *text = qs_schema_text(r, &node->items[i], "text");
        if (text != NULL && i == 0 && text[0] == '\0')
            qs_schema_problem(r, &node->items[i], NULL, "the program has no name");
        out->at[out->count++] = qs_strdup(text != NULL ? text : "");
        bytes += 2 + (text != NULL ? strlen(text) : 0);
        qs_schema_leave(r, mark);
    }
    if (bytes > QS_ARGV_MAX_BYTES)
        qs_schema_problem(r, node, NULL, "%zu bytes are too long for a command (at most %d)", bytes,
                          QS_ARGV_MAX_BYTES);
}

void qs_job_read_artifacts(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at)
{
    struct qs_strings *out = at;
    (void)key;
    if (!qs_schema_is(r, node, QS_NODE_LIST, "a list of paths"))
        return;
    if (node->count > QS_JOB_ARTIFACTS_MAX) {
        qs_schema_problem(r, node, NULL, "%zu artifacts are too many (at most %d)", node->count,
                          QS_JOB_ARTIFACTS_MAX);
        return;
    }
    out->at = qs_calloc(node->count + 1, sizeof(*out->at));
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter_index(r, i);
        const char *text = qs_schema_text(r, &node->items[i], "a path");
        if (text != NULL && (text[0] == '\0' || strlen(text) > QS_PATH_MAX_BYTES))
            qs_schema_problem(r, &node->items[i], NULL, "a path has 1 to %d bytes", QS_PATH_MAX_BYTES);
        out->at[out->count++] = qs_strdup(text != NULL ? text : "");
        qs_schema_leave(r, mark);
    }
}

void qs_job_read_argv(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    (void)key;
    if (is_taken(r, node, at))
        return;
    if (node->kind == QS_NODE_TEXT)
        refuse_line(r, node, ", or for a shell the key `shell:` instead of `argv:`",
                    "`shell:` instead of `argv:`");
    else if (qs_schema_is(r, node, QS_NODE_LIST, "a list, one word each"))
        read_words(r, node, at);
}

void qs_job_read_link(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    (void)key;
    if (node->kind == QS_NODE_TEXT)
        refuse_line(r, node, "", "[/bin/sh, -c, ...] around this text");
    else if (qs_schema_is(r, node, QS_NODE_LIST, "a list, one word each"))
        read_words(r, node, at);
}

void qs_job_read_shell(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at)
{
    (void)key;
    struct qs_strings *out = at;
    const char *text = NULL;
    if (is_taken(r, node, out) || (text = qs_schema_text(r, node, "a line for /bin/sh")) == NULL)
        return;
    if (text[0] == '\0' || strlen(text) > QS_ARGV_MAX_BYTES / 2) {
        qs_schema_problem(r, node, NULL,
                          text[0] == '\0' ? "an empty command" : "too long for a command line");
        return;
    }
    out->at = qs_calloc(3, sizeof(*out->at));
    out->at[out->count++] = qs_strdup("/bin/sh");
    out->at[out->count++] = qs_strdup("-c");
    out->at[out->count++] = qs_strdup(text);
}

void qs_job_read_hook(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    static const struct qs_key keys[] = {{.name = "shell",
                                          .type = QS_KEY_CUSTOM,
                                          .read = qs_job_read_shell,
                                          .form = "text",
                                          .required = true,
                                          .help = "A line for /bin/sh -c."},
                                         {0}};
    static const struct qs_table table = {.keys = keys};
    (void)key;
    if (node->kind == QS_NODE_TEXT)
        refuse_line(r, node, ", or for a shell {shell: ...}", "{shell: ...} around this text");
    else if (node->kind == QS_NODE_MAP)
        qs_schema_map(r, &table, node, at);
    else if (qs_schema_is(r, node, QS_NODE_LIST, "a list of words, or {shell: text}"))
        read_words(r, node, at);
}

void qs_job_read_env(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                     void *at)
{
    (void)key;
    struct qs_strings *out = at;
    if (!qs_schema_is(r, node, QS_NODE_MAP, "a map of variables"))
        return;
    if (node->count > QS_ENV_MAX / 2) {
        qs_schema_problem(r, node, NULL, "%zu variables are too many (at most %d)", node->count,
                          QS_ENV_MAX / 2);
        return;
    }
    out->at = qs_calloc(node->count, sizeof(*out->at));
    for (size_t i = 0; i < node->count; i++) {
        const char *name = node->keys[i].text;
        size_t mark = qs_schema_enter(r, name);
        const char *text = qs_schema_text(r, &node->items[i], "text (\"\" for an empty one)");
        if (name[0] == '\0' || strchr(name, '=') != NULL)
            qs_schema_problem(r, &node->keys[i], NULL, "a variable's name is not empty and has no `=`");
        if (text != NULL && strlen(name) + strlen(text) > QS_ENV_MAX_BYTES / 2)
            qs_schema_problem(r, &node->items[i], NULL, "too long for a variable");
        out->at[out->count++] = qs_asprintf("%s=%s", name, text != NULL ? text : "");
        qs_schema_leave(r, mark);
    }
}

void qs_job_read_mode(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    static const char *const now[] = {"command", "harness", "stream", "app"}; /* enum qs_job_mode */
    (void)key;
    const char *text = qs_schema_text(r, node, "a mode");
    if (text == NULL)
        return;
    for (size_t i = 0; i < sizeof(now) / sizeof(now[0]); i++)
        if (strcmp(text, now[i]) == 0) {
            *(enum qs_job_mode *)at = (enum qs_job_mode)i;
            return;
        }
    QS_BUF(out);
    qs_schema_suggest(&out, text, "the modes are", now, sizeof(now) / sizeof(now[0]));
    qs_schema_problem(r, node, out.data, "`%s` is not a mode", qs_show(text).text);
}

static void read_exit_codes(struct qs_schema_reader *r, const struct qs_node *node,
                            struct qs_job_benchmark *b)
{
    if (node->count == 0 || node->count > QS_EXIT_CODES_MAX) {
        qs_schema_problem(r, node, "any exit code: `exit: any`", "a list of 1 to %d exit codes",
                          QS_EXIT_CODES_MAX);
        return;
    }
    b->exit_rule = QS_EXIT_LIST;
    b->exit_codes = qs_calloc(node->count, sizeof(*b->exit_codes));
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter_index(r, i);
        struct qs_scalar_why why = {0};
        int64_t code = 0;
        const char *text = qs_schema_text(r, &node->items[i], "an exit code");
        if (text != NULL && (!qs_scalar_int(text, &code, &why) || code < 0 || code > 255))
            qs_schema_problem(r, &node->items[i], NULL, "`%s` is not an exit code (0 to 255)",
                              qs_show(text).text);
        b->exit_codes[b->exit_count++] = (int32_t)code;
        qs_schema_leave(r, mark);
    }
}

void qs_job_read_exit(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    static const char *const words[] = {"zero", "any"};
    (void)key;
    struct qs_job_benchmark *b = at;
    if (node->kind == QS_NODE_LIST) {
        read_exit_codes(r, node, b);
        return;
    }
    const char *text = qs_schema_text(r, node, "zero, any, or a list of exit codes");
    if (text == NULL || strcmp(text, "zero") == 0 || strcmp(text, "0") == 0)
        return;
    if (strcmp(text, "any") == 0) {
        b->exit_rule = QS_EXIT_ANY;
        return;
    }
    QS_BUF(out);
    qs_schema_suggest(&out, text, "write a list such as [0, 1], or", words, 2);
    qs_schema_problem(r, node, out.data, "`%s` is not an exit rule", qs_show(text).text);
}

/* Below the run's directory: relative, and no step out of it. */
static bool is_inside(const char *name)
{
    if (name[0] == '\0' || name[0] == '/' || strlen(name) > QS_PATH_MAX_BYTES / 2)
        return false;
    for (const char *part = name; part != NULL;) {
        const char *slash = strchr(part, '/');
        size_t n = slash != NULL ? (size_t)(slash - part) : strlen(part);
        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && memcmp(part, "..", 2) == 0))
            return false;
        part = slash != NULL ? slash + 1 : NULL;
    }
    return true;
}

static void add_file(struct qs_schema_reader *r, const struct qs_node *at, const char *name, const char *path,
                     bool executable, struct qs_job_file *files, size_t *count)
{
    if (path[0] == '\0' || strlen(path) > QS_PATH_MAX_BYTES)
        qs_schema_problem(r, at, NULL, "a path has 1 to %d bytes", QS_PATH_MAX_BYTES);
    if (!is_inside(name))
        qs_schema_problem(
            r, at, "write a map of name to path: {data/in.bin: ../in.bin}",
            "`%s` is not a name below the run's directory (relative, without `.`, `..` or empty parts)",
            qs_show(name).text);
    for (size_t i = 0; i < *count; i++)
        if (strcmp(files[i].name, name) == 0)
            qs_schema_problem(r, at, "give each its own name: a map of name to path",
                              "two files have the name `%s`", qs_show(name).text);
    files[*count] =
        (struct qs_job_file){.name = qs_strdup(name), .path = qs_strdup(path), .executable = executable};
    ++*count;
}

static bool check_files(struct qs_schema_reader *r, const struct qs_node *node)
{
    if (node->kind != QS_NODE_LIST && !qs_schema_is(r, node, QS_NODE_MAP, "a map of name to path"))
        return false;
    if (node->count > FILES_MAX)
        qs_schema_problem(r, node, "send an archive and unpack it in `setup`",
                          "%zu files are too many (at most %d)", node->count, FILES_MAX);
    return node->count <= FILES_MAX;
}

/* A relative path keeps its name, an absolute one its last part. */
static const char *name_of(const char *path)
{
    if (path[0] != '/')
        return strncmp(path, "./", 2) == 0 ? path + 2 : path;
    return strrchr(path, '/') + 1;
}

static void read_files(struct qs_schema_reader *r, const struct qs_node *node, bool executable,
                       struct qs_job_file **ret, size_t *count)
{
    *ret = qs_calloc(node->count, sizeof(**ret));
    for (size_t i = 0; i < node->count; i++) {
        bool named = node->kind == QS_NODE_MAP;
        size_t mark = named ? qs_schema_enter(r, node->keys[i].text) : qs_schema_enter_index(r, i);
        const char *path = qs_schema_text(r, &node->items[i], "a path");
        if (path != NULL)
            add_file(r, named ? &node->keys[i] : &node->items[i], named ? node->keys[i].text : name_of(path),
                     path, executable, *ret, count);
        qs_schema_leave(r, mark);
    }
}

void qs_job_read_inputs(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at)
{
    (void)key;
    struct qs_job_benchmark *b = at;
    if (check_files(r, node))
        read_files(r, node, false, &b->inputs, &b->input_count);
}

void qs_job_read_files(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at)
{
    (void)key;
    struct qs_job_arm *arm = at;
    if (qs_schema_is(r, node, QS_NODE_MAP, "a map of name to path") && check_files(r, node))
        read_files(r, node, true, &arm->files, &arm->file_count);
}
