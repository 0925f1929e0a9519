"""The manifest of a fetched asset. Apart from the fetching, so that an edit there does not redo what uses the asset."""

import hashlib
import json
from pathlib import Path
from typing import Any

from whobenefits.errors import DataError

MANIFEST = "asset.json"


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest in an asset's folder, or None where there is none that can be read."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) and "files" in manifest else None


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest, whole or not at all; the same manifest makes the same bytes."""
    partial = folder / f".{MANIFEST}.partial"
    partial.write_text(json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(folder / MANIFEST)


def asset_identity(folder: str | Path) -> str:
    """16 hex digits that follow from the names and contents of the asset's files, wherever these came from.

    Raises DataError where the folder has no manifest.
    """
    manifest = read_manifest(Path(folder))
    if manifest is None:
        raise DataError(f"{Path(folder) / MANIFEST}: is not there or is no manifest: fetch the asset again")
    contents = {file: record["sha256"] for file, record in manifest["files"].items()}
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()[:16]
