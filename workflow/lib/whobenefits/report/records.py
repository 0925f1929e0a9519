"""What is on record of a run: counts of prompts and answers, seconds of jobs, versions, commit and machine."""

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from datetime import datetime
from importlib import metadata
from pathlib import Path

import pandas as pd

from whobenefits.manifests import asset_identity, read_manifest

UNKNOWN = "not on record"
PACKAGES = (
    "snakemake", "torch", "transformers", "accelerate", "pyserini", "tokenizers", "safetensors", "numpy", "pandas", "pyarrow",
    "scipy", "rouge-score", "rouge", "nltk", "ir-datasets", "matplotlib",
)  # fmt: skip
_TIME = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3}) ", re.M)
_STORE = re.compile(r"(\d+) prompts: (\d+) in the store, (\d+) to generate")


def log_seconds(text: str) -> float | None:
    """Seconds between the first and the last line of a job's log that has a time; None with fewer than two such lines.

    It is what the log covers, so less than the job took: starting Python and loading libraries come before it.
    """
    times = [datetime.strptime(f"{day}.{part}", "%Y-%m-%d %H:%M:%S.%f") for day, part in _TIME.findall(text)]
    return (times[-1] - times[0]).total_seconds() if len(times) > 1 else None


def store_counts(text: str) -> tuple[int, int] | None:
    """How many prompts a generating job took from the store and how many it generated, by its log; None if not said."""
    found = _STORE.search(text)
    return (int(found[2]), int(found[3])) if found else None


def log_span(logs: str | Path) -> list[str]:
    """The first and the last time that any log names, by the clock of its machine; [] where none names one."""
    days = [day for path in Path(logs).rglob("*.log") for day, _ in _TIME.findall(_text(path))]
    return [min(days), max(days)] if days else []


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def job_seconds(logs: str | Path, stage: str) -> dict[str, float | int | None]:
    """Over the logs of a stage: `jobs`, how many of them say when they worked (`timed`), and their `seconds` in all.

    None where no log has times. Each log is that of the job's last run.
    """
    texts = [_text(path) for path in sorted(Path(logs, stage).rglob("*.log"))]
    known = [seconds for text in texts if (seconds := log_seconds(text)) is not None]
    return {"jobs": len(texts), "timed": len(known), "seconds": round(sum(known), 1) if known else None}


def answer_counts(requests: pd.DataFrame, answers: pd.DataFrame, logs: Iterable[Path]) -> dict[str, int | None]:
    """Of one topic, task and LLM: prompts asked for, distinct ones, generated and taken from the store, and tokens.

    The last two are by the logs of the jobs' last run, and None where a log does not say.
    """
    known = [store_counts(_text(path)) for path in logs]
    told = None if not known or None in known else [sum(column) for column in zip(*known, strict=True)]
    return {
        "asked for": len(requests),
        "distinct prompts": int(requests["request_id"].nunique()),
        "from the store": told[0] if told else None,
        "generated": told[1] if told else None,
        "prompt tokens": int(answers["prompt_tokens"].sum()),
        "new tokens": int(answers["new_tokens"].sum()),
        "shortened prompts": int((answers["cut_tokens"] > 0).sum()),
    }


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that can change a number; those that are not installed are left out."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def commit(folder: str | Path) -> str:
    """The commit of the checkout in the folder, and whether files differ from it."""
    head = _git(folder, "rev-parse", "HEAD")
    if head is None:
        return UNKNOWN
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return head if changed == "" else f"{head}, with changes"


def _git(folder: str | Path, *command: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *command], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def machine() -> dict[str, str]:
    """The machine that this process runs on, without its name or its user."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"system": f"{platform.system()} {platform.machine()}", "processor": _processor(), "cores": str(cores)}


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.M) if info.is_file() else None
    return found[1] if found else platform.processor() or UNKNOWN


def identities(manifests: Iterable[str | Path]) -> dict[str, dict]:
    """Of each fetched asset by name, from its asset.json: its identity (see asset_identity), and bytes and SHA-256 of
    each file.
    """
    folders = [Path(path).parent for path in manifests]
    return {
        folder.name: {"identity": asset_identity(folder), "files": read_manifest(folder)["files"]} for folder in folders
    }
