import hashlib
import json

import pytest
import torch
from safetensors.torch import load_file
from tiny import tiny_tokenizer
from tiny_gguf import tiny_llama, write_gguf
from transformers import AutoModelForCausalLM, AutoTokenizer

from whobenefits.errors import UserError
from whobenefits.gguf import convert_gguf


@pytest.fixture(scope="module")
def model():
    return tiny_llama()


@pytest.fixture(scope="module")
def converted(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gguf")
    convert_gguf(write_gguf(folder / "model.gguf", model), folder / "out")
    return folder / "out"


def test_the_weights_are_those_of_the_model_the_file_was_written_from(converted, model):
    weights = load_file(converted / "model.safetensors")
    expected = model.state_dict()
    # Tied: the output layer is the embedding, stored once.
    assert weights.keys() == expected.keys() - {"lm_head.weight"}
    for name, tensor in weights.items():
        assert tensor.dtype == torch.bfloat16
        assert torch.equal(tensor.float(), expected[name]), name


def test_the_converted_model_computes_the_same(converted, model):
    ids = torch.tensor([[5, 9, 40, 41, 7, 300]])
    loaded = AutoModelForCausalLM.from_pretrained(converted, dtype=torch.float32, local_files_only=True)
    with torch.inference_mode():
        torch.testing.assert_close(loaded(ids).logits, model(ids).logits)


def test_the_settings_of_the_file_are_kept(converted):
    config = json.loads((converted / "config.json").read_text())
    assert (config["bos_token_id"], config["eos_token_id"], config["pad_token_id"]) == (0, 1, 2)
    assert config["rope_parameters"]["rope_theta"] == 100000.0
    assert config["tie_word_embeddings"] and "quantization_config" not in config
    assert json.loads((converted / "generation_config.json").read_text())["eos_token_id"] == 1


@pytest.mark.parametrize("text", ["Lake Baikal is a lake.", "</s> ends,  wörld's 日本", "Title: In 1987\nArticle:"])
def test_texts_become_the_same_tokens(converted, text):
    assert AutoTokenizer.from_pretrained(converted)(text)["input_ids"] == tiny_tokenizer()(text)["input_ids"]


def splits(folder):
    return [
        text
        for text, _ in AutoTokenizer.from_pretrained(folder).backend_tokenizer.pre_tokenizer.pre_tokenize_str("\n\n12")
    ]


def test_digits_split_the_text_first_where_the_vocabulary_was_learned_so(converted, model, tmp_path):
    # Ċ is the line end. Without the rule, the regular expression of GPT-2 leaves the second line end to what follows.
    assert splits(converted) == ["ĊĊ", "1", "2"]
    convert_gguf(write_gguf(tmp_path / "model.gguf", model, pre="gpt-2"), tmp_path / "out")
    assert splits(tmp_path / "out") == ["Ċ", "Ċ", "12"]


def test_converting_twice_gives_the_same_bytes(converted, model, tmp_path):
    convert_gguf(write_gguf(tmp_path / "model.gguf", model), tmp_path / "out")
    for path in converted.iterdir():
        digests = [hashlib.sha256(p.read_bytes()).hexdigest() for p in (path, tmp_path / "out" / path.name)]
        assert digests[0] == digests[1], path.name


def test_a_missing_weight_is_not_made_up(model, tmp_path):
    path = write_gguf(tmp_path / "model.gguf", model, without="blk.0.ffn_up.weight")
    with pytest.raises(UserError, match="cannot be converted.*no weights for model.layers.0.mlp.up_proj.weight"):
        convert_gguf(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_architecture_that_is_not_known_is_named(model, tmp_path):
    path = write_gguf(tmp_path / "model.gguf", model, architecture="rwkv7")
    with pytest.raises(UserError, match="cannot be converted by transformers .*rwkv7.*: take another GGUF"):
        convert_gguf(path, tmp_path / "out")


def test_a_file_that_is_no_gguf_is_an_error(tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"not a model" * 100)
    with pytest.raises(UserError, match="the GGUF file cannot be converted"):
        convert_gguf(tmp_path / "model.gguf", tmp_path / "out")
