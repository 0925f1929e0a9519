"""Tiny GGUF files for tests, written from a tiny Llama model as llama.cpp's converter lays them out."""

import json
from pathlib import Path

import numpy as np
import torch
from gguf import GGUFWriter, TokenType
from tiny import tiny_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

HEADS, KEYS = 4, 2
NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def tiny_llama() -> LlamaForCausalLM:
    """One layer, tied embeddings, random weights that bfloat16 holds exactly."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tiny_tokenizer()),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=HEADS,
        num_key_value_heads=KEYS,
        max_position_embeddings=512,
        rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
        tie_word_embeddings=True,
    )
    return LlamaForCausalLM(config).to(torch.bfloat16).to(torch.float32).eval()


def write_gguf(
    path: Path, model: LlamaForCausalLM, pre: str = "smollm", without: str = "", architecture: str = "llama"
) -> Path:
    """The model with the tiny tokenizer. `without` names a tensor that is left out."""
    writer = GGUFWriter(path, architecture)
    config = model.config
    writer.add_context_length(config.max_position_embeddings)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEYS)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // HEADS)
    writer.add_rope_freq_base(100000.0)
    _add_tokenizer(writer, pre)
    for name, tensor in model.state_dict().items():
        if name != "lm_head.weight" and _gguf_name(name) != without:
            writer.add_tensor(_gguf_name(name), _laid_out(name, tensor.numpy()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokenizer(writer: GGUFWriter, pre: str) -> None:
    tokenizer = tiny_tokenizer()
    tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL] * 3 + [TokenType.NORMAL] * (len(tokens) - 3))
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)


def _gguf_name(name: str) -> str:
    whole = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
    if name in whole:
        return whole[name]
    _, _, layer, part = name.removesuffix(".weight").split(".", 3)
    return f"blk.{layer}.{NAMES[part]}.weight"


def _laid_out(name: str, weights: np.ndarray) -> np.ndarray:
    """llama.cpp turns pairs of neighbours where transformers turns halves: the rows of q and k change places."""
    heads = {"q_proj": HEADS, "k_proj": KEYS}.get(name.split(".")[-2])
    if heads is None:
        return weights
    rows, columns = weights.shape
    return weights.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)
