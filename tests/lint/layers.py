#!/usr/bin/env python3
"""Who may include and link whom. The table is the one that daemon/README.md shows to people.

- A folder of daemon/ includes itself, proto/ and what its row allows; an allowed folder stands in an earlier row.
- proto/ and agent/core/ see libc's portable part only; the rest of agent/ (the ports) the OS as well; agent/ sees proto/.
- A foreign header or library is named in the folder's row, and every row names its own.
- libusb is daemon/link/usb/'s alone; Mbed TLS is in a folder of its own on each side.
- daemon/link/sim.c alone includes the agent's core.
- Every library that a meson.build asks for has its Debian package in ./dev.
"""
import re

from lintlib import is_c, line_of, run, without_comments

ISO = set("assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg "
          "stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings tgmath threads time uchar wchar "
          "wctype sys/types".split())
OS = set("aio arpa/inet byteswap cpio dirent dlfcn elf endian err fcntl features fnmatch ftw getopt glob grp ifaddrs "
         "langinfo libgen link malloc mntent netdb net/if netinet/in netinet/tcp paths poll pthread pty pwd regex sched "
         "search semaphore spawn stdio_ext syslog termios ucontext unistd utime utmpx wordexp".split())
FOREIGN = {"uv.h": "libuv", "yaml.h": "libyaml", "jansson.h": "jansson", "sqlite3.h": "sqlite3", "microhttpd.h":
           "libmicrohttpd", "libusb.h": "libusb", "libusb-1.0/libusb.h": "libusb", "curl/curl.h": "libcurl"}
# Names in meson and in the table.
MESON = {"libuv": "libuv", "yaml-0.1": "libyaml", "jansson": "jansson", "sqlite3": "sqlite3", "libusb-1.0": "libusb",
         "libmicrohttpd": "libmicrohttpd", "libcurl": "libcurl", "mbedtls": "mbedtls",
         "mbedcrypto": "mbedtls", "m": "libm"}
WITHOUT_PC = {"libmbedtls-dev": {"mbedtls", "mbedcrypto"}}  # packages that pkg-config does not know, and what meson calls their libraries
LIBC = {"threads", "dl", "rt"}  # what meson calls libraries and glibc holds itself
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
# Where the rest of the layer may not see a library. The agent has no row in the table: it may have what has a folder of its own there.
FOLDERS_OF = {"libusb": ("daemon/link/usb/",), "mbedtls": ("daemon/link/tls/", "agent/linux/tls/")}
OF_AGENT = {library for library, folders in FOLDERS_OF.items() if any(folder.startswith("agent/") for folder in folders)}
SIM, AGENT_CORE = "daemon/link/sim.c", ("agent/core/", "agent/sim/port.h")


def read_table(readme):
    """folder -> (folders it may include, libraries), from the table of daemon/README.md; and what is wrong with it."""
    table, problems = {}, []
    rows = re.findall(r"^\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|[^|\n]*\|\s*$", readme, re.M)
    for folder, may, libraries in ([cell.strip() for cell in row] for row in rows):
        if folder == "folder" or set(folder) <= set("-: "):
            continue
        above = list(table)
        allowed = above if may == "all above" else [] if may == "-" else [w.strip() for w in may.split(",")]
        problems += [f"daemon/README.md: {folder} may include {a}, which is no row above it"
                     for a in allowed if a not in above]
        table[folder] = (set(allowed), set() if libraries == "-" else {w.strip() for w in libraries.split(",")})
    return table, problems if table else ["daemon/README.md: holds no layer table"]


def seen_by(layer, table):
    """The folders and the libraries that it may have."""
    return (set(), OF_AGENT) if layer == "agent" else table.get(layer, (set(), set()))


def kind_of(header):
    stem = header[:-2] if header.endswith(".h") else header
    if stem in ISO:
        return "iso"
    if stem in OS or stem.startswith(("sys/", "linux/", "asm/", "gnu/")):
        return "os"
    return "mbedtls" if header.startswith("mbedtls/") else FOREIGN.get(header, "unknown")


def resolve(tree, path, name):
    """The path of a header written in quotes, `generated` where a meson.build makes it, None where there is none."""
    tops = ["", "daemon/"] + (["agent/", "agent/include/"] if path.startswith("agent/") or path == SIM else [])
    for top in tops:
        if top + name in tree:
            return top + name
    makers = (text for p, text in tree.items() if p.endswith("meson.build"))
    return "generated" if any(name.rsplit("/", 1)[-1] in text for text in makers) else None


def check_system(path, layer, header, libraries):
    kind = kind_of(header)
    if kind == "unknown":
        return f"<{header}> is neither libc nor a library of the table"
    if kind == "os" and (layer == "proto" or path.startswith("agent/core/") or layer == "stats"):
        return f"<{header}> belongs to an operating system; {path.rsplit('/', 1)[0]}/ is portable C"
    if not path.startswith(FOLDERS_OF.get(kind, "")):
        return f"<{header}>: {kind} is for {' and '.join(FOLDERS_OF[kind])} alone"
    if kind not in ("iso", "os") and layer != "main" and kind not in libraries:
        return f"<{header}>: {kind} is not a library of {layer}/"
    return None


