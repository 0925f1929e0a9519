"""Loading a causal language model: number format, devices, and what does not fit."""

import json
import logging
import struct
from math import prod
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from whobenefits.errors import UserError

LOCAL = {"local_files_only": True, "trust_remote_code": False}
GIGABYTE = 1e9


def usable_dtype(setting: str) -> torch.dtype:
    """The dtype of a setting; `auto` is bfloat16 where this machine multiplies matrices in it, else float32."""
    if setting != "auto":
        return getattr(torch, setting)
    if torch.cuda.is_available():
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    return (
        torch.bfloat16 if torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported() else torch.float32
    )


def load_tokenizer(folder: str | Path) -> PreTrainedTokenizerBase:
    """The tokenizer of a model's folder, padding on the left, with a padding token."""
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left", **LOCAL)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_model(folder: str | Path, dtype: torch.dtype, gpus: int = 1, device_map: str = "auto") -> PreTrainedModel:
    """The model of an asset's folder, on one device or, with several `gpus`, its layers spread over them by accelerate.

    No code of the folder is run and nothing is unpickled. Without a GPU the model is loaded into main memory. Raises
    UserError, with the sizes, where the model does not fit on the GPUs: it is never moved to main memory unasked.
    """
    place: str | dict = {"": "cpu"}
    if torch.cuda.is_available():
        place = device_map if gpus > 1 else {"": 0}
        _check_gpus(gpus)
    try:
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype, use_safetensors=True, device_map=place, **LOCAL
        )
    except torch.OutOfMemoryError as error:
        raise UserError(misfit(folder, dtype, gpus)) from error
    elsewhere = {str(device) for device in getattr(model, "hf_device_map", {}).values()} & {"cpu", "disk"}
    if torch.cuda.is_available() and elsewhere:
        raise UserError(misfit(folder, dtype, gpus))
    return model.eval()


def _check_gpus(gpus: int) -> None:
    seen = torch.cuda.device_count()
    if seen < gpus:
        raise UserError(
            f"llms: gpus is {gpus} but the job sees {seen}: ask for more GPUs (resource gpu), or lower gpus"
        )
    logging.info("GPUs: %s", ", ".join(torch.cuda.get_device_name(i) for i in range(gpus)))


def misfit(folder: str | Path, dtype: torch.dtype, gpus: int) -> str:
    """What is said of a model that does not fit: its size, that of the GPUs, and what helps."""
    size = parameter_count(folder) * dtype.itemsize / GIGABYTE
    room = [torch.cuda.get_device_properties(i).total_memory / GIGABYTE for i in range(gpus)]
    return (
        f"{folder}: the model needs {size:.1f} GB in {dtype}, and there {'are' if gpus > 1 else 'is'} "
        f"{' + '.join(f'{gigabytes:.1f} GB' for gigabytes in room)} of GPU memory: raise llms.NAME.gpus, ask for larger "
        "GPUs (gpu_constraint in profiles/slurm/config.yaml), or set a smaller llms.NAME.dtype"
    )


def parameter_count(folder: str | Path) -> int:
    """How many numbers the weights in a model's folder have, from the headers of its safetensors files."""
    headers = [_header(path) for path in sorted(Path(folder).glob("*.safetensors"))]
    return sum(prod(item["shape"]) for header in headers for name, item in header.items() if name != "__metadata__")


def _header(path: Path) -> dict:
    # The format: eight bytes, little-endian, with the length of the JSON that follows.
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length))
