"""Writes a tiny model that sees pictures and speaks noise: `python -m tests.tasks.models.tiny_model FOLDER NAME`.

Qwen2 for the words, CLIP for the pictures, random weights, a token for each byte. Qwen-VL itself needs torchvision.
"""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    CLIPVisionConfig,
    GenerationConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
    Qwen2Config,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

REVISION = "0123456789abcdef0123456789abcdef01234567"
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<image>"]
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for p in m.content %}{% if p.type == 'image' %}<image>{% else %}{{ p.text }}{% endif %}{% endfor %}"
    "{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer():
    """A token for each byte, and the marks."""
    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={sign: number for number, sign in enumerate(signs)}, merges=[]))
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.add_special_tokens({"additional_special_tokens": MARKS})
    fast.image_token, fast.image_token_id = "<image>", fast.convert_tokens_to_ids("<image>")
    return fast


def model(words):
    """Two layers of each kind, some 127,000 weights."""
    seen = CLIPVisionConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=32, patch_size=16
    )
    words_model = Qwen2Config(
        vocab_size=len(words) + 1,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
    )
    torch.manual_seed(0)
    made = LlavaForConditionalGeneration(
        LlavaConfig(vision_config=seen, text_config=words_model, image_token_id=words.image_token_id, image_seq_length=4)
    )
    made.generation_config = GenerationConfig(eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id)
    return made


def write(folder, name):
    """Write the model into a folder that the hub's cache takes for its own."""
    kept = folder / f"models--{name.replace('/', '--')}"
    for part in ("refs", "blobs", "snapshots"):
        (kept / part).mkdir(parents=True)
    (kept / "refs" / "main").write_text(REVISION, "utf-8")
    words = tokenizer()
    pictures = CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    processor = LlavaProcessor(
        image_processor=pictures,
        tokenizer=words,
        patch_size=16,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    )
    processor.save_pretrained(kept / "snapshots" / REVISION)
    model(words).save_pretrained(kept / "snapshots" / REVISION)


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2])
