"""`python -m deployments.training.train_rater FOLDER --out ADAPTER`: a LoRA adapter that rates pages as the triples of FOLDER do.

    vllm serve Qwen/Qwen2.5-VL-3B-Instruct --enable-lora --lora-modules page-rater-1a2b3c4d=ADAPTER

serves it, and FLOWREADER_RATER_BASE_URL with FLOWREADER_RATER_MODEL=page-rater-1a2b3c4d have `walk` ask it to rate pages. It
learns the reply alone, to the prompt by which `walk` asks.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from deployments.training.records import PICTURES, Triple, exit_code, read_triples
from flows.display.output import Output
from storage.artifacts import hash_bytes
from storage.errors import RequestError
from tasks.models.chat.request import data_url
from tasks.prompts.prompt import Piece, filled, load_prompt
from tasks.readers.forms import RatedPage
from tasks.readers.walk import RATING
from tasks.settings.models import ModelSettings

if TYPE_CHECKING:
    import torch

BASE = "Qwen/Qwen2.5-VL-3B-Instruct"
WEIGHTS = "adapter_model.safetensors"
PIXELS = ModelSettings().pictures.pixels
"""Pixels of a picture, as many as a served model is shown."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How it is trained; `rank`, `rate`, `warm_up`, `accumulation` and `epochs` are the paper's, which does not give the others."""

    rank: int = 8
    alpha: int = 16
    rate: float = 1e-4
    warm_up: float = 0.1
    accumulation: int = 8
    epochs: int = 2
    longest_gradient: float = 1.0
    seed: int = 0


def prompt_of(triple: Triple) -> str:
    return filled(load_prompt(RATING), triple.question, [Piece(f"page {triple.page}", triple.text)])


