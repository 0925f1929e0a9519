"""Weights that were published as pickles, read without running anything in them and saved as safetensors."""

import pickle
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from whobenefits.errors import UserError


def convert_pickled(sources: Sequence[Path], target: Path) -> None:
    """Write the tensors of all files to one file, each with its own values even where two share their memory.

    torch's restricted unpickler makes tensors and plain containers only. Raises UserError for a file with anything else.
    """
    tensors: dict[str, torch.Tensor] = {}
    for source in sources:
        try:
            held = torch.load(source, map_location="cpu", weights_only=True)
        except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
            reason = str(error).splitlines()[0]
            raise UserError(
                f"{source}: holds more than tensors, or is broken ({reason}), and is not loaded: take another revision, or "
                "convert the model yourself and give its folder as file:FOLDER"
            ) from error
        tensors |= {name: value.clone().contiguous() for name, value in held.items()}
    partial = target.with_name(f".{target.name}.partial")
    save_file(tensors, partial, metadata={"format": "pt"})
    # The library writes for the owner alone; a resources folder may be a group's.
    partial.chmod(0o644)
    partial.replace(target)
