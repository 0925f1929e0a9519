"""Settings of the LLMs, of decoding, and of how generation is split into jobs."""

from typing import Annotated, Literal

from pydantic import Field

from whobenefits.devices import DEVICES
from whobenefits.settings.base import Positive, Settings, Slug


class Llm(Settings):
    """A causal language model."""

    label: str = Field(description="Name shown in tables and figures.")
    model: Slug = Field(description="Name of the asset: a causal language model.")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field(
        "auto",
        description="Number format of the weights. `auto`: bfloat16 where the processor computes in it, else float32.",
    )
    context_tokens: Positive = Field(
        2048,
        description="Longest prompt and answer together, in tokens. A longer prompt is shortened by the rule of `generation.truncation`.",
    )
    batch_tokens: Positive = Field(
        32768,
        description="Most tokens of one batch: those of its prompts and the most that can be new; where beams cannot share a prompt, padding counts. On a GPU a batch is also no larger than what is predicted to fit into its memory.",
    )
    gpus: Positive = Field(1, description="GPUs of one job. With more than one the layers are spread over them.")
    device_map: Literal["auto", "balanced", "balanced_low_0", "sequential"] = Field(
        "auto", description="How accelerate spreads the layers over several GPUs."
    )
    billion_parameters: Annotated[float, Field(gt=0)] = Field(
        1.0,
        description="Size of the model, 8.03 for 8.03 billion: for the estimate, the shards, the memory asked for, and which jobs begin first.",
    )
    shards: Positive | None = Field(
        None,
        description="Jobs that the prompts of one topic and task are split into. null: so many that each takes about `generation.target_minutes`.",
    )


class Generation(Settings):
    """How generation is split into jobs, and what a prompt loses that is too long."""

    device: Literal[*DEVICES] = Field(
        "a100", description="Device that the estimate is made for. It changes no answer, only the number of shards."
    )
    target_minutes: Positive = Field(120, description="Time that one job of generation should take, by the estimate.")
    truncation: Literal["documents", "tail"] = Field(
        "documents",
        description="What a prompt loses that is longer than the LLM's context. `documents`: each document its end, the query nothing. `tail`: its end, and so the query.",
    )


class Task(Settings):
    """How the answers of one task are decoded (beam search without sampling)."""

    beams: Positive = Field(description="Beams of the beam search; 1 is greedy.")
    max_new_tokens: Positive = Field(description="Longest answer, in tokens.")
    stop: Literal["none", "line", "pattern"] = Field(
        "none",
        description="`line`: the answer ends at the first line end after text. `pattern`: it ends where the prompt's pattern starts again. `none`: only at the model's own end token.",
    )
