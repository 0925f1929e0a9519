"""The figures' SVG as parts of the page."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

# Bytes of all figures inside the page together; those that do not fit are named there and lie beside it.
ROOM = 4_000_000


def figure_parts(figures: Mapping[str, str | Path], room: int = ROOM) -> dict[str, dict[str, Any]]:
    """For each figure by name its `svg` for the page, None where it does not fit any more, and its `path` beside it."""
    parts, left = {}, room
    for name, path in figures.items():
        svg = inline_svg(Path(path).read_text(encoding="utf-8"), name)
        size = len(svg.encode())
        fits = size <= left
        left -= size if fits else 0
        parts[name] = {"svg": svg if fits else None, "path": f"figures/{Path(path).name}"}
    return parts


def inline_svg(text: str, name: str) -> Markup:
    """An SVG of ours for a page: without the XML head, with ids of its own so that figures do not share clip paths.

    It shrinks to no less than four fifths of its own width, so that its text stays legible; narrow screens scroll.
    """
    body = text[text.index("<svg") :]
    # A point is 4/3 of a page's pixels.
    body = re.sub(
        r'<svg ([^>]*?width="([\d.]+)pt")', lambda m: f'<svg style="{_widths(float(m[2]))}" {m[1]}', body, count=1
    )
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r"url\(#", f"url(#{name}-", body)
    body = re.sub(r'xlink:href="#', f'xlink:href="#{name}-', body)
    return Markup(re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S))


def _widths(points: float) -> str:
    pixels = points * 4 / 3
    return f"min-width: {pixels * 0.8:.0f}px; max-width: {max(pixels, 928):.0f}px"