def check_project(tree, path, layer, name, allowed):
    target = resolve(tree, path, name)
    if target is None:
        return f'"{name}" is no file below the top, daemon/ or agent/: write includes from there'
    if target == "generated":
        return None
    parts = target.split("/")
    if parts[0] == "proto":
        return None
    if parts[0] == "agent":
        if layer == "agent" or path == SIM and target.startswith(AGENT_CORE):
            return None
        return f'"{name}": only {SIM} may include the agent, and of it core/ and sim/port.h only'
    if parts[0] == "daemon" and len(parts) > 2 and (layer == "main" or parts[1] in allowed or parts[1] == layer):
        return None
    return f'"{name}": {layer}/ must not include {"/".join(parts[:-1])}/'


def check_includes(tree, table):
    problems = []
    for path, text in sorted(tree.items()):
        parts = path.split("/")
        if not is_c(path) or parts[0] not in ("proto", "agent", "daemon"):
            continue
        layer = parts[0] if parts[0] != "daemon" else parts[1] if len(parts) > 2 else "main"
        if layer == "main" and path.endswith(".h"):
            problems.append(f"{path}: no header stands in daemon/ itself")
        if parts[0] == "daemon" and layer not in table and layer != "main":
            problems.append(f"{path}: daemon/{layer}/ has no row in daemon/README.md")
            continue
        allowed, libraries = seen_by(layer, table)
        code = without_comments(text)
        for match in INCLUDE.finditer(code):
            if match[1] == "<":
                wrong = check_system(path, layer, match[2], libraries)
            else:
                wrong = check_project(tree, path, layer, match[2], allowed)
            if wrong:
                problems.append(f"{path}:{line_of(code, match.start())}: {wrong}")
    return problems


def meson_code(text):
    return re.sub(r"#[^\n]*", "", text)


def check_links(tree, table):
    """The libraries that a folder's meson.build asks for, also through a variable of another folder."""
    problems, owners = [], {}
    builds = {path: meson_code(text) for path, text in tree.items()
              if path.endswith("meson.build") and path.split("/")[0] in ("proto", "agent", "daemon")}
    asked = r"(\w+)\s*=\s*(?:dependency|cc\.find_library)\(\s*'([^']+)'"
    for text in builds.values():
        owners.update({variable: library for variable, library in re.findall(asked, text)})
    for path, text in sorted(builds.items()):
        parts = path.split("/")
        layer = parts[0] if parts[0] != "daemon" else parts[1] if len(parts) > 2 else "main"
        allowed, libraries = seen_by(layer, table)
        used = set(re.findall(r"(?:dependency|find_library)\(\s*'([^']+)'", text))
        used |= {owners[word] for word in re.findall(r"\b\w+\b", re.sub(r"'[^']*'", "", text)) if word in owners}
        if layer == "main":
            continue
        problems += [f"{path}: links {MESON.get(u, u)}, which is not a library of {layer}/"
                     for u in sorted(used) if MESON.get(u, u) not in libraries | LIBC]
        problems += [f"{path}: links daemon/{dep}/, which {layer}/ must not see"
                     for dep in sorted(set(re.findall(r"\bqs_(\w+?)_(?:dep|lib)\b", text)))
                     if dep in table and dep != layer and dep not in allowed]
    return problems


def check_packages(tree):
    """A library that meson asks for must be one that ./dev installs."""
    if "dev" not in tree:
        return ["dev: is missing"]
    known = set(re.findall(r"\bpkg:([\w.+-]+)", tree["dev"])) | LIBC | {"m"}
    known |= {name for package, names in WITHOUT_PC.items() if f"dpkg:{package}" in tree["dev"] for name in names}
    return [f"{path}: {name} has no row in the package table of ./dev"
            for path, text in sorted(tree.items()) if path.endswith("meson.build")
            for name in re.findall(r"(?:dependency|find_library)\(\s*'([^']+)'", meson_code(text)) if name not in known]


def check(tree):
    table, problems = read_table(tree.get("daemon/README.md", ""))
    return problems + check_includes(tree, table) + check_links(tree, table) + check_packages(tree)


README = """| folder | may include | foreign library | job |
|---|---|---|---|
| base | - | libuv | x |
| stats | - | libm | x |
| store | base | sqlite3 | x |
| link | base | libusb, mbedtls | x |
| device | all above | - | x |
"""


def sample(files):
    tree = {"daemon/README.md": README, "dev": "pkg:libuv pkg:sqlite3 pkg:jansson"}
    for path in ("daemon/base/err.h", "daemon/store/store.h", "daemon/link/link.h", "daemon/device/session/session.h",
                 "proto/msg.h", "agent/core/agent.h", "agent/port.h"):
        tree[path] = ""
    return {**tree, **files}


