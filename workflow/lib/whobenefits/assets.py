"""Models and data sets by address: fetched once, checked, and described by a manifest beside their files."""

import logging
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from whobenefits.downloads import Downloads, sha256_of
from whobenefits.errors import UserError
from whobenefits.manifests import MANIFEST, read_manifest, write_manifest
from whobenefits.settings.assets import Asset

# Raised when gguf.py or pickled_weights.py converts otherwise than before, so that models converted earlier are converted again.
CONVERSION = 1

Records = dict[str, dict[str, Any]]


def fetch_asset(name: str, asset: Asset, folder: Path) -> None:
    """Fill the folder with the asset's files and, last of all, with `asset.json`.

    The manifest has the name, the licence, the format, the addresses, and bytes and SHA-256 of each file, and is the
    same each time. Where it and the files are there and fit the settings, nothing is fetched. Downloads lie in a
    hidden folder beside `folder` until all is well, so that a broken run goes on where it ended.

    Raises UserError for an address that cannot be used or reached, a member that is not there, a file with another
    SHA-256, a GGUF that cannot be converted, and a folder with files that are not the asset's.
    """
    try:
        origin = _origin(asset)
        files = _present_files(folder, origin)
        if files is None:
            files = _fetched_files(asset, folder)
            logging.info("%s: %d files fetched into %s", name, len(files), folder)
    except UserError as error:
        raise UserError(f"assets.{name}: {error}") from error
    write_manifest(folder, {"name": name, "licence": asset.licence, **origin, "files": files})


def _origin(asset: Asset) -> dict[str, Any]:
    """What decides the content of an asset, checked."""
    if asset.format == "gguf" and len(asset.files) != 1:
        raise UserError(f"format is gguf but files names {len(asset.files)} files: name the one GGUF file under files")
    if asset.format == "pytorch" and not asset.address:
        raise UserError("format is pytorch but there is no address: give the address of the whole model folder")
    for file in asset.files:
        path = PurePosixPath(file)
        if path.is_absolute() or ".." in path.parts or file == MANIFEST or file.startswith("."):
            raise UserError(f"files.{file}: is not usable as a name in the asset's folder: choose another")
    files = {file: source.model_dump() for file, source in asset.files.items()}
    origin = {"format": asset.format, "address": asset.address, "sources": files}
    return origin | ({"conversion": CONVERSION} if asset.format != "as-is" else {})


def _present_files(folder: Path, origin: dict[str, Any]) -> Records | None:
    """The manifest's records of the files, if it fits the settings and the files have the right sizes."""
    manifest = read_manifest(folder)
    if manifest is None or {key: manifest.get(key) for key in origin} != origin:
        return None
    sizes = {file: record["bytes"] for file, record in manifest["files"].items()}
    whole = all((folder / file).is_file() and (folder / file).stat().st_size == sizes[file] for file in sizes)
    return manifest["files"] if whole else None


def _fetched_files(asset: Asset, folder: Path) -> Records:
    old = (read_manifest(folder) or {"files": {}})["files"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)
    scratch = folder.parent / f".{folder.name}.partial"
    scratch.mkdir(exist_ok=True)
    if asset.address:
        # Imported here: the hub's library takes a while to load, and most assets do without.
        from whobenefits.model_folders import link_model_folder

        names = link_model_folder(asset.address, folder, asset.format == "pytorch")
    elif asset.format == "gguf":
        names = _converted_files(asset, folder, scratch)
    else:
        names = _single_files(asset, folder, Downloads(scratch))
    _remove_leftovers(folder, set(names), set(old))
    shutil.rmtree(scratch)
    return {file: _record(folder / file) for file in sorted(names)}


def _record(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": sha256_of(path)}


def _single_files(asset: Asset, folder: Path, downloads: Downloads) -> list[str]:
    for file, source in asset.files.items():
        target = folder / file
        if not target.is_file() or sha256_of(target) != source.sha256:
            target.parent.mkdir(parents=True, exist_ok=True)
            downloads.join(source.address, source.sha256, target)
    return list(asset.files)


def _converted_files(asset: Asset, folder: Path, scratch: Path) -> list[str]:
    (source,) = asset.files.values()
    raw, converted = scratch / "model.gguf", scratch / "converted"
    Downloads(scratch).join(source.address, source.sha256, raw)
    # Imported here: it takes torch and transformers.
    from whobenefits.gguf import convert_gguf

    shutil.rmtree(converted, ignore_errors=True)
    convert_gguf(raw, converted)
    names = [path.name for path in converted.iterdir()]
    for file in names:
        (converted / file).replace(folder / file)
    return names


def _remove_leftovers(folder: Path, files: set[str], old: set[str]) -> None:
    """Remove what an earlier manifest lists and this one does not: a stale file would be loaded with the model."""
    for file in old - files:
        (folder / file).unlink(missing_ok=True)
    there = {path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()}
    others = {path.as_posix() for path in there if not path.name.startswith(".")} - files
    if others:
        # They may be the user's own, if the resources folder is one that has other things.
        raise UserError(
            f"{folder} has files that are not the asset's: {', '.join(sorted(others)[:5])}: "
            "remove them, or the folder, and run again"
        )
