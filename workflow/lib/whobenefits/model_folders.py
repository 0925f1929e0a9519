"""Whole model folders, of the hub or of this machine, as links."""

import re
from fnmatch import fnmatch
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import disable_progress_bars

from whobenefits.errors import UserError

# Weights that are no pickles, settings and vocabularies: nothing here runs when it is loaded.
WANTED = ["*.safetensors", "*.json", "*.txt", "*.model"]
# Folders have other forms of the same model, and so has the one file that some publishers add for their own software.
UNWANTED = ["*/*", "consolidated*.safetensors", "asset.json"]
HUB = re.compile(r"hf:([\w.-]+/[\w.-]+)@([0-9a-f]{40})")


def link_model_folder(address: str, folder: Path) -> list[str]:
    """Link the files of the model at `hf:ORG/NAME@REVISION` or `file:FOLDER` into the folder; their names.

    Hub models are taken through the hub's own cache (HF_HOME, HF_ENDPOINT and HF_HUB_OFFLINE count).
    Raises UserError where the address is not pinned or leads to no model with safetensors weights.
    """
    source = _local_folder(address) if address.startswith("file:") else _snapshot(address)
    paths = [path for path in sorted(source.iterdir()) if path.is_file() and _is_wanted(path.name)]
    names = [path.name for path in paths]
    if "config.json" not in names or not any(name.endswith(".safetensors") for name in names):
        raise UserError(
            f"{address}: has no config.json or no *.safetensors, and pickled weights are not loaded: take a revision "
            "with safetensors, or convert the model and give its folder as file:FOLDER"
        )
    for path in paths:
        _link(path.absolute(), folder / path.name)
    return names


def _is_wanted(name: str) -> bool:
    return any(fnmatch(name, p) for p in WANTED) and not any(fnmatch(name, p) for p in UNWANTED)


def _link(source: Path, target: Path) -> None:
    partial = target.with_name(f".{target.name}.partial")
    partial.unlink(missing_ok=True)
    partial.symlink_to(source)
    partial.replace(target)


def _local_folder(address: str) -> Path:
    folder = Path(address.removeprefix("file:"))
    if not folder.is_dir():
        raise UserError(f"{address}: there is no folder {folder.absolute()}: correct the address")
    return folder


def _snapshot(address: str) -> Path:
    found = HUB.fullmatch(address)
    if not found:
        raise UserError(
            f"{address}: is no pinned model: write hf:ORG/NAME@REVISION, the revision as 40 hex digits, or file:FOLDER"
        )
    disable_progress_bars()
    try:
        return Path(snapshot_download(found[1], revision=found[2], allow_patterns=WANTED, ignore_patterns=UNWANTED))
    except (HTTPError, OSError) as error:
        remedy = _remedy(error)
        if remedy is None:
            raise
        raise UserError(f"{address}: {remedy}") from error


def _remedy(error: Exception) -> str | None:
    """What is wrong and what to do, or None for an error that is not the hub's. Subclasses come first."""
    match error:
        case GatedRepoError():
            return "is gated: ask for access on the model's page, then log in by `hf auth login` or HF_TOKEN"
        case RevisionNotFoundError():
            return "the model has no such revision: take the commit from its page"
        case RepositoryNotFoundError():
            return "there is no such model, or it is private: check the name, or log in by `hf auth login` or HF_TOKEN"
        case LocalEntryNotFoundError():
            return (
                "is not in the cache and the hub is off or cannot be reached: fetch it where there is a network with "
                "the same HF_HOME, check HF_HUB_OFFLINE and HF_ENDPOINT, or give a copy as file:FOLDER"
            )
        case HTTPError():
            return f"the hub failed ({error}): check HF_ENDPOINT and the network, run again"
    return None