BAD = [
    ("a look upwards", sample({"daemon/store/a.c": '#include "device/session/session.h"\n'}), "store/ must not include"),
    ("a look sideways", sample({"daemon/link/a.c": '\n#include "store/store.h"\n'}), "a.c:2: \"store/store.h\": link/"),
    ("a look through a path of its own", sample({"daemon/base/a.c": '#include "../store/store.h"\n'}), "is no file"),
    ("a foreign library in another folder", sample({"daemon/link/a.c": "#include <sqlite3.h>\n"}), "not a library of link"),
    ("libusb beside its folder", sample({"daemon/link/a.c": "#include <libusb.h>\n"}), "is for daemon/link/usb/ alone"),
    ("Mbed TLS beside its folder", sample({"daemon/link/a.c": "#include <mbedtls/ssl.h>\n"}), "daemon/link/tls/ and agent/linux/tls/ alone"),
    ("Mbed TLS in the agent's core", sample({"agent/core/a.c": "#include <mbedtls/ssl.h>\n"}), "alone"),
    ("Mbed TLS linked elsewhere", sample({"daemon/store/meson.build": "x = cc.find_library('mbedcrypto')\n", "dev": "dpkg:libmbedtls-dev"}), "links mbedtls"),
    ("Mbed TLS without its package", sample({"tests/meson.build": "x = cc.find_library('mbedtls')\n"}), "mbedtls has no row"),
    ("an unknown library", sample({"daemon/link/a.c": "#include <zlib.h>\n"}), "neither libc nor"),
    ("the OS in proto", sample({"proto/a.c": "#include <unistd.h>\n"}), "portable C"),
    ("the OS in the agent's core", sample({"agent/core/a.c": "#include <sys/wait.h>\n"}), "portable C"),
    ("input and output in stats", sample({"daemon/stats/a.c": "#include <fcntl.h>\n"}), "portable C"),
    ("the daemon in the agent", sample({"agent/a.c": '#include "daemon/base/err.h"\n'}), "must not include daemon/base"),
    ("the daemon in proto", sample({"proto/a.c": '#include "base/err.h"\n'}), "must not include daemon/base"),
    ("a library in the agent", sample({"agent/a.c": "#include <uv.h>\n"}), "not a library of agent"),
    ("the agent in the daemon", sample({"daemon/device/a.c": '#include "agent/core/agent.h"\n'}), "only daemon/link/sim.c"),
    ("more than core in link/sim.c", sample({SIM: '#include "port.h"\n'}), "only daemon/link/sim.c"),
    ("a folder without a row", sample({"daemon/extra/a.c": ""}), "no row"),
    ("a header in daemon/ itself", sample({"daemon/all.h": ""}), "no header stands"),
    ("a table that points down", sample({"daemon/README.md": README.replace("| base | - |", "| base | store |")}),
     "no row above"),
    ("a missing table", sample({"daemon/README.md": "# daemon\n"}), "no layer table"),
    ("a library linked elsewhere", sample({"daemon/link/meson.build": "x = dependency('sqlite3')\n"}), "links sqlite3"),
    ("a library linked through another's variable",
     sample({"daemon/base/meson.build": "libuv = dependency('libuv')\n", "daemon/link/meson.build": "f(libuv)\n"}),
     "link/meson.build: links libuv"),
    ("a folder linked upwards", sample({"daemon/store/meson.build": "x(qs_device_dep)\n"}), "links daemon/device/"),
    ("a library without a package", sample({"tests/meson.build": "z = dependency('zlib')\n"}), "zlib has no row"),
]
GOOD = [
    ("the straight way down", sample({
        "daemon/device/a.c": '#include <unistd.h>\n#include "device/session/session.h"\n#include "link/link.h"\n#include "proto/msg.h"\n',
        "daemon/store/a.c": "#include <sqlite3.h>\n// #include <uv.h>\n", SIM: '#include "core/agent.h"\n',
        "agent/linux/io.c": '#include <sys/wait.h>\n#include "core/agent.h"\n', "proto/a.c": "#include <string.h>\n",
        "daemon/link/usb/a.c": "#include <libusb.h>\n",
        "daemon/main.c": '#include "device/session/session.h"\n', "daemon/base/meson.build": "libuv = dependency('libuv')\nt = dependency('threads')\n"})),
    ("Mbed TLS in its folders", sample({"daemon/link/tls/a.c": "#include <mbedtls/ssl.h>\n", "agent/linux/tls/a.c": "#include <mbedtls/ssl.h>\n",
                                        "agent/meson.build": "x = cc.find_library('mbedtls')\n", "dev": "dpkg:libmbedtls-dev"})),
    ("a header that the build makes", sample({
        "daemon/store/a.c": '#include "schema_sql.h"\n', "schema/meson.build": "custom_target(output: 'schema_sql.h')\n"})),
]

if __name__ == "__main__":
    run("layers hold, one foreign library per folder", check, BAD, GOOD)
