"""Tiny real models for tests: random weights from a seed, real architectures, real tokenizers, saved as any hub model."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

TEXT = """Title: Lake Baikal
Article: Lake Baikal is a rift lake in Russia. It is the deepest lake in the world.
Title: Mount Kenya
Article: Mount Kenya is an extinct volcano and the highest mountain in Kenya.
Following the given pattern, generate a title for the following article:
"""


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer trained on a few lines; it can encode any text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "</s>", "<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT.splitlines(keepends=True), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        clean_up_tokenization_spaces=False,
    )


def tiny_llm(folder: Path, architecture: str = "llama", seed: int = 0) -> Path:
    """A causal language model with two layers, float32, and its tokenizer."""
    torch.manual_seed(seed)
    tokenizer = tiny_tokenizer()
    shape = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        # Large weights make the random model decided in its choices, so that rounding does not change them.
        "initializer_range": 0.4,
    }
    if architecture == "gemma3":
        config = Gemma3TextConfig(
            **shape, head_dim=8, sliding_window=16, layer_types=["sliding_attention", "full_attention"]
        )
        model = Gemma3ForCausalLM(config)
    elif architecture == "gemma2":
        model = Gemma2ForCausalLM(Gemma2Config(**shape, head_dim=8, sliding_window=16, attn_logit_softcapping=5.0))
    elif architecture == "gpt2":
        model = GPT2LMHeadModel(
            GPT2Config(
                vocab_size=len(tokenizer),
                n_embd=32,
                n_layer=2,
                n_head=4,
                n_positions=512,
                bos_token_id=0,
                eos_token_id=1,
                pad_token_id=2,
                initializer_range=0.4,
            )
        )
    else:
        model = LlamaForCausalLM(LlamaConfig(**shape))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
