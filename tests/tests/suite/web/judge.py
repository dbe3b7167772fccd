"""Judges filtered pages with nothing of the filter's own: Python's HTML parser, and a scan for fences.

Reads a JSON list of {"group", "syntax", "page", "filtered": {format: text}, "written"} and prints, by
group and format, how many lines of code the pages hold and how many of them came through, and how much
of the prose is left.
"""

import html
import html.parser
import json
import re
import sys

CODE = {"pre", "code", "kbd", "samp", "tt", "textarea"}
UNSEEN = {"script", "style", "template", "noscript", "head", "svg", "button", "select"}
APART = {"p", "li", "dd", "dt", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "div", "tr", "ul"}
# Stands where something was that is no prose, so that no sentence reaches over it.
GAP = "\x00"


class Page(html.parser.HTMLParser):
    """What is code by its element, and what is said around it."""

    def __init__(self, text, inline):
        super().__init__(convert_charrefs=True)
        self.inline = inline
        self.open = []
        self.blocks, self.said, self.paragraphs = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag in CODE or tag in UNSEEN or tag == "p":
            self.open.append(tag)
        if tag == "pre" or self.inline and tag in CODE and "pre" not in self.open:
            self.blocks.append([])
        if tag in CODE or tag in UNSEEN or tag in APART or tag in ("br", "img"):
            self.said.append(GAP)
            self.paragraphs.append(GAP)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass
        if tag in CODE or tag in APART:
            self.said.append(GAP)
            self.paragraphs.append(GAP)

    def handle_data(self, data):
        if UNSEEN & set(self.open):
            return
        if "pre" in self.open or self.inline and CODE & set(self.open):
            if self.blocks:
                self.blocks[-1].append(data)
        elif not CODE & set(self.open):
            self.said.append(data)
            if "p" in self.open:
                self.paragraphs.append(data)


def read_html(text, inline=False):
    page = Page(text, inline)
    code = [line for block in page.blocks for line in "".join(block).splitlines()]
    return code, "".join(page.said), "".join(page.paragraphs)


def read_markdown(text):
    code, said, prose, fence = [], [], [], None
    for line in text.splitlines():
        mark = re.match(r"[\s>]*(?:[-*+] +)?(`{3,}|~{3,})(.*)", line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(fence) <= len(mark[1]) and not mark[2].strip():
                fence = None
            else:
                code.append(line)
            continue
        if mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            line = ""
        # Headings, items and tables are said, and are no sentences.
        plain = re.match(r" {0,3}[\w*_\[`\"']", line) and "|" not in line
        said.append(line + "\n" if line.strip() else GAP)
        prose.append(re.sub(r"^ *(?:[-*+]|\d+[.)]) +", GAP, line) + "\n" if plain else GAP)
    return code, unmarked("".join(said)), html.unescape(unmarked("".join(prose)))


def unmarked(text):
    """Markdown without what is no words: code in sentences, addresses, pictures, tags."""
    text = re.sub(r"(`+)[^\x00]+?\1", GAP, text)
    text = re.sub(r"^ *\[[^\]]*\]:.*$", GAP, text, flags=re.M)
    text = re.sub(r"!\[[^\]]*\](\([^)]*\)|\[[^\]]*\])?", GAP, text)
    text = re.sub(r"\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", text)
    return re.sub(r"<[^>]*>|https?:\S+", GAP, text)


def strings(value):
    """All strings in JSON that are words: neither names of kinds nor addresses."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from strings(part if name not in ("type", "address") else None)


def written(text, format, syntax):
    """All text that an agent reads, with a sign for what stands in the place of code."""
    text = re.sub(r"\[(?:source )?code(?: removed: [^\]]*)?\]", "¤", text)
    if format == "structured":
        return "\n".join(strings(json.loads(text)))
    if format == "summary":
        return text
    if syntax == "html":
        parser = html.parser.HTMLParser(convert_charrefs=True)
        texts = []
        parser.handle_data = texts.append
        parser.handle_starttag = lambda tag, _: texts.append(" " if tag in APART or tag == "br" else "")
        parser.handle_endtag = lambda tag: texts.append(" " if tag in APART else "")
        parser.feed(text)
        parser.close()
        return "".join(texts)
    text = re.sub(r"(?<!\\)\]\([^\s()]*\)", "]", text)
    text = re.sub(r"(?<!\\)[\[\]]", "", text)
    return html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text))


def tight(text):
    return re.sub(r"[\s\\`*_~\x00]+", "", text)


def words(text):
    return " ".join(re.findall(r"[^\W_]+", text))


def judge(case):
    """For each format: how much code there is, what came through, how much prose there is, what is lost."""
    is_small = case["group"] == "CommonMark"
    read = read_markdown if case["syntax"] == "markdown" else lambda page: read_html(page, is_small)
    code, said, paragraphs = read(case["page"])
    said = tight(said)
    lines = [line for line in map(tight, code) if (3 if is_small else 8) <= len(line)]
    lines = [line for line in lines if line not in said]
    sentences = re.split(r"[.!?:;]\s|\x00", paragraphs)
    sentences = [s for s in map(words, sentences) if (2 if is_small else 5) <= len(s.split())]
    for format, filtered in case["filtered"].items():
        out = written(filtered, format, case["written"])
        tight_out, words_out = tight(out), f" {words(out)} "
        leaked = [line for line in lines if line in tight_out]
        lost = [s for s in sentences if f" {s} " not in words_out]
        yield format, len(lines), leaked, len(sentences), lost


def main():
    verdicts = {}
    for case in json.load(sys.stdin):
        for format, n_code, leaked, n_prose, lost in judge(case):
            nothing = {"pages": 0, "code": 0, "leaked": 0, "prose": 0, "lost": 0, "examples": []}
            verdict = verdicts.setdefault((case["group"], format), nothing)
            verdict["pages"] += 1
            verdict["code"] += n_code
            verdict["leaked"] += len(leaked)
            verdict["prose"] += n_prose
            verdict["lost"] += len(lost)
            verdict["examples"] += [f"leaked: {line[:80]}" for line in leaked]
            verdict["examples"] += [f"lost: {line[:80]}" for line in lost]
            del verdict["examples"][40:]
    told = [{"group": group, "format": format} | it for (group, format), it in verdicts.items()]
    json.dump(told, sys.stdout)


main()
