"""The site: pages in Markdown, examples that are run, and the reference from docstrings."""

import os
import re
import shutil
from pathlib import Path

import sphinx.ext.autosummary as autosummary
from sphinx_gallery.sorting import ExplicitOrder

import subridge

# A summary is a docstring's first sentence, which these do not end.
autosummary.WELL_KNOWN_ABBREVIATIONS += (
    "Prop.",
    "eq.",
    "eqs.",
    "sec.",
    "Fig.",
    "Figs.",
)

# Signatures in tables may break between parameters; Sphinx would put spaces there that do not.
autosummary.autosummary_table_visit_html = lambda self, node: None

HERE = Path(__file__).parent

# Examples are run with a thread of BLAS, so that a build takes as long on a busy machine as on a quiet one.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def adopt(source: Path, target: Path) -> None:
    """Make a page of a file that lives outside of this folder; links into this folder lose their way here."""
    target.parent.mkdir(exist_ok=True)
    text = re.sub(r"\]\(docs/", "](", source.read_text(encoding="utf-8"))
    text = text.replace("](CONTRIBUTING.md", "](contributing.md")
    if not text.startswith("# "):
        text = f"# {source.stem.replace('_', ' ')}\n\n{text}"
    target.write_text(text, encoding="utf-8")


adopt(HERE.parent / "CHANGELOG.md", HERE / "adopted" / "changelog.md")
adopt(HERE.parent / "CONTRIBUTING.md", HERE / "adopted" / "contributing.md")
for page in sorted((HERE.parent / "benchmarks" / "results").glob("*.md")):
    adopt(page, HERE / "adopted" / page.name)
for picture in sorted((HERE.parent / "benchmarks" / "results").glob("growth-*.png")):
    shutil.copy2(picture, HERE / "adopted" / picture.name)


def write_explorer(app) -> None:
    """The explorer beside the pages, under its own address."""
    from subridge.explorer.page import write_explorer as write

    (Path(app.outdir) / "explorer").mkdir(parents=True, exist_ok=True)
    write(Path(app.outdir) / "explorer" / "index.html")


def point_to_adopted(app, document, content):
    """Links to files outside of this folder go to the pages made of them."""
    up = "../" * (1 + document.count("/"))
    for name, page in (("CHANGELOG", "changelog"), ("CONTRIBUTING", "contributing")):
        content[0] = content[0].replace(
            f"]({up}{name}.md", f"]({up[3:]}adopted/{page}.md"
        )
    content[0] = content[0].replace(f"]({up}benchmarks/results/", f"]({up[3:]}adopted/")
    if document.startswith("adopted/"):
        beside = "|".join(
            re.escape(page.stem) for page in (HERE / "adopted").glob("*.md")
        )
        content[0] = re.sub(rf"\]\((?!https?:|#|\.\./|{beside})", "](../", content[0])


def keep_numbers_together(app, document, content):
    """A number in a table stands on one line with its unit, its standard error or the number it is compared to."""
    apart = re.compile(
        r"(?<=[\d)]) (?=(?:[±/→] [.\d−-]|(?:s|ms|%|minutes|hours|GiB|MB) *\|))|(?<=\d [±/→]) (?=[.\d−-])"
    )
    content[0] = re.sub(
        r"^\|.*$", lambda row: apart.sub("\u00a0", row[0]), content[0], flags=re.M
    )


def leave_out_of_scikit_learn(app, what, name, member, skip, options):
    """Methods that scikit-learn makes are documented there, with links that lead nowhere here."""
    return (
        skip
        or name.startswith("set_")
        or name in ("get_params", "get_metadata_routing", "score")
    )


def setup(app):
    app.connect("builder-inited", write_explorer)
    app.connect("source-read", point_to_adopted)
    app.connect("source-read", keep_numbers_together)
    app.connect("autodoc-skip-member", leave_out_of_scikit_learn)


project = "subridge"
author = "The subridge developers"
copyright = f"2026, {author}"
version = release = subridge.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "**/README.md", "**/GALLERY_HEADER.rst"]
nitpicky = False

templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples", "../tutorials"],
    "gallery_dirs": ["gallery", "tutorials"],
    "filename_pattern": r"/plot_|/tutorials/",
    "subsection_order": ExplicitOrder(
        [
            f"../examples/{name}"
            for name in (
                "tables",
                "choosing",
                "forecasting",
                "theory",
                "beyond",
                "experiments",
            )
        ]
        + ["*"]
    ),
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 60,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,  # that page would ask other hosts for scripts
    "download_all_examples": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "subridge"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_extra_path = [
    "_extra"
]  # favicon.ico, which browsers ask for on pages that name no icon, as the explorer
html_search_scorer = str(HERE / "_static" / "scorer.js")
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
