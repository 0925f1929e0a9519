"""The run as an RO-Crate: a Process Run Crate whose action made the result tables and the report.

Written by hand, since it is one JSON file: the package rocrate would bring its own dependencies for it, and the one
reporter plugin of Snakemake that writes a crate (fairscape 0.1.0) has to be called after a run and follows a profile of
its own.
"""

import json
import mimetypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FILE = "ro-crate-metadata.json"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".md": "text/markdown",
    ".tex": "application/x-tex",
    ".bib": "application/x-bibtex",
}
WORKFLOW = "#whobenefits"


def crate(record: Mapping[str, Any], root: str | Path, files: Sequence[str | Path]) -> dict[str, Any]:
    """The metadata of a crate with the folder `root`, whose `files` (below it) are described; `record` is provenance.

    What is not on record is left out.
    """
    root = Path(root)
    parts = [_file(Path(path), root) for path in sorted(map(str, files))]
    assets = [_asset(name, item) for name, item in record["settings"]["assets"].items()]
    graph = [
        _descriptor(),
        _root(record, parts),
        {"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"},
    ]
    graph += [_workflow(record), _action(record, assets, parts), *assets, *parts]
    return {
        "@context": ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"],
        "@graph": graph,
    }


def _descriptor() -> dict[str, Any]:
    return {
        "@id": FILE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }


def _root(record: Mapping[str, Any], parts: Sequence[Mapping]) -> dict[str, Any]:
    licences = sorted({item["licence"] for item in record["settings"]["assets"].values()})
    entity = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Who benefits from retrieval? Run {record['name']}",
        "description": "Which groups of queries retrieval-augmented generation helps: measures, ranges and correlations, "
        "with a report.",
        "license": "Texts and answers follow the licences of data and models: " + "; ".join(licences),
        "conformsTo": {"@id": PROFILE},
        "hasPart": [{"@id": part["@id"]} for part in parts],
        "mentions": {"@id": "#run"},
    }
    return entity | ({"datePublished": record["worked"][1][:10]} if record["worked"] else {})


def _workflow(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@id": WORKFLOW,
        "@type": "SoftwareApplication",
        "name": "whobenefits",
        "version": record["commit"],
        "softwareRequirements": [f"{name} {version}" for name, version in record["versions"].items()],
    }


def _action(record: Mapping[str, Any], assets: Sequence[Mapping], parts: Sequence[Mapping]) -> dict[str, Any]:
    action = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Run of the study {record['name']}",
        "instrument": {"@id": WORKFLOW},
        "object": [{"@id": asset["@id"]} for asset in assets],
        "result": [{"@id": part["@id"]} for part in parts],
        "description": json.dumps(record["settings"], ensure_ascii=False, sort_keys=True),
    }
    first, last = record["worked"] or (None, None)
    return action | ({"startTime": first.replace(" ", "T"), "endTime": last.replace(" ", "T")} if first else {})


def _asset(name: str, item: Mapping[str, Any]) -> dict[str, Any]:
    places = [part for file in item["files"].values() for part in file["address"]]
    hashes = [f"{file}: sha256 {source['sha256']}" for file, source in item["files"].items()]
    entity = {"@id": f"#asset-{name}", "@type": "CreativeWork", "name": name, "license": item["licence"]}
    entity |= {"identifier": item["address"] or ", ".join(places)}
    return entity | ({"description": "; ".join(hashes)} if hashes else {})


def _file(path: Path, root: Path) -> dict[str, Any]:
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    where = path.relative_to(root).as_posix()
    return {
        "@id": where,
        "@type": "File",
        "name": where,
        "encodingFormat": kind,
        "contentSize": str(path.stat().st_size),
    }


def write_crate(record: str | Path, root: str | Path, files: Sequence[str | Path]) -> None:
    """Write ro-crate-metadata.json into the folder `root`, from a provenance.json and the files that it describes."""
    found = crate(json.loads(Path(record).read_text(encoding="utf-8")), root, files)
    text = json.dumps(found, indent=2, ensure_ascii=False)
    (Path(root) / FILE).write_text(text + "\n", encoding="utf-8")
