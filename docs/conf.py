"""How the documentation site is built: ``make docs``. Offline: no outside script, style, font or inventory."""

from typing import Any

from publius import __version__

project = "Publius"
author = "The Publius developers"
copyright = "The Publius developers"  # the name Sphinx wants
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
nitpicky = False
exclude_patterns = ["figures"]
suppress_warnings: list[str] = []

myst_enable_extensions = ["deflist", "html_image"]
myst_heading_anchors = 4

default_role = "py:obj"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autoclass_content = "both"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"Publius {version}"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False


def _keep_colons(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """The first line of an attribute's docstring may hold a colon: it is no type, as napoleon would have it."""
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]  # an empty comment


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _keep_colons, priority=400)
