"""GGUF models, converted once to bf16 safetensors: left packed they compute several times slower."""

from pathlib import Path
from typing import Any

import torch
import transformers
from gguf import GGUFReader
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
from transformers.utils.logging import disable_progress_bar

from whobenefits.errors import UserError

# Names in GGUF of byte-level vocabularies whose texts are split at each digit before anything else. transformers does
# not know them and would split "\n\n1" and "²" otherwise than the model has learned them.
DIGIT_SPLITS = ("smollm", "starcoder", "refact", "command-r")


def convert_gguf(source: Path, folder: Path) -> None:
    """Write the model and the tokenizer of a GGUF file to a new folder, as transformers saves them.

    Weights are unpacked and rounded to bfloat16; tied embeddings are stored once. Raises UserError where transformers
    does not know the architecture or the file has not all of the model's weights.
    """
    disable_progress_bar()
    place = {"gguf_file": source.name, "local_files_only": True, "trust_remote_code": False}
    try:
        model = _model(source, place)
        tokenizer = AutoTokenizer.from_pretrained(source.parent, **place)
    except (ValueError, KeyError, OSError) as error:
        raise UserError(
            f"the GGUF file cannot be converted by transformers {transformers.__version__} ({error}): "
            "take another GGUF, or the model as safetensors"
        ) from error
    _split_digits(tokenizer, source)
    folder.mkdir()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for path in folder.iterdir():
        # The weights' library writes for the owner alone; a resources folder may be a group's.
        path.chmod(0o644)


def _model(source: Path, place: dict[str, Any]) -> Any:
    model, report = AutoModelForCausalLM.from_pretrained(
        source.parent,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.bfloat16,
        output_loading_info=True,
        **place,
    )
    # transformers fills in random numbers for these.
    missing = sorted({*report["missing_keys"], *report["mismatched_keys"]})
    if missing:
        raise ValueError(f"it has no weights for {', '.join(map(str, missing[:5]))}")
    return model


def _split_digits(tokenizer: Any, source: Path) -> None:
    backend = tokenizer.backend_tokenizer
    if not isinstance(backend.pre_tokenizer, pre_tokenizers.ByteLevel):
        return  # not one of these vocabularies, and the file takes long to read
    field = GGUFReader(source).fields.get("tokenizer.ggml.pre")
    if field is not None and field.contents() in DIGIT_SPLITS:
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
