"""Whole model folders, of the hub or of this machine, as links."""

import re
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import TypeVar

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import disable_progress_bars

from whobenefits.errors import UserError

T = TypeVar("T")
# Weights that are no pickles, settings and vocabularies: nothing here runs when it is loaded.
WANTED = ["*.safetensors", "*.json", "*.txt", "*.model"]
# Folders have other forms of the same model, and so has the one file that some publishers add for their own software.
UNWANTED = ["*/*", "consolidated*.safetensors", "asset.json"]
# Where a model has only these, they are read without running what is in them, and saved as safetensors.
PICKLED = "pytorch_model*.bin"
HUB = re.compile(r"hf:([\w.-]+/[\w.-]+)@([0-9a-f]{40})")
MOVING = re.compile(r"hf:([\w.-]+/[\w.-]+)@([\w./-]+)")


def link_model_folder(address: str, folder: Path, pickled: bool = False) -> list[str]:
    """Link the files of the model at `hf:ORG/NAME@REVISION` or `file:FOLDER` into the folder; their names.

    With `pickled`, its weights are `pytorch_model*.bin`, and converted. Hub models are taken through the hub's own cache
    (HF_HOME, HF_ENDPOINT and HF_HUB_OFFLINE count). Raises UserError where the address is not pinned or leads to no model
    with such weights.
    """
    wanted = [*(p for p in WANTED if not (pickled and "safetensors" in p)), *([PICKLED] if pickled else [])]
    source = _local_folder(address) if address.startswith("file:") else _snapshot(address, wanted)
    paths = [path for path in sorted(source.iterdir()) if path.is_file() and _is_wanted(path.name, wanted)]
    weights = [path for path in paths if path.suffix == (".bin" if pickled else ".safetensors")]
    if not weights or "config.json" not in [path.name for path in paths]:
        raise UserError(f"{address}: {_without_weights(pickled)}")
    if pickled:
        # Imported here: it takes torch. An index of the pickled files would name what is no longer there.
        from whobenefits.pickled_weights import convert_pickled

        convert_pickled(weights, folder / "model.safetensors")
        paths = [path for path in paths if path not in weights and not path.name.endswith(".bin.index.json")]
    for path in paths:
        _link(path.absolute(), folder / path.name)
    return [path.name for path in paths] + (["model.safetensors"] if pickled else [])


def _without_weights(pickled: bool) -> str:
    if pickled:
        return f"has no config.json or no {PICKLED}: set format to as-is, or correct the address"
    return (
        "has no config.json or no *.safetensors: set format to pytorch if its weights are pytorch_model.bin, or take "
        "another revision"
    )


def _is_wanted(name: str, wanted: list[str]) -> bool:
    return any(fnmatch(name, p) for p in wanted) and not any(fnmatch(name, p) for p in UNWANTED)


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


def _snapshot(address: str, wanted: list[str]) -> Path:
    found = HUB.fullmatch(address)
    if not found:
        raise UserError(f"{address}: is no pinned model: {_pinned(address)}")
    disable_progress_bars()
    return _asked(
        address,
        lambda: Path(snapshot_download(found[1], revision=found[2], allow_patterns=wanted, ignore_patterns=UNWANTED)),
    )


def _pinned(address: str) -> str:
    """How to write the address; where it has a branch or a tag, with the commit that this stands at now."""
    found = MOVING.fullmatch(address)
    if not found:
        return "write hf:ORG/NAME@REVISION, the revision as 40 hex digits, or file:FOLDER"
    commit = _asked(address, lambda: HfApi().model_info(found[1], revision=found[2]).sha)
    return f"{found[2]} can move; it stands at hf:{found[1]}@{commit} now: write that"


def _asked(address: str, question: Callable[[], T]) -> T:
    """What the hub answers, or a UserError that says in plain words why it does not."""
    try:
        return question()
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
