"""Whether an answer says that there is none."""

from __future__ import annotations

import re

_NOTHING = re.compile(
    r"""\W*(?:
    (?:the\s+)?(?:question|answer|information|this|it)?\s*(?:is|was|are|can|could)?\s*
    (?:not\s+(?:be\s+)?|un|can\s?not\s+be\s+|(?:is|was|ca|could)n['\u2019]t\s+(?:be\s+)?)
    (?:answerable|answered|determined|found|reported|stated|mentioned|given|provided|specified|available|known)\b
      (?:\s+(?:in|by|from)\b.{0,60})?
    | (?:the\s+|these\s+|this\s+)?(?:documents?|texts?|passages?|report|paper)\s+(?:do|does)(?:\s+not|n['\u2019]t)\s+
      (?:say|state|mention|report|contain|provide|give|specify|show|answer|include|tell|name|list|disclose)\b.*
    | no\s+(?:answer|information|evidence)\b.{0,60}
    | (?:insufficient|not\s+enough)\s+(?:information|evidence|data)\b.{0,60}
    | (?:fail(?:ed|s)?|unable)\s+to\s+(?:answer|find|determine)\b.{0,60}
    | i\s+(?:do\s+not|don['\u2019]t)\s+know
    | none | n/?a
    )\W*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def abstains(answer: str) -> bool:
    """Tell whether the whole answer says that nothing answers the question; an empty one does."""
    said = " ".join(answer.split())
    return not said or _NOTHING.fullmatch(said) is not None
