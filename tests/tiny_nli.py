"""Tiny NLI models for tests of the attributors: random weights from a seed, a vocabulary of a few words."""

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

TEXT = "lake baikal is the deepest in world mount kenya volcano a river ob of russia highest mountain"
WORDS = TEXT.split()
LABELS = ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"]
LONGEST = 32


def tiny_tokenizer(kind):
    names = ["<pad>", "<unk>", "<s>", "</s>"]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(names + WORDS)}, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    pair = "<s>:0 $A:0 </s>:0 $B:1 </s>:1" if kind == "bert" else "<s> $A </s> </s> $B </s>"
    ends = [("<s>", 2), ("</s>", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair=pair, special_tokens=ends)
    inputs = ["input_ids", "token_type_ids", "attention_mask"] if kind == "bert" else ["input_ids", "attention_mask"]
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        model_input_names=inputs,
        model_max_length=LONGEST,
    )


def tiny_nli(folder, kind="bert", labels=LABELS):
    """A small model with random weights, large enough that its verdicts differ between pairs."""
    torch.manual_seed(8)
    shape = {
        "vocab_size": 4 + len(WORDS),
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": LONGEST + 2,
        "pad_token_id": 0,
        "type_vocab_size": 2,
        "initializer_range": 0.6,
        "id2label": dict(enumerate(labels)),
        "label2id": {label: i for i, label in enumerate(labels)},
    }
    config, model = {
        "bert": (BertConfig, BertForSequenceClassification),
        "roberta": (RobertaConfig, RobertaForSequenceClassification),
    }[kind]
    model(config(**shape)).save_pretrained(folder)
    tiny_tokenizer(kind).save_pretrained(folder)
    return folder
