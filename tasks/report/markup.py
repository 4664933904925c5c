"""The one place where text becomes HTML: everything is escaped here, whatever it says and wherever it comes from."""

import html
import re
from collections.abc import Iterable
from pathlib import Path
from string import Template

HIDDEN_SIGNS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Signs that a terminal or a browser obeys, or that no file can hold: controls, changes of direction, halves of pairs."""
VOID = frozenset({"br", "img", "link", "meta"})


class Markup(str):
    """Finished HTML. Whatever is no Markup is text, and is escaped before it stands in a page."""

    __slots__ = ()


def escape(text: str) -> Markup:
    """Return the text as HTML that shows it: no tag, no quote, no control of it works, hidden signs are written out."""
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(HIDDEN_SIGNS.sub(_written_out, text.replace("\r\n", "\n"))))


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode()


def join(parts: Iterable[str], between: str = "") -> Markup:
    """Return the parts one after the other, each escaped where it is text."""
    return Markup(escape(between).join(escape(part) for part in parts))


def tag(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """Return an element. An attribute of None is left out; `class_` stands for class, `aria_label` for aria-label."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"' for key, value in attributes.items() if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.4f}".rstrip("0").rstrip(".")


def fill(path: Path, **slots: str) -> Markup:
    """Return the template with every slot filled, text escaped; raise ValueError where slots and values do not match."""
    template = Template(path.read_text("utf-8"))
    if odd := set(template.get_identifiers()) ^ set(slots):
        raise ValueError(f"template {path.name} and its values differ in {sorted(odd)}; fill every slot and no other")
    return Markup(template.substitute({name: escape(value) for name, value in slots.items()}))
