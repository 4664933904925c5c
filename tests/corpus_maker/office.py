"""What the three Office files share: the same bytes whenever they are made."""

from __future__ import annotations

import io
import re
import zipfile

_NEVER_LATER = (2025, 1, 2, 0, 0, 0)
_DATES = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")


def with_fixed_dates(package: bytes) -> bytes:
    """The zip package with one date for every member and for the document's own properties."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            content = old.read(name)
            if name == "docProps/core.xml":
                content = _DATES.sub(rb"\g<1>2025-01-02T00:00:00Z", content)
            member = zipfile.ZipInfo(name, _NEVER_LATER)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3
            new.writestr(member, content)
    return out.getvalue()
