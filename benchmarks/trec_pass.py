"""How fast the documents of one WikiProject are taken from the TREC files, and in how much memory.

    .venv/bin/python benchmarks/trec_pass.py [DOCUMENTS] [FOLDER]

Three ways over the same gzip files, each in a process of its own: plain (`gzip.open` and `json.loads` of each line),
parsed (isal and orjson, each line), and what the workflow does (isal, and orjson for lines that are wanted or in doubt).
All read the metadata, then the corpus, keep the usable documents of the topic, and must agree on them.
The files are made first, in two sizes with about as many documents of the topic in both.
"""

import gzip
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "workflow/lib"), str(ROOT / "tests")]

from trec_files import TrecFiles, trec_files  # noqa: E402

from whobenefits.categories import TREC_FAIR  # noqa: E402
from whobenefits.datasets import json_lines  # noqa: E402
from whobenefits.datasets.form import Record, fault_of, spaced  # noqa: E402
from whobenefits.datasets.trec_fair import TrecFair  # noqa: E402

TOPIC, TOPIC_DOCUMENTS, SMALLER, ROUNDS = 666, 4000, 4, 3
WAYS = ("plain", "parsed", "ours")
CELLS = ("age-of-topic", "popularity", "age-of-article", "alphabetical")


def plain_records(files: TrecFiles) -> Iterator[Record]:
    """The records of the topic that have metadata, by the standard library, each line parsed."""
    with files.topics.open("rb") as file:
        wanted = next(set(row["rel_docs"]) for row in map(json.loads, file) if row["id"] == TOPIC)
    rows = {}
    with gzip.open(files.metadata) as file:
        for line in file:
            row = json.loads(line)
            if row["page_id"] in wanted:
                rows[row["page_id"]] = {slug: row[TREC_FAIR[slug].field] for slug in CELLS}
    with gzip.open(files.corpus) as file:
        for line in file:
            row = json.loads(line)
            if row["id"] in wanted and row["id"] in rows:
                yield Record(str(row["id"]), spaced(row["title"]), spaced(row["plain"]), rows[row["id"]])


def our_records(files: TrecFiles) -> Iterator[Record]:
    """The records of the topic as the workflow reads them."""
    categories = {slug: TREC_FAIR[slug] for slug in CELLS}
    return TrecFair(files.corpus, files.metadata, files.topics, categories).records(str(TOPIC))


def parsed_records(files: TrecFiles) -> Iterator[Record]:
    """The records of the topic as the workflow reads them, but with each line parsed."""
    json_lines.number_finder = lambda key: lambda line: None
    return our_records(files)


def peak_memory() -> float:
    """The largest resident memory of this process so far, in MB; the maximum of getrusage would include its parent's."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def measure(way: str, folder: str) -> None:
    """Print seconds, peak memory in MB, and number and digest of the kept documents, as JSON."""
    files = TrecFiles(*(Path(folder) / name for name in ("corpus.json.gz", "metadata.json.gz", "topics.jsonl")))
    start = time.perf_counter()
    records = {"plain": plain_records, "parsed": parsed_records, "ours": our_records}[way](files)
    kept = [record for record in records if fault_of(record, CELLS, 512) is None]
    seconds = time.perf_counter() - start
    lines = sorted(repr((r.doc_id, r.title, r.text, sorted(r.labels.items()))) for r in kept)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    print(json.dumps({"seconds": seconds, "peak": peak_memory(), "kept": len(kept), "digest": digest}))


def measured(way: str, folder: Path) -> dict:
    """What `measure` finds in a process of its own."""
    command = [sys.executable, __file__, "measure", way, str(folder)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(folder: Path, documents: int) -> None:
    """Print the rows of one size: the best of some rounds, in which the ways take turns."""
    files = trec_files(folder, documents, share=TOPIC_DOCUMENTS / documents)
    with gzip.open(files.metadata) as file:
        rows = sum(1 for _ in file)
    megabytes = (files.corpus.stat().st_size + files.metadata.stat().st_size) / 1e6
    print(f"{documents:,} documents, {rows:,} rows of metadata, {megabytes:.0f} MB packed", flush=True)
    rounds = [{way: measured(way, folder) for way in WAYS} for _ in range(ROUNDS)]
    if len({result["digest"] for results in rounds for result in results.values()}) != 1:
        raise SystemExit("the ways keep different documents")
    best = {way: min((results[way] for results in rounds), key=lambda result: result["seconds"]) for way in WAYS}
    for way, result in best.items():
        ratio, speed = best["plain"]["seconds"] / result["seconds"], (documents + rows) / result["seconds"]
        print(
            f"{way:6} {result['seconds']:7.2f} s {speed:10,.0f} lines/s {ratio:5.1f}x {result['peak']:6.0f} MB "
            f"{result['kept']:6,} kept",
            flush=True,
        )


def main(documents: int, folder: str | None) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for size in (documents // SMALLER, documents):
            compare(Path(place) / str(size), size)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(*sys.argv[2:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000, sys.argv[2] if len(sys.argv) > 2 else None)
