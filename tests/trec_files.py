"""Files in the format of the TREC 2022 Fair Ranking track, of any size, drawn from a seed: for tests and benchmarks."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson

# The fields of a row of metadata that hold one label, with the labels as the track writes them; "" is no valid label.
LABELS = {
    "first_letter_category": ("a-d", "e-k", "l-r", "s-"),
    "gender_category": ("Unknown", "Man", "Woman", "Non-binary"),
    "creation_date_category": ("2001-2006", "2007-2011", "2012-2016", "2017-2022"),
    "years_category": ("Unknown", "Pre-1900s", "20th century", "21st century"),
    "relative_pageviews_category": ("Low", "Medium-Low", "Medium-High", "High", ""),
    "num_sitelinks_category": ("English only", "2-4 languages", "5+ languages"),
    "qual_cat": ("Stub", "Start", "C", "B", "GA", "FA"),
}
REGIONS = ((), ("Northern America",), ("Western Europe",), ("Southern Asia",), ("Western Europe", "Northern Europe"))
TITLES = {666: "Cities", 1102: "Geography", 1630: "Military history"}


@dataclass(frozen=True)
class TrecFiles:
    """Paths of the three files."""

    corpus: Path
    metadata: Path
    topics: Path


def trec_files(
    folder: Path, documents: int, seed: int = 0, mean_words: int = 450, share: float = 0.03, packed: bool = True
) -> TrecFiles:
    """Write a corpus of so many documents, their metadata and three topics, each with about `share` of the documents.

    Lengths are log-normal with many short and a few very long texts, words follow Zipf's law, and line ends, quotation
    marks and letters beyond ASCII occur, so that packing and parsing cost what they cost for Wikipedia's text. As in the
    track's files, some ids of a topic have no document, some documents no metadata, and some rows of metadata come twice.
    """
    draw = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    suffix = ".gz" if packed else ""
    files = TrecFiles(folder / f"corpus.json{suffix}", folder / f"metadata.json{suffix}", folder / "topics.jsonl")
    ids = np.cumsum(draw.integers(1, 20, documents)) + 300
    with _writer(files.corpus) as file:
        file.writelines(_documents(ids.tolist(), mean_words, draw))
    with _writer(files.metadata) as file:
        file.writelines(_metadata(ids.tolist(), draw))
    with _writer(files.topics) as file:
        file.writelines(_topics(ids, share, draw))
    return files


@contextmanager
def _writer(path: Path) -> Iterator:
    # No time in the header, so that the same seed gives the same bytes.
    with path.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
                yield file
        else:
            yield raw


def _documents(ids: list[int], mean_words: int, draw: np.random.Generator) -> Iterator[bytes]:
    words = _words(draw)
    # The log-normal distribution's mean is exp(mu + 1.1² / 2).
    lengths = draw.lognormal(np.log(mean_words) - 0.605, 1.1, len(ids)).astype(int).clip(1, 60 * mean_words)
    # A slice of a long text, so that making a document costs little; gzip looks back 32 kB only, the text is longer.
    pool = draw.choice(len(words), max(4 * int(lengths.max()), 20_000), p=_zipf(len(words)))
    text = [words[i] for i in pool]
    starts = draw.integers(0, len(text) - lengths)
    for number, (doc_id, start, length) in enumerate(zip(ids, starts.tolist(), lengths.tolist(), strict=True)):
        title = f"{words[number % len(words)].split()[0].capitalize()} {number}"
        url = f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}"
        body = " ".join(text[start : start + length])
        yield orjson.dumps({"id": doc_id, "title": title, "url": url, "plain": body}) + b"\n"


def _words(draw: np.random.Generator) -> list[str]:
    letters = np.array(list("eeeettaaooiinnsshhrrdlcumwfgypbvkéö"))
    sizes = draw.integers(2, 11, 6000)
    drawn = draw.choice(letters, int(sizes.sum()))
    words = ["".join(part) for part in np.split(drawn, np.cumsum(sizes)[:-1])]
    ends = {0: ".\n", 1: ",", 2: ".", 3: ' "x"', 4: " – 1987"}
    return [word + (ends.get(i % 40, "") if i > 5 else "") for i, word in enumerate(words)]


def _zipf(size: int) -> np.ndarray:
    weights = 1 / np.arange(1, size + 1)
    return weights / weights.sum()


def _metadata(ids: list[int], draw: np.random.Generator) -> Iterator[bytes]:
    columns = {field: draw.choice(labels, len(ids)).tolist() for field, labels in LABELS.items()}
    regions = draw.integers(0, len(REGIONS), len(ids)).tolist()
    fate = draw.random(len(ids)).tolist()
    for number, doc_id in enumerate(ids):
        row = {"page_id": doc_id, "title": f"Page {number}", "pred_qual": round(fate[number], 8)}
        row |= {"page_subcont_regions": REGIONS[regions[number]], "source_countries": {"UNK": 5}}
        row |= {"gender": [], "occupations": [], "years": [1900 + number % 120], "num_sitelinks": number % 9}
        row |= {field: values[number] for field, values in columns.items()}
        line = orjson.dumps(row) + b"\n"
        # About one in 300 documents has no metadata, and one in 2,000 has its row twice.
        if fate[number] > 1 / 300:
            yield line if fate[number] < 0.9995 else 2 * line


def _topics(ids: np.ndarray, share: float, draw: np.random.Generator) -> Iterator[bytes]:
    for number, (topic_id, title) in enumerate(TITLES.items()):
        listed = ids[draw.random(len(ids)) < share * (1 + number / 4)].tolist()
        row = {"id": topic_id, "title": title, "rel_docs": [*listed, int(ids[-1]) + 1 + number]}
        yield orjson.dumps(row) + b"\n"
