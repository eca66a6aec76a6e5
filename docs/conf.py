"""The documentation's builder: Sphinx with MyST. `make docs` builds it, and a warning is an error."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

project = "Neural Reward Machines"
author = "The nrm developers"
project_copyright = author
html_title = "nrm"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_design"]
extensions += ["arguments", "notebooks", "program", "moved"]  # ours, in _ext
exclude_patterns = ["_build", "_ext", "_static"]
source_suffix = {".md": "markdown", ".ipynb": "notebook"}

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_type_aliases = {
    name: name
    for name in ("ArrayLike", "FormulaValue", "MachineLike", "RewardScheme", "Trace", "Episodes", "Observation")
}
toc_object_entries = False
maximum_signature_line_length = 76
default_role = "literal"

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["nrm.css"]
html_js_files = ["scroll.js"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": "nrm"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_nav_level": 2,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "troubleshooting": [], "glossary": [], "gallery": []}
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = False
