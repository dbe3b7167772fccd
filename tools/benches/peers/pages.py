"""Takes pages apart as one usually does in Python, and says how many seconds that takes.

The pages are in a folder that is named on the command line. Each line of the input is a way, and is
answered by a line with the seconds that all pages together took.
"""

import pathlib
import sys
import time

import bs4
import lxml
import trafilatura

CODE = ["pre", "code", "kbd", "samp", "tt", "textarea", "script", "style", "template", "noscript", "svg"]


def without_code(page):
    """The page without its elements of code: no look at words, attributes or comments."""
    soup = bs4.BeautifulSoup(page, "lxml")
    for tag in soup(CODE):
        if not tag.decomposed:
            tag.decompose()
    return str(soup)


WAYS = {"bs4": without_code, "trafilatura": trafilatura.extract}


def main():
    pages = [file.read_text("utf-8") for file in sorted(pathlib.Path(sys.argv[1]).iterdir())]
    versions = f"bs4 {bs4.__version__}, lxml {lxml.__version__}, trafilatura {trafilatura.__version__}"
    print(versions, flush=True)
    for line in sys.stdin:
        way = WAYS[line.strip()]
        began = time.perf_counter()
        for page in pages:
            way(page)
        print(time.perf_counter() - began, flush=True)


main()
