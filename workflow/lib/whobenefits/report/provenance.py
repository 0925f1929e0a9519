"""Where a run comes from, as one record: its settings, its models and data, what made it, and what that took."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from whobenefits.report.inputs import Labels
from whobenefits.report.methods import bibtex, methods
from whobenefits.report.records import (
    UNKNOWN,
    answer_counts,
    commit,
    identities,
    job_seconds,
    log_span,
    machine,
    versions,
)
from whobenefits.report.text import latex
from whobenefits.tables import ANSWERS, REQUESTS, read_table

STAGES = {
    "prepare_dataset": "preparing the data",
    "retrieve": "retrieval",
    "generate": "generation",
    "attribute": "attribution",
    "score_answers": "scoring",
}


def provenance(
    about: Mapping,
    labels: Labels,
    cells: Sequence[Mapping[str, str]],
    manifests: Sequence[str],
    logs: str | Path,
    checkout: str | Path,
) -> dict[str, Any]:
    """The record as plain data. `cells` have topic, task, llm and the paths of their `requests` and `answers`.

    `manifests` are the asset.json files of models and data, `logs` is the folder of the jobs' logs, `checkout` that of the workflow. What no file says is None or "not on record".
    """
    return {
        "name": about["name"],
        "commit": commit(checkout),
        "versions": versions(),
        "machine": machine(),
        "worked": log_span(logs),
        "seconds": {stage: job_seconds(logs, stage) for stage in STAGES},
        "counts": [_counts(cell, logs) for cell in cells],
        "files": identities(manifests),
        "settings": dict(about),
        "labels": {kind: dict(items) for kind, items in labels.items()},
    }  # fmt: skip


def _counts(cell: Mapping[str, str], logs: str | Path) -> dict[str, Any]:
    """Counts of one topic, task and LLM: each shard has a log of its own."""
    place = Path(logs, "generate", cell["topic"], cell["task"])
    found = [place / f"{cell['llm']}.log"] if (place / f"{cell['llm']}.log").is_file() else []
    shards = sorted((place / cell["llm"]).glob("*.log"))
    # Of an earlier split into shards logs may still be there: those of the newest split count.
    newest = max(shards, key=lambda path: path.stat().st_mtime).name.rpartition("-of-")[2] if shards else ""
    kept = found + [path for path in shards if path.name.rpartition("-of-")[2] == newest]
    counts = answer_counts(read_table(REQUESTS, cell["requests"]), read_table(ANSWERS, cell["answers"]), kept)
    return {name: cell[name] for name in ("topic", "task", "llm")} | counts


def shown(record: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
    """The record as the page shows it: facts, counts and versions as rows."""
    made = record["machine"]
    facts = [
        ("commit of the workflow", record["commit"]),
        ("first and last line of the logs", " to ".join(record["worked"]) if record["worked"] else UNKNOWN),
        ("machine that wrote the report", f"{made['system']}, {made['processor']}, {made['cores']} cores"),
        *((f"seconds of {STAGES[stage]}", _seconds(found)) for stage, found in record["seconds"].items()),
        ("GPU", record.get("gpu", f"{UNKNOWN}: the logs do not name one")),
    ]
    names = [name for name in record["counts"][0] if name not in ("topic", "task", "llm")] if record["counts"] else []
    rows = [
        [labels["topics"][row["topic"]], labels["tasks"][row["task"]], labels["llms"][row["llm"]]]
        + [UNKNOWN if row[name] is None else f"{row[name]:,}" for name in names]
        for row in record["counts"]
    ]
    heads = ["Topic", "Task", "LLM", *(name.capitalize() for name in names)]
    return {"facts": facts, "counts": (heads, rows), "versions": list(record["versions"].items())}


def _seconds(found: Mapping[str, Any]) -> str:
    if found["seconds"] is None:
        return UNKNOWN
    return f"{found['seconds']:,.0f} (between the first and last line of {found['timed']} of {found['jobs']} logs)"


def write_provenance(
    record: Mapping[str, Any], dataset: pd.DataFrame, citation: str | Path, folder: str | Path
) -> None:
    """Write provenance.json, methods.tex and citation.bib into the folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paragraphs = methods(record["settings"], record["labels"], dataset.to_dict("records"))
    text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "provenance.json").write_text(text + "\n", encoding="utf-8")
    (folder / "methods.tex").write_text("\n\n".join(map(latex, paragraphs)) + "\n", encoding="utf-8")
    (folder / "citation.bib").write_text(bibtex(citation), encoding="utf-8")
