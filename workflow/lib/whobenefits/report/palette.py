"""Colours and type of all figures: safe for colour-blind readers, legible in print."""

from collections.abc import Sequence

from matplotlib import colors, rc_context

# Okabe and Ito's palette, in an order in which neighbours differ in lightness too.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#6b6b6b"
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    # Text stays text in SVG, and two runs make the same bytes.
    "svg.fonttype": "none",
    "svg.hashsalt": "whobenefits",
    "pdf.fonttype": 42,
}


def style() -> rc_context:
    """The style, as a context."""
    return rc_context(STYLE)


def shades(hue: str, names: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """From the full hue to a light one, one shade for each name."""
    base = colors.to_rgb(hue)
    steps = [0.65 * i / max(1, len(names) - 1) for i in range(len(names))]
    return {name: tuple(c + (1 - c) * step for c in base) for name, step in zip(names, steps, strict=True)}


def pair_colours(llms: Sequence[str], retrievers: Sequence[str]) -> dict[tuple[str, str], tuple[float, float, float]]:
    """A hue for each LLM, a shade of it for each retriever."""
    shaded = {llm: shades(HUES[i % len(HUES)], retrievers) for i, llm in enumerate(llms)}
    return {(llm, retriever): shaded[llm][retriever] for llm in llms for retriever in retrievers}
