"""Fuzzes the native engine against the generated code: ``make fuzz``; needs clang with its run-time libraries.

libFuzzer makes up inputs, guided by the parts of the engine that they reach, and the sanitizers watch the engine. What
it finds is written to build/fuzz. On Debian: ``apt-get install clang libclang-rt-14-dev``.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from tests.made.example_messages import extreme_instances, random_instance

from kafkawire.protocol import MESSAGE_NAMES, message_class

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "fuzz"
LONGEST = 400
"""Bytes of an input; larger ones reach nothing more, and are slow."""


def write_seeds(folder: Path) -> None:
    """Messages of all versions, as the first inputs."""
    chance = random.Random(18)
    versions = [(cls, version) for cls in map(message_class, MESSAGE_NAMES) for version in cls.VERSIONS]
    for number, (cls, version) in enumerate(versions):
        layout = cls.layouts().of_version(version)
        for name, message in (
            *extreme_instances(cls, layout).items(),
            ("random", random_instance(chance, cls, layout)),
        ):
            try:
                octets = message.encode(version)
            except ValueError:  # a default that the version cannot carry
                continue
            if len(octets) < LONGEST:
                (folder / f"{cls.NAME}-{version}-{name}").write_bytes(number.to_bytes(2) + octets)


def compile_fuzzer(target: Path) -> None:
    """An interpreter with the engine and libFuzzer in it."""
    library = f"-lpython{sysconfig.get_config_var('LDVERSION')}"
    libraries = sysconfig.get_config_var("LIBDIR")
    sources = [str(ROOT / "tests" / "native" / "fuzz_target.c"), *map(str, sorted((ROOT / "native").glob("*.c")))]
    # A method of a type has another signature than the table of methods says (-fsanitize=function).
    checks = ["-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all", "-fno-sanitize=function"]
    include = f"-I{sysconfig.get_path('include')}"
    linked = [f"-L{libraries}", library, f"-Wl,-rpath,{libraries}"]
    subprocess.run(["clang", "-g", "-O1", *checks, include, *sources, *linked, "-o", str(target)], check=True)


def write_kept(fuzzer: Path, corpus: Path, environment: Mapping[str, str]) -> None:
    """Write ``kept.txt``: the fewest inputs that reach all that the corpus reaches. test_fuzzed.py has such a file."""
    fewest = FOLDER / "fewest"
    shutil.rmtree(fewest, ignore_errors=True)
    fewest.mkdir()
    subprocess.run([str(fuzzer), "-merge=1", str(fewest), str(corpus)], cwd=FOLDER, env=environment, check=True)
    versions = [(name, version) for name in MESSAGE_NAMES for version in message_class(name).VERSIONS]
    lines = set()
    for octets in (file.read_bytes() for file in fewest.iterdir()):
        name, version = versions[int.from_bytes(octets[:2]) % len(versions)]
        lines.add(f"{name} {version} {octets[2:].hex()}\n")
    (FOLDER / "kept.txt").write_text("".join(sorted(lines)))


def main() -> int:
    """Fuzz; further words are those of libFuzzer, ``-runs=10000000`` by default. Returns its exit code."""
    corpus = FOLDER / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    write_seeds(corpus)
    fuzzer = FOLDER / "fuzzer"
    compile_fuzzer(fuzzer)
    paths = [ROOT, ROOT / "src", ROOT / "generator", ROOT / "generated", sysconfig.get_path("purelib")]
    environment = {
        **os.environ,
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONHOME": sys.base_prefix,
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
    }
    limits = ["-rss_limit_mb=6000", f"-max_len={LONGEST}", *(sys.argv[1:] or ["-runs=10000000"])]
    ended = subprocess.run([str(fuzzer), *limits, str(corpus)], cwd=FOLDER, env=environment, check=False)
    if ended.returncode == 0:
        write_kept(fuzzer, corpus, environment)
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
