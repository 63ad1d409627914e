"""Figures as SVG text: drawn by matplotlib, colored by the page, so that one file suits light and dark."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from publius.errors import extra
from publius.files.child import away

# Colors that no figure uses otherwise, each replaced by a variable of the page's style sheet.
INK: Final = "#010203"
GRID: Final = "#040506"
SERIES: Final = tuple(f"#{index:02x}0709" for index in range(0x11, 0x19))
_VARIABLES: Final = {INK: "var(--ink)", GRID: "var(--grid)"} | {
    color: f"var(--series-{index})" for index, color in enumerate(SERIES, start=1)
}

STYLE: Final[dict[str, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "publius",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": GRID,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": GRID,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "lines.linewidth": 2,
    "lines.markersize": 5,
}


def library() -> Any:
    """Matplotlib, which has read no settings of the working folder; `MissingExtraError` without it."""
    with extra("evaluation", "matplotlib"), away():
        import matplotlib
    return matplotlib


def pyplot() -> Any:
    """Matplotlib's, drawing SVG; `MissingExtraError` without it."""
    library().use("svg")
    from matplotlib import pyplot as found

    return found


@contextmanager
def drawing() -> Iterator[Any]:
    """Pyplot in our style, and in nobody else's: a page is drawn again, elsewhere too, to check it."""
    plt = pyplot()
    with plt.style.context(["default", STYLE]):
        yield plt


def svg(figure: Any) -> str:
    """The figure as an ``svg`` element without size, ids of its own, and the page's colors."""
    stream = io.StringIO()
    # `savefig` would lay the figure out in a drawing of its own before this one.
    figure.canvas.print_svg(stream, metadata={"Date": None, "Creator": None})
    pyplot().close(figure)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for color, variable in _VARIABLES.items():
        text = text.replace(color, variable)
    return _own_ids(text)


def _own_ids(text: str) -> str:
    """Ids made unique to the figure: a page has several, and each would use the first one's marks."""
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    text = re.sub(r'\bid="([^"]+)"', rf'id="{mark}-\1"', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{mark}-\1"', text)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{mark}-\1)", text)
