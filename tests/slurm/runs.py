"""Snakemake on the tests' SLURM."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pandas as pd
from checkouts import Checkout
from cluster import HERE, Job, awaited, jobs, last_number, told, working_in

from whobenefits.store import stored_records
from whobenefits.tables import ANSWERS, read_table

# Beside the profile: there is no accounting here, and a small machine carries three jobs at once.
OPTIONS = (
    *("--profile", "slurm", "--configfile", "test.yaml"),
    *("--slurm-status-command", "squeue", "--max-status-checks-per-second", "10"),
    *("--jobs", "3", "--max-threads", "1"),
)
SHARDS = "geography/title/tiny/shards"
EARLY = 3  # answers in the store when something is killed


class Head:
    """Snakemake where a user starts it."""

    def __init__(self, checkout: Checkout, *options: str) -> None:
        checkout.write_config()
        self.checkout = checkout
        self.output = checkout.folder / "head.txt"
        command = [sys.executable, str(HERE / "head.py"), *OPTIONS, *options]
        with self.output.open("w") as output:
            self.process = subprocess.Popen(command, cwd=checkout.folder, stdout=output, stderr=subprocess.STDOUT)

    def end(self, ok: bool = True) -> None:
        """Wait until it has ended, well or badly."""
        awaited("the end of Snakemake", lambda: self.process.poll() is not None)
        fits = (self.process.returncode == 0) == ok
        assert fits, "\n".join([self.output.read_text(), self.checkout.logs(), *map(str, jobs())])

    def kill(self) -> None:
        """End it without a chance to do anything."""
        self.process.kill()
        self.process.wait()


class Heads:
    """All Snakemakes of a test, so that none of them outlives it."""

    def __init__(self) -> None:
        self.started: list[Head] = []

    def __call__(self, checkout: Checkout, *options: str) -> Head:
        """Start one."""
        self.started.append(Head(checkout, *options))
        return self.started[-1]

    def clear(self) -> None:
        """Kill what still runs, and wait until SLURM's queue is empty."""
        for head in self.started:
            head.kill()
        told("scancel", "--user=root")
        awaited("an empty queue", lambda: not told("squeue", "--noheader"))
        for head in self.started:
            for process in working_in(head.checkout.folder):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)


class Generation:
    """Generation by one job on SLURM, in a copy of a run whose answers are taken away."""

    def __init__(self, run: Checkout, folder: Path, heads: Heads) -> None:
        shutil.copytree(run.folder, folder, symlinks=True)
        self.heads, self.checkout, self.expected = heads, Checkout(folder, run.config), answers_table(run)
        take_answers(self.checkout)
        self.before = last_number()

    def start(self, *options: str) -> Head:
        """Start Snakemake."""
        return self.heads(self.checkout, "--until", "generate", *options)

    def jobs(self) -> list[Job]:
        """The jobs so far, the oldest first."""
        return jobs(self.before)

    def segments(self) -> list[Path]:
        """The files of the store, the oldest first: each job that generates writes one."""
        return sorted(self.checkout.results.glob("store/answers/tiny/*.jsonl"), key=lambda path: path.stat().st_ctime)

    def counts(self) -> list[int]:
        """How many answers each file of the store holds."""
        return [segment.read_bytes().count(b"\n") for segment in self.segments()]

    def in_the_middle(self, segments: int = 1) -> Job:
        """The job that generates, when so many jobs have written to the store and the last has a few answers."""
        awaited("a job's first answers", lambda: len(self.counts()) == segments and self.counts()[-1] >= EARLY)
        return self.jobs()[-1]

    def kept(self) -> int:
        """How many answers the last job found, having checked that it generated the others, and none twice."""
        *before, new = self.counts()
        known, log = sum(before), (self.checkout.results / "logs/generate/geography/title/tiny/1-of-1.log").read_text()
        assert f"{known + new} prompts: {known} in the store, {new} to generate" in log
        assert known >= EARLY and new > 0 and known + new == len(stored_records(self.segments()[0].parent))
        return known

    def is_as_expected(self) -> bool:
        """Whether the answers are those of a run that nothing happened to."""
        return answers_table(self.checkout).equals(self.expected)


def answers_table(run: Checkout) -> pd.DataFrame:
    """The answers of the only shard."""
    return read_table(ANSWERS, run.results / SHARDS / "1-of-1.parquet")


def take_answers(run: Checkout) -> None:
    """Remove all answers, and the store of them."""
    shutil.rmtree(run.results / SHARDS)
    shutil.rmtree(run.results / "store")
