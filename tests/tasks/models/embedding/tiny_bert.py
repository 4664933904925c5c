"""A BERT of random weights in a folder as sentence-transformers saves it."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WIDTH = 24
MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_tiny_bert(folder: Path, *, seed: int) -> Path:
    signs = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    words = [*MARKS, *signs, *(f"##{sign}" for sign in signs)]
    tokenizer = Tokenizer(models.WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    (folder / "1_Pooling").mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    sizes = {"hidden_size": WIDTH, "intermediate_size": 2 * WIDTH, "num_hidden_layers": 1, "num_attention_heads": 4}
    written = {
        "config.json": {"model_type": "bert", "vocab_size": len(words), "max_position_embeddings": 64, **sizes},
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizerFast", "model_max_length": 64},
        "modules.json": modules,
        "sentence_bert_config.json": {"max_seq_length": 64, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": {"query": "wanted is ", "document": ""}},
        "1_Pooling/config.json": {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True},
    }
    for name, content in written.items():
        (folder / name).write_text(json.dumps(content))
    save_file(random_weights(len(words), seed), folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def random_weights(words: int, seed: int) -> dict[str, np.ndarray]:
    linear = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")} | {
        "attention.output.dense": (WIDTH, WIDTH),
        "intermediate.dense": (2 * WIDTH, WIDTH),
        "output.dense": (WIDTH, 2 * WIDTH),
    }
    shapes = {
        f"embeddings.{name}_embeddings.weight": (rows, WIDTH)
        for name, rows in (("word", words), ("position", 64), ("token_type", 2))
    }
    for name, shape in linear.items():
        shapes |= {f"encoder.layer.0.{name}.weight": shape, f"encoder.layer.0.{name}.bias": shape[:1]}
    random = np.random.default_rng(seed)
    weights = {name: random.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    for name in ("embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"):
        weights |= {f"{name}.LayerNorm.weight": np.ones(WIDTH, np.float32), f"{name}.LayerNorm.bias": np.zeros(WIDTH, np.float32)}
    return weights
