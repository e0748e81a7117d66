#include "link/agents.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { ELF_CLASS_AT = 4, ELF_DATA_AT = 5, ELF_MACHINE_AT = 18 };

/* The numbers are those of elf.h: ELFCLASS*, EM_*. */
static const struct qs_arch archs[] = {
    {"arm64",
     {"arm64-v8a", "aarch64", "arm64"},
     "-arm64",
     "aarch64-linux-gnu-gcc -static, or the NDK",
     2,
     183,
     "armhf"},
    {"armhf",
     {"armeabi-v7a", "armv7l", "armv8l", "armhf"},
     "-armhf",
     "arm-linux-gnueabihf-gcc -static, or the NDK",
     1,
     40,
     NULL},
    {"riscv64", {"riscv64"}, "-riscv64", "riscv64-linux-gnu-gcc -static", 2, 243, NULL},
    {"x86-64", {"x86_64", "amd64", "x86-64"}, "", "x86_64-linux-gnu-gcc -static", 2, 62, "x86"},
    {"x86", {"x86", "i686", "i386"}, NULL, "gcc -m32 -static", 1, 3, NULL},
};

enum { ARCHS = sizeof archs / sizeof *archs };

const struct qs_arch *qs_agents_arch(const char *abi)
{
    for (size_t i = 0; i < ARCHS; i++) {
        for (size_t k = 0; k < sizeof archs[i].abi / sizeof *archs[i].abi && archs[i].abi[k]; k++) {
            if (strcmp(archs[i].abi[k], abi) == 0)
                return &archs[i];
        }
    }
    return NULL;
}

bool qs_agents_find(const char *folder, const char *abi, struct qs_buf *ret_path, struct qs_err *err)
{
    const struct qs_arch *arch = qs_agents_arch(abi);
    QS_BUF(shown);
    QS_BUF(path);
    qs_text_escape(&shown, abi, strlen(abi));
    if (!arch || !arch->agent)
        return qs_fail(
            err, QS_E_CONFIG,
            "there is no agent for the ABI `%.40s`: those for arm64, armhf, riscv64 and x86-64 are known",
            shown.data);
    bool named = arch->agent[0] != '\0';
    qs_buf_fmt(&path, "%s/quiesce-agent-static%s", folder, arch->agent);
    if (access(path.data, R_OK) != 0)
        return qs_fail(err, QS_E_CONFIG,
                       "the agent for %s is not here (%s): `./dev agent%s%s` builds it, and the farm's key "
                       "`agents` says where it is",
                       arch->name, path.data, named ? " " : "", named ? arch->name : "");
    qs_buf_str(ret_path, path.data);
    return true;
}

bool qs_agents_read(const char *folder, const char *abi, struct qs_buf *ret_bytes,
                    uint8_t ret_sum[QS_SHA256_BYTES], struct qs_err *err)
{
    char chunk[16 * 1024];
    struct qs_sha256 sum;
    size_t bytes = 0;
    QS_BUF(path);
    if (!qs_agents_find(folder, abi, &path, err))
        return false;
    FILE *f = fopen(path.data, "rbe");
    if (!f)
        return qs_fail(err, QS_E_CONFIG, "cannot read the agent %s: %s", path.data, strerror(errno));
    qs_sha256_init(&sum);
    for (size_t n = 1; n > 0 && bytes <= QS_AGENTS_MOST_BYTES; bytes += n) {
        n = fread(chunk, 1, sizeof chunk, f);
        qs_buf_add(ret_bytes, chunk, n);
        qs_sha256_add(&sum, chunk, n);
    }
    bool ok = !ferror(f) && bytes > 0 && bytes <= QS_AGENTS_MOST_BYTES;
    fclose(f);
    qs_sha256_final(&sum, ret_sum);
    return ok ||
           qs_fail(err, QS_E_CONFIG, "%s is no agent: it is empty, larger than %d MiB, or cannot be read",
                   path.data, QS_AGENTS_MOST_BYTES / 1024 / 1024);
}

const char *qs_agents_elf(const uint8_t *head, size_t n)
{
    if (n < QS_ELF_HEAD_BYTES || memcmp(head, "\177ELF", 4) != 0 || head[ELF_DATA_AT] != 1)
        return NULL;
    unsigned machine = head[ELF_MACHINE_AT] | (unsigned)head[ELF_MACHINE_AT + 1] << 8;
    for (size_t i = 0; i < ARCHS; i++) {
        if (archs[i].elf_machine == machine && archs[i].elf_class == head[ELF_CLASS_AT])
            return archs[i].name;
    }
    return NULL;
}

bool qs_agents_runs(const char *abi, const char *architecture)
{
    const struct qs_arch *arch = qs_agents_arch(abi);
    return !arch || strcmp(arch->name, architecture) == 0 ||
           (arch->runs_too && strcmp(arch->runs_too, architecture) == 0);
}
