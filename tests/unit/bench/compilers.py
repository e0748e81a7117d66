"""The compilers and modes under which quiesce/bench.h must work: what is there, and why the rest is not."""
import os
import shutil
import subprocess
import tempfile

WARNINGS = "-Wall -Wextra -Wconversion -Wpedantic -Wshadow -Wvla -Werror".split()
# language, standards, compilers, ways of linking
MATRIX = [("c", ("c99", "c11", "gnu17"), ("gcc", "clang-14", "musl-gcc")),
          ("c++", ("c++11", "c++20"), ("g++", "clang++-14"))]
# gcc-multilib, which leads a 32-bit compiler to the kernel's headers, cannot be installed beside cross compilers.
M32 = ["-m32", "-idirafter", "/usr/include/x86_64-linux-gnu"]
WAYS = [[], ["-static"], M32, [*M32, "-static"]]


def works(compiler, language, flags):
    """Whether this compiler makes a program that runs here, in this mode."""
    with tempfile.TemporaryDirectory() as top:
        out = os.path.join(top, "a")
        made = subprocess.run([compiler, *flags, "-x", language, "-", "-o", out], input="#include <errno.h>\nint main(void) { return 0; }\n",
                              capture_output=True, text=True)
        return made.returncode == 0 and subprocess.run([out], capture_output=True).returncode == 0


def quick_ways(compiler):
    return {"gcc": [[], M32], "musl-gcc": [["-static"]]}.get(compiler, [[]])


def modes(quick):
    """(name, compiler, language, flags, why it cannot run here or None); quick: the oldest standard of each compiler, and 32 bits."""
    for language, standards, compilers in MATRIX:
        standards = standards[:1] if quick else standards
        for compiler in compilers:
            for way in quick_ways(compiler) if quick else WAYS:
                name = " ".join([compiler, *(flag for flag in way if flag in ("-m32", "-static"))])
                if compiler == "musl-gcc" and way != ["-static"]:
                    continue
                if shutil.which(compiler) is None:
                    yield name, compiler, language, [], f"{compiler} is not installed"
                elif not works(compiler, language, way):
                    yield name, compiler, language, [], f"{name} makes no program that runs here (apt: gcc-12-multilib g++-12-multilib)"
                else:
                    for standard in standards if not way else standards[:1]:
                        yield f"{name} -std={standard}", compiler, language, [*way, f"-std={standard}"], None


def build(mode, source, out, include, *more):
    """Compiles one file; the compiler's complaints, or None."""
    _, compiler, language, flags, _ = mode
    made = subprocess.run([compiler, "-x", language, *flags, *WARNINGS, *more, f"-I{include}", source, "-o", out],
                          capture_output=True, text=True)
    return made.stderr.splitlines()[:20] if made.returncode else None