def reply_of(triple: Triple) -> str:
    return json.dumps(RatedPage(needed=triple.needed, relevance=triple.label).model_dump(), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Pupil:
    """A model that learns, with what makes numbers of its prompts; `images` is None where it reads text alone."""

    model: Any
    tokenizer: Any
    images: Any
    pictures: Path

    def loss(self, triple: Triple) -> torch.Tensor:
        """Return the mean cross-entropy of the reply's tokens; of the prompt's no logits are made."""
        import torch

        reply = self._tokens(reply_of(triple) + self.tokenizer.eos_token)
        inputs = self._inputs(triple, reply)
        logits = self.model(**inputs, use_cache=False, logits_to_keep=reply.shape[1] + 1).logits[0, :-1]
        return torch.nn.functional.cross_entropy(logits.float(), reply[0].to(logits.device))

    def _inputs(self, triple: Triple, reply: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return prompt and reply as the model reads them, the picture behind the text as a server is sent it."""
        import torch

        content: Any = prompt_of(triple)
        seen, sign, size = {}, "", 0
        if self.images is not None and triple.picture:
            encoded = data_url((self.pictures / triple.picture).read_bytes(), pixels=PIXELS).partition(",")[2]
            seen = dict(self.images(images=[Image.open(io.BytesIO(base64.b64decode(encoded)))], return_tensors="pt"))
            sign = self.tokenizer.convert_ids_to_tokens(self.model.config.image_token_id)
            size = int(seen["image_grid_thw"].prod()) // self.images.merge_size**2
            content = [{"type": "text", "text": content}, {"type": "text", "text": "Picture 1:"}, {"type": "image"}]
        chat = self.tokenizer.apply_chat_template(
            [{"role": "user", "content": content}], tokenize=False, add_generation_prompt=True
        )
        text = (sign * size).join(chat.rsplit(sign, 1)) if sign else chat
        tokens = torch.cat([self._tokens(text), reply], dim=1)
        if sign:
            seen["mm_token_type_ids"] = (tokens == self.model.config.image_token_id).long()
            if int(seen["mm_token_type_ids"].sum()) != size:
                raise RequestError(
                    f"the page of triple {triple.id!r} holds {sign} as a word", triple.id, "strike its line out of the table"
                )
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), **seen}
        return {name: value.to(self.model.device) for name, value in inputs.items()}

    def _tokens(self, text: str) -> torch.Tensor:
        found: torch.Tensor = self.tokenizer(text, add_special_tokens=False, return_tensors="pt").input_ids
        return found

    def mean_loss(self, triples: Sequence[Triple]) -> float:
        import torch

        with torch.no_grad():
            return sum(self.loss(triple).item() for triple in triples) / max(1, len(triples))


def open_pupil(name: str, pictures: Path, recipe: Recipe) -> Pupil:
    """Load the model, with an adapter that changes nothing yet on every linear layer outside its vision part."""
    try:
        import peft
    except ImportError as error:
        raise RequestError(f"the adapter needs peft ({error})", remedy="`pip install -e '.[train]'`") from error
    import torch
    import transformers

    sees = hasattr(transformers.AutoConfig.from_pretrained(name), "vision_config")
    kind = transformers.AutoModelForImageTextToText if sees else transformers.AutoModelForCausalLM
    device = "cuda" if torch.cuda.is_available() else "cpu"
    precise = torch.bfloat16 if device == "cuda" and torch.cuda.is_bf16_supported() else torch.float32
    torch.manual_seed(recipe.seed)
    base: Any = kind.from_pretrained(name, dtype=precise)
    base.to(device)
    base.activation_checkpointing_enable()
    eyes = r".*\b(visual|vision_\w+)\b.*" if sees else None
    sizes: dict[str, Any] = {"r": recipe.rank, "lora_alpha": recipe.alpha, "lora_dropout": 0.0}
    lora = peft.LoraConfig(**sizes, target_modules="all-linear", exclude_modules=eyes, task_type="CAUSAL_LM")
    encoders: Any = transformers
    images = encoders.AutoImageProcessor.from_pretrained(name) if sees else None
    return Pupil(peft.get_peft_model(base, lora), encoders.AutoTokenizer.from_pretrained(name), images, pictures)


def train(pupil: Pupil, triples: Sequence[Triple], recipe: Recipe, on_step: Callable[[int, int, float], None]) -> None:
    """Learn the triples one by one, each epoch in another order; `on_step(step, steps, loss)` is called after each step."""
    import torch
    from transformers import get_cosine_schedule_with_warmup

    learned = [weights for weights in pupil.model.parameters() if weights.requires_grad]
    optimizer, dice = torch.optim.AdamW(learned, lr=recipe.rate, weight_decay=0.0), random.Random(recipe.seed)
    orders = [dice.sample(triples, len(triples)) for _ in range(recipe.epochs)]
    batches = [order[at : at + recipe.accumulation] for order in orders for at in range(0, len(order), recipe.accumulation)]
    schedule = get_cosine_schedule_with_warmup(optimizer, math.ceil(recipe.warm_up * len(batches)), len(batches))
    pupil.model.train()
    for step, batch in enumerate(batches, 1):
        total = 0.0
        for triple in batch:
            loss = pupil.loss(triple)
            if not torch.isfinite(loss):
                raise RequestError(
                    f"the loss of triple {triple.id!r} is {loss.item()} at step {step}", triple.id, "strike its line out"
                )
            torch.autograd.backward(loss / len(batch))
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(learned, recipe.longest_gradient)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        on_step(step, len(batches), total / len(batch))
    pupil.model.eval()


def make_adapter(order: argparse.Namespace, output: Output) -> None:
    """Train on what people left of the triples, say how documents that were held out are rated, and save the adapter."""
    parts = {part: read_triples(order.folder, part) for part in ("train", "held_out")}
    if not parts["train"]:
        raise RequestError(
            f"{str(order.folder)!r} has no triple to learn from", str(order.folder), "make some, or strike out fewer lines"
        )
    recipe = Recipe(seed=order.seed)
    pupil = open_pupil(order.model, order.folder / PICTURES, recipe)
    before = pupil.mean_loss(parts["held_out"])
    train(pupil, parts["train"], recipe, lambda step, steps, loss: output.side.print(f"step {step} of {steps}: loss {loss:.4f}"))
    if parts["held_out"]:
        after = pupil.mean_loss(parts["held_out"])
        output.line(f"loss on {len(parts['held_out'])} triples of documents held out: {before:.4f} before, {after:.4f} after")
    pupil.model.save_pretrained(order.out)
    # ratings are kept by the name of the model that gave them: another adapter needs another one
    name = f"page-rater-{hash_bytes((order.out / WEIGHTS).read_bytes())[:8]}"
    output.line(f"the adapter is in {order.out}; serve it with --enable-lora --lora-modules {name}={order.out.absolute()}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m deployments.training.train_rater", description=__doc__)
    parser.add_argument("folder", type=Path, help="what deployments.training.triples wrote")
    parser.add_argument("--out", required=True, type=Path, metavar="ADAPTER", help="the folder that the adapter goes into")
    parser.add_argument("--model", default=BASE, help="the model that learns, by name or folder")
    parser.add_argument("--seed", type=int, default=0, help="draws the order of the triples and the first weights")
    order = parser.parse_args(arguments)
    return exit_code(lambda output: make_adapter(order, output))


if __name__ == "__main__":
    sys.exit(main())
