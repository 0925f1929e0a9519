"""What SLURM and Linux say of jobs and their processes."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

HERE = Path(__file__).parent
LIMIT = 600  # seconds after which what a test waits for is taken not to come
T = TypeVar("T")


def told(*command: str) -> str:
    """What a command prints."""
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def awaited(what: str, question: Callable[[], T]) -> T:
    """The first answer to the question that is not empty."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if answer := question():
            return answer
        time.sleep(0.02)
    raise AssertionError(f"not within {LIMIT} s: {what}")


@dataclass(frozen=True)
class Job:
    """A job as `scontrol show job` has it: its fields by SLURM's names."""

    fields: dict[str, str]

    def __getattr__(self, name: str) -> str:
        return self.fields[name]

    @property
    def number(self) -> int:
        """What SLURM calls the job's id."""
        return int(self.JobId)

    @property
    def name(self) -> str:
        """`rule_NAME` or `group_NAME_RULES`: what it is in the workflow, as the plugin names the folder of its log."""
        return self.StdOut.partition("/slurm_logs/")[2].partition("/")[0]

    @property
    def gpus(self) -> int:
        """The GPUs asked for."""
        return sum(map(int, re.findall(r"gpu:(\d+)", self.fields.get("TresPerJob", ""))))

    @property
    def megabytes(self) -> int:
        """The memory asked for."""
        return int(self.MinMemoryNode.replace("G", "000").rstrip("M"))

    @property
    def minutes(self) -> int:
        """The run time asked for."""
        days, hours, minutes = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):00", self.TimeLimit).groups(default="0")
        return (int(days) * 24 + int(hours)) * 60 + int(minutes)

    def output(self) -> str:
        """What the job printed."""
        return Path(self.StdOut).read_text()


def jobs(after: int = 0) -> list[Job]:
    """The jobs with greater numbers, the oldest first."""
    lines = told("scontrol", "--oneliner", "show", "job").splitlines()
    found = [Job(dict(re.findall(r"(\S+?)=(.*?)(?= \S+?=|$)", line))) for line in lines if line.startswith("JobId")]
    return sorted((job for job in found if job.number > after), key=lambda job: job.number)


def last_number() -> int:
    """The number of the last job, or 0."""
    return max((job.number for job in jobs()), default=0)


def process_of(job: Job, script: str) -> int:
    """The process of a job that runs a script of the workflow."""
    found = [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if _runs(folder, job, script)]
    assert len(found) == 1, (found, script, job)
    return found[0]


def _runs(folder: Path, job: Job, script: str) -> bool:
    try:
        command = (folder / "cmdline").read_bytes().decode().split("\0")
        return command[1].endswith(f".{script}.py") and f"SLURM_JOB_ID={job.JobId}" in environment(int(folder.name))
    except (OSError, IndexError):  # it has ended, or has no argument
        return False


def working_in(folder: Path) -> list[int]:
    """The processes whose working directory is the folder: what a node that was taken down has lost sight of, too."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if (process / "cwd").readlink() == folder:
                found.append(int(process.name))
    return found


def environment(process: int) -> list[str]:
    """The variables that a process was started with."""
    return Path(f"/proc/{process}/environ").read_bytes().decode().split("\0")


def written_files(process: int, folder: Path) -> set[tuple[int, int]]:
    """Device and inode of the files below the folder that a process has open for writing, deleted ones too."""
    found = set()
    for opened in Path(f"/proc/{process}/fd").iterdir():
        flags = re.search(r"flags:\s*(\d+)", Path(f"/proc/{process}/fdinfo/{opened.name}").read_text())
        if int(flags[1], 8) & (os.O_WRONLY | os.O_RDWR) and opened.readlink().is_relative_to(folder):
            found.add((opened.stat().st_dev, opened.stat().st_ino))
    return found


@contextmanager
def held(process: int) -> Iterator[None]:
    """A process stands still meanwhile."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # SLURM may have ended it
            os.kill(process, signal.SIGCONT)


def is_signalled(process: int, number: int) -> bool:
    """Whether a signal waits for a process that stands still, or has ended it."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return True
    return any(int(mask, 16) >> (number - 1) & 1 for mask in re.findall(r"^(?:Sig|Shd)Pnd:\s*(\w+)$", status, re.M))
