"""The demo with jobs that share the cores of one machine, against jobs that take all of them in turn.

    .venv/bin/python benchmarks/side_by_side.py

Two whole runs into empty folders, the models and data fetched before. Prints Markdown.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
STAGES = ("build_index", "encode_corpus", "retrieve", "generate")


def seconds(snakemake: Path, *options: str) -> float:
    """Wall time of a run of the demo into an empty folder; a run that fails raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        command = [snakemake, "--cores", "all", "--nolock", "--quiet", "all", "--config", f"results={folder}", *options]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    snakemake, cores = Path(sys.executable).with_name("snakemake"), len(os.sched_getaffinity(0))
    subprocess.run([snakemake, "--cores", "all", "--quiet", "all", "--until", "fetch_asset"], cwd=ROOT, check=True)
    shared = seconds(snakemake)
    in_turn = seconds(snakemake, "--set-threads", *(f"{stage}={cores}" for stage in STAGES))
    print(f"\n| {cores} cores | seconds |\n|---|---|")
    print(f"| in turn | {in_turn:.0f} |\n| side by side | {shared:.0f} |\n| ratio | {in_turn / shared:.2f}× |")


if __name__ == "__main__":
    main()
