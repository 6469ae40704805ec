"""How long the sentences of pages and docstrings are: ``python tools/readability.py [--long] [--sample N]``.

Code, tables, formulas and lists of options are left out. A formula or a name in a sentence counts as a word.
Pages that users read count: not decisions, measurements, licences and what else lies in the section on development.
"""

import argparse
import ast
import inspect
import random
import re
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).parents[1]
NOT_FOR_USERS = {
    *("decisions", "development.md", "measured", "adopted", "gallery", "tutorials", "_build", "api"),
    *("licences.md", "benchmarks.md", "classification_tables.md"),
}
# A full stop behind these ends no sentence.
ABBREVIATIONS = re.compile(r"\b(eqs?|figs?|props?|secs?|e\.g|i\.e|vs|cf|al|etc|s\.e|ref)\.", re.IGNORECASE)
LONG = 30


def sentences_of(paragraph):
    """The sentences of a paragraph of prose, with markup taken off."""
    text = re.sub(r"``?[^`]+``?|\$[^$]+\$|<[^>]+>", "name", paragraph)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"[*_]{1,2}(\S[^*_]*)[*_]{1,2}", r"\1", text)
    text = ABBREVIATIONS.sub(lambda match: match.group().replace(".", "·"), " ".join(text.split()))
    found = re.split(r"(?<=[.!?])[)\"”*]*\s+(?=[^a-zα-ω])|(?<=[.!?])\s+(?=name)|:\s*$", text)
    # What has no verb's worth of words is a label.
    return [each.replace("·", ".") for each in found if each and len(words(each)) > 3]


def words(sentence):
    return [word for word in sentence.split() if re.search(r"\w", word)]


def prose_of_fence(match):
    """What a fenced block says in words: a note or a caption does, code does not."""
    if not re.match(r"\{(figure|note|tip|warning)\}", match["name"]):
        return "\n"
    return "\n" + re.sub(r"^:\w.*\n", "", match["body"], flags=re.MULTILINE) + "\n"


def blocks_of_markdown(text):
    """Paragraphs and items of lists."""
    text = re.sub(
        r"^(`{3,})(?P<name>[^\n]*)\n(?P<body>.*?)^\1 *$", prose_of_fence, text, flags=re.MULTILINE | re.DOTALL
    )
    text = re.sub(r"\$\$.*?\$\$", "\n", text, flags=re.DOTALL)
    lines = [
        line for line in text.splitlines() if not re.match(r"\s*(\||#|:\w|:{3,}|\(\w+\)=|\^\^\^|\+\+\+|---)", line)
    ]
    text = re.sub(r"\n\s*(?:[-*+]|\d+\.) ", "\n\n", "\n".join(lines))
    return re.split(r"\n\s*\n", text)


def blocks_of_docstring(text):
    """Summary, paragraphs and descriptions; no examples, no lines of names and types."""
    text = re.split(r"\n(?:Examples|References|See Also)\n-+\n", inspect.cleandoc(text))[0]
    text = re.sub(r"^.*\n-{3,}$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\w[^.\n]*\n(?= {4})", "\n", text, flags=re.MULTILINE)  # types that are returned
    text = re.sub(r"^\S.*\s:\s.*$|^(?:>>>|\.\.\. |\.\. ).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"\n\s*(?:[-*]|\d+\.) ", "\n\n", text)
    text = re.sub(r"::\n(\n\s+.*)+", "\n", text)
    return re.split(r"\n\s*\n", text)


def docstrings(path):
    """Docstrings of a module, its public classes and functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        is_definition = isinstance(node, (ast.ClassDef, ast.FunctionDef))
        if is_definition and not node.name.startswith("_") and (text := ast.get_docstring(node)):
            yield text


def gather():
    """Sentences by source: pages, docstrings and the texts of examples."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    examples = sorted((ROOT / "examples").rglob("*.py"))
    found = {"pages": [], "docstrings": [], "examples": []}
    for page in pages:
        if not NOT_FOR_USERS & set(page.relative_to(ROOT).parts):
            blocks = blocks_of_markdown(page.read_text(encoding="utf-8"))
            found["pages"] += [(page, each) for block in blocks for each in sentences_of(block)]
    for module in sorted((ROOT / "src").rglob("*.py")):
        for text in docstrings(module):
            found["docstrings"] += [(module, each) for b in blocks_of_docstring(text) for each in sentences_of(b)]
    for example in examples:
        text = example.read_text(encoding="utf-8")
        prose = [ast.get_docstring(ast.parse(text)) or "", *re.findall(r"^# %%\n((?:#.*\n)+)", text, re.MULTILINE)]
        for block in "\n\n".join(re.sub(r"^# ?", "", part, flags=re.MULTILINE) for part in prose).split("\n\n"):
            block = re.sub(r"^.*\n[=-]{3,}$", "", block, flags=re.MULTILINE)
            found["examples"] += [(example, each) for each in sentences_of(block)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help=f"print every sentence of more than {LONG} words")
    parser.add_argument(
        "--sample", type=int, default=0, help="print so many sentences of pages and docstrings, drawn at random"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = gather()
    print("| | sentences | words a sentence | over 30 words |\n|---|---|---|---|")
    together = [entry for each in found.values() for entry in each]
    for name, entries in [*found.items(), ("all", together)]:
        if entries:
            lengths = [len(words(sentence)) for _, sentence in entries]
            share = mean(length > LONG for length in lengths)
            print(f"| {name} | {len(lengths)} | {mean(lengths):.1f} | {100 * share:.1f} % |")
    everything = [entry for name in ("pages", "docstrings") for entry in found[name]]
    for path, sentence in random.Random(options.seed).sample(everything, options.sample):
        print(f"- {path.relative_to(ROOT)}: {sentence}")
    if options.long:
        for path, sentence in sorted(together, key=lambda e: str(e[0])):
            if len(words(sentence)) > LONG:
                print(f"- {path.relative_to(ROOT)} ({len(words(sentence))}): {sentence}")


if __name__ == "__main__":
    main()
