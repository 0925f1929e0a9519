"""Whole runs in a copy of the checkout, so that a test can edit the code, on small articles and tiny models."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import tiny
import tiny_encoder
import yaml
from transformers import BertModel

ROOT = Path(__file__).parents[1]
PARTS = ("Snakefile", "CITATION.cff", "workflow", "config", "envs", "profiles", "slurm")


@dataclass
class Checkout:
    """A copy of the project with a config of its own."""

    folder: Path
    config: dict

    def run(self, *options: str, ok: bool = True) -> str:
        """What Snakemake prints."""
        self.write_config()
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "test.yaml", *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        assert (done.returncode == 0) == ok, done.stdout + done.stderr + self.logs()
        return done.stdout + done.stderr

    def write_config(self) -> None:
        """Put the config where Snakemake is told to look for it."""
        (self.folder / "test.yaml").write_text(yaml.safe_dump(self.config, sort_keys=False))

    def planned(self) -> Counter:
        """The jobs of a dry run, by rule."""
        _, _, table = self.run("-n").partition("Job stats:")
        rows = re.findall(r"^(\w+) +(\d+)$", table.split("Reasons:")[0], re.M)
        return Counter({name: int(count) for name, count in rows if name != "total"})

    def logs(self) -> str:
        """The logs of all jobs."""
        return "\n".join(f"{p}:\n{p.read_text()}" for p in sorted(self.results.glob("logs/**/*.log")))

    @property
    def results(self) -> Path:
        """Where the results are."""
        return self.folder / self.config["results"]

    def generated(self) -> int:
        """How many records all stores hold."""
        return sum(p.read_text().count("\n") for p in self.results.glob("store/**/*.jsonl"))


def copied(folder: Path, config: dict) -> Checkout:
    """A copy of the project's tracked parts in a new folder."""
    for part in PARTS:
        source = ROOT / part
        ignore = shutil.ignore_patterns("__pycache__")
        if source.is_symlink():
            (folder / part).symlink_to(source.readlink())
        elif source.is_dir():
            shutil.copytree(source, folder / part, ignore=ignore)
        else:
            shutil.copy(source, folder / part)
    return Checkout(folder, config)


ARTICLES = {
    title: {"title": title, "extract": text, "description": "", "topic": topic}
    for title, text, topic in [
        ("Lake Baikal", "Lake Baikal is a deep lake in Russia. It was mapped in 1643 and 1773.", "Geography"),
        (
            "Aral Sea",
            "The Aral Sea was a large lake. It shrank after 1960, and most of it was gone by 1997.",
            "Geography",
        ),
        ("Mount Kenya", "Mount Kenya is the highest mountain in Kenya, first climbed in 1899.", "Geography"),
        (
            "Kenya",
            "Kenya is a country in Africa. Mount Kenya is its highest mountain. It holds a park since 2013.",
            "Geography",
        ),
        ("Russia", "Russia is the largest country in the world by area, and Lake Baikal lies in it.", "Geography"),
        ("Nile", "The Nile is a long river in Africa that flows through Egypt into the sea.", "Geography"),
        ("Egypt", "Egypt is a country in Africa on the Nile. Its dam opened in 1970.", "Geography"),
        ("Victoria", "Victoria is a lake in Africa, in Kenya and its neighbours, named in 1858.", "Geography"),
        (
            "Sahara",
            "The Sahara is a desert in Africa. It has grown since 1920, when it was first measured.",
            "Geography",
        ),
        ("Tea", "Tea is a drink from leaves; it came to Kenya in 1903.", "Everyday life"),
    ]
}


def tiny_config(folder: Path, articles: dict) -> dict:
    """Settings of a small grid on the articles, with tiny models in the folder."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    (data / "articles.json").write_text(json.dumps(articles))
    tiny.tiny_llm(data / "llm")
    tiny_encoder.tiny_bert(data / "encoder", BertModel)
    return {
        "name": "tiny",
        "seed": 1,
        "results": "results",
        "grid": {
            "topics": ["geography"],
            "tasks": ["title"],
            "retrievers": ["bm25", "dense"],
            "llms": ["tiny"],
            "categories": ["age-of-topic", "alphabetical"],
        },
        "dataset": {"source": "vital-articles", "asset": "articles"},
        "topics": {"geography": {"label": "Geography", "select": "Geography"}},
        "queries": {"cells": ["age-of-topic", "alphabetical"], "max_queries": 4},
        "retrieval": {"depth": 3, "context_size": 2},
        "retrievers": {
            "bm25": {"kind": "bm25", "label": "BM25"},
            "dense": {"kind": "dense", "label": "Dense", "model": "encoder", "max_length": 64},
        },
        "llms": {"tiny": {"label": "Tiny", "model": "llm", "dtype": "float32", "context_tokens": 400, "shards": 2}},
        "tasks": {"title": {"beams": 2, "max_new_tokens": 4}},
        "attribution": {"kind": "overlap", "threshold": 0.1},
        "uncertainty": {"draws": 200},
        "assets": {
            "articles": {
                "files": {
                    "summaries_en-us.json": {
                        "address": [f"file:{data}/articles.json"],
                        "sha256": sha256(data / "articles.json"),
                    }
                },
                "licence": "none",
            },
            "llm": {"address": f"file:{data}/llm", "licence": "none"},
            "encoder": {"address": f"file:{data}/encoder", "licence": "none"},
        },
    }


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
