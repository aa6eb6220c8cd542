# SPDX-License-Identifier: GPL-3.0-or-later
"""The fuzz harness: `python -m tests.fuzz [--seconds N] [--samples DIR] [--reader NAME] [--seed N] [--plain] [FILE…]`.

Every reader is fed damaged files. A reader returns a model that is written back to the very bytes, or raises a
`UserError` whose text is one sentence, and needs no more than 64 MiB and 20 times the file. Anything else is a finding:
it is printed, and its input saved below build/fuzz. With FILE, those inputs are tried once each.

Where atheris is installed its coverage-guided engine finds the inputs, each reader in a process of its own; elsewhere,
or with --plain, sound files are mutated at random from a seed that is printed.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tools import addon_alias

addon_alias.install(addon_alias.load_root_package)

if TYPE_CHECKING:
    from tests.fuzz.readers import Reader

ROOT = Path(__file__).resolve().parent.parent.parent
FINDINGS = ROOT / "build" / "fuzz"
SLOW = 5.0  # seconds for one small input: certainly a loop sized by the input's numbers


def attempt(reader: Reader, data: bytes) -> bool:
    """Try one input; True when it breaks no promise. A finding is printed and kept."""
    from tests.fuzz.promise import broken_promise

    start = time.perf_counter()
    try:
        trouble = broken_promise(reader, data)
    except Exception:  # noqa: BLE001  (whatever escapes a reader is what is looked for)
        trouble = traceback.format_exc()
    if not trouble and time.perf_counter() - start > SLOW:
        trouble = f"took {time.perf_counter() - start:.1f} s"
    if trouble:
        report(reader, data, trouble)
    return not trouble


def report(reader: Reader, data: bytes, trouble: str) -> None:
    """Print a finding and save its input."""
    import hashlib

    FINDINGS.mkdir(parents=True, exist_ok=True)
    path = FINDINGS / f"{reader.name}-{hashlib.blake2b(data, digest_size=6).hexdigest()}"
    path.write_bytes(data)
    print(f"FINDING {reader.name}, {len(data)} bytes, saved as {path}\n{trouble}\n", flush=True)


def plain(readers: list[Reader], seconds: float, seed: int) -> int:
    """Mutate sound files at random, the readers by turns; the number of findings."""
    from tests.fuzz.mutate import mutated

    rng = np.random.default_rng(seed)
    end = time.monotonic() + seconds
    counts = dict.fromkeys((reader.name for reader in readers), 0)
    findings = 0
    while time.monotonic() < end:
        for reader in readers:
            for _ in range(20):
                seeds = reader.seeds
                data = mutated(rng, seeds[int(rng.integers(len(seeds)))], seeds)
                counts[reader.name] += 1
                findings += not attempt(reader, data)
        if findings >= 20:
            print("20 findings are enough", flush=True)
            break
    for name, count in counts.items():
        print(f"{name}: {count} inputs")
    return findings


def guided(reader: Reader, seconds: float, seed: int) -> int:
    """Let atheris search inputs for one reader; does not return before its time is over."""
    import atheris

    corpus = FINDINGS / "corpus" / reader.name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(reader.seeds):
        (corpus / f"seed-{number}").write_bytes(data)
    findings = 0

    def one(data: bytes) -> None:
        nonlocal findings
        if not attempt(reader, data):
            findings += 1
            if findings >= 5:
                raise SystemExit(1)

    arguments = [
        f"-max_total_time={int(seconds)}",
        f"-seed={seed}",
        "-rss_limit_mb=2048",
        "-verbosity=0",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *arguments, f"-artifact_prefix={FINDINGS}/{reader.name}-", str(corpus)], one)
    atheris.Fuzz()
    return findings


def guided_all(readers: list[Reader], options: argparse.Namespace) -> int:
    """One process per reader, as libFuzzer ends the process it runs in; the number of those with findings."""
    bad = 0
    for reader in readers:
        words = ["--reader", reader.name, "--seconds", str(options.seconds / len(readers)), "--seed", str(options.seed)]
        if options.samples:
            words += ["--samples", str(options.samples)]
        print(f"== {reader.name}", flush=True)
        code = subprocess.run([sys.executable, "-m", "tests.fuzz", *words, "--here"], check=False, cwd=ROOT).returncode
        bad += code != 0
    return bad


def main(arguments: list[str]) -> int:
    """Run, and return 1 when there is a finding."""
    parser = argparse.ArgumentParser(prog="dev.py fuzz", description="Feed damaged files to every reader.")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long in all (60)")
    parser.add_argument("--samples", type=Path, metavar="DIR", help="real files to start from as well")
    parser.add_argument("--reader", metavar="NAME", help="only this reader")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (1)")
    parser.add_argument("--plain", action="store_true", help="random mutation even where atheris is installed")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("inputs", nargs="*", type=Path, metavar="FILE", help="try these inputs instead")
    options = parser.parse_args(arguments)
    use_atheris = importlib.util.find_spec("atheris") is not None and not options.plain
    if options.here:
        import atheris

        with atheris.instrument_imports(include=["io_carnivores_dragonnest"]):
            from tests.fuzz.readers import readers
    else:
        from tests.fuzz.readers import readers

    found = [entry for entry in readers(options.samples) if options.reader in (None, entry.name)]
    if not found:
        parser.error(f"there is no reader {options.reader!r}")
    if options.inputs:
        findings = sum(not attempt(entry, path.read_bytes()) for path in options.inputs for entry in found)
        return int(findings > 0)
    if options.here:
        return int(guided(found[0], options.seconds, options.seed) > 0)
    print(
        f"engine {'atheris' if use_atheris else 'random mutation'}, seed {options.seed}, {options.seconds:g} s",
        flush=True,
    )
    findings = guided_all(found, options) if use_atheris else plain(found, options.seconds, options.seed)
    print("no findings" if not findings else f"FINDINGS, see {FINDINGS}")
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
