"""One program linked many times, with its functions and data in another order each time, as Kalibera, Bulej and Tuma's compiler did by
chance (section 4.2): the same objects, whose sections get random numbers as names, and a linker that sorts them."""
import os
import random
import re
import subprocess

SECTION = re.compile(r"^\s*\d+ (\.(text|rodata|data|bss)\.(\S+))", re.M)


def compiled(sources, folder, includes):
    """Objects with a section for each function and variable."""
    objects = []
    for source in sources:
        objects.append(os.path.join(folder, os.path.basename(source) + ".o"))
        subprocess.run(["cc", "-O2", "-ffunction-sections", "-fdata-sections", "-D_GNU_SOURCE", *(f"-I{i}" for i in includes), "-c", source,
                        "-o", objects[-1]], check=True)
    return objects


def sections_of(path):
    out = subprocess.run(["objdump", "-h", "-w", path], capture_output=True, text=True, check=True).stdout
    return [(match[1], match[2]) for match in SECTION.finditer(out)]


def linked(objects, out, seed):
    """A program in an order that `seed` draws; `.text.sorted.` is where ld itself sorts functions by name."""
    rng, renamed = random.Random(f"relink {seed}"), []
    for i, path in enumerate(rng.sample(objects, len(objects))):
        sections = sections_of(path)
        numbers = rng.sample(range(10000), len(sections))
        names = {"text": ".text.sorted.{0:04d}", "rodata": ".rodata.{0:04d}", "data": ".data.{0:04d}", "bss": ".bss.{0:04d}"}
        options = [f"--rename-section={name}={names[kind].format(number)}" for (name, kind), number in zip(sections, numbers)]
        renamed.append(f"{out}.{i}.o")
        subprocess.run(["objcopy", *options, path, renamed[-1]], check=True)
    subprocess.run(["cc", "-Wl,--sort-section=name", "-o", out, *renamed, "-lm"], check=True)
    for path in renamed:
        os.unlink(path)
    return out
