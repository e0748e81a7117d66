#include "report/variables.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "proto/auth.h"

static const struct qs_variable_rule rules[] = {
    {QS_ENV_MACHINE, "which programs and libraries are loaded", "PATH LD_*"},
    {QS_ENV_MACHINE, "how memory is allocated",
     "MALLOC_* GLIBC_TUNABLES TCMALLOC_* MIMALLOC_* _RJEM_MALLOC_CONF"},
    {QS_ENV_MACHINE, "how text is compared and converted", "LANG LANGUAGE LC_*"},
    {QS_ENV_MACHINE, "how many threads there are and where they run",
     "OMP_* GOMP_* KMP_* MKL_* OPENBLAS_* BLIS_* TBB_* RAYON_* UV_THREADPOOL_SIZE"},
    {QS_ENV_MACHINE, "what a runtime does",
     "GOMAXPROCS GOGC GOMEMLIMIT GODEBUG JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS PYTHON* "
     "NODE_OPTIONS "
     "PERL5* RUBYOPT DOTNET_* CUDA_* ASAN_OPTIONS LSAN_OPTIONS MSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS"},
    {QS_ENV_RECORDED, "the shell's own books", "_ SHLVL PWD OLDPWD PS1 PS2 PROMPT_COMMAND HIST* LS_COLORS"},
    {QS_ENV_RECORDED, "the terminal and what draws it",
     "TERM TERM_* TERMCAP COLORTERM COLORFGBG COLUMNS LINES WINDOWID WINDOW VTE_VERSION KONSOLE_* KITTY_* "
     "ALACRITTY_* WEZTERM_* ITERM_* GNOME_TERMINAL_* WT_* VSCODE_* TMUX TMUX_* STY ZELLIJ ZELLIJ_*"},
    {QS_ENV_RECORDED, "the screen",
     "DISPLAY WAYLAND_DISPLAY XAUTHORITY DESKTOP_STARTUP_ID XDG_ACTIVATION_TOKEN"},
    {QS_ENV_RECORDED, "the login it was started from",
     "SSH_* SUDO_* MAIL GPG_TTY GPG_AGENT_INFO XDG_SESSION_* XDG_SEAT XDG_SEAT_PATH XDG_VTNR SESSION_MANAGER "
     "DBUS_SESSION_BUS_ADDRESS INVOCATION_ID JOURNAL_STREAM MANAGERPID SYSTEMD_EXEC_PID"},
};

const struct qs_variable_rule *qs_variable_rules(size_t *ret_count)
{
    *ret_count = sizeof rules / sizeof *rules;
    return rules;
}

bool qs_env_match(const char *pattern, size_t n, const char *key)
{
    if (n > 0 && pattern[n - 1] == '*')
        return strncmp(pattern, key, n - 1) == 0;
    return n > 0 && strncmp(pattern, key, n) == 0 && (key[n] == '\0' || key[n] == '.');
}

static bool is_named(const char *names, const char *name)
{
    for (const char *at = names; *at; at += *at == ' ') {
        size_t n = strcspn(at, " ");
        if (qs_env_match(at, n, name))
            return true;
        at += n;
    }
    return false;
}

static bool is_listed(const struct qs_strings *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (qs_env_match(list->at[i], strlen(list->at[i]), name))
            return true;
    return false;
}

enum qs_env_class qs_variable_class(const char *name, const struct qs_farm_variables *of_farm)
{
    if (of_farm && is_listed(&of_farm->refuse, name))
        return QS_ENV_MACHINE;
    if (of_farm && is_listed(&of_farm->note, name))
        return QS_ENV_NOTED;
    if (of_farm && is_listed(&of_farm->ignore, name))
        return QS_ENV_RECORDED;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (is_named(rules[i].names, name))
            return rules[i].class;
    return QS_ENV_NOTED;
}

#define DIGEST "sha256:"
enum { DIGEST_BYTES = 8 };

void qs_variable_keep(const char *name, const char *value, const struct qs_farm_variables *of_farm,
                      struct qs_buf *out)
{
    uint8_t sum[QS_SHA256_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    if (qs_variable_class(name, of_farm) == QS_ENV_MACHINE) {
        qs_buf_str(out, value);
        return;
    }
    qs_sha256(value, strlen(value), sum);
    qs_hex(sum, DIGEST_BYTES, hex);
    qs_buf_fmt(out, DIGEST "%s, %zu bytes", hex, strlen(value));
}

size_t qs_variable_kept_bytes(const char *kept)
{
    size_t bytes = 0, head = strlen(DIGEST) + 2 * DIGEST_BYTES;
    if (strncmp(kept, DIGEST, strlen(DIGEST)) == 0 && strlen(kept) > head &&
        sscanf(kept + head, ", %zu bytes", &bytes) == 1)
        return bytes;
    return strlen(kept);
}
