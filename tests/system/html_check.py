#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""html_check.py FILE [TEXT...]: the page of `report --html` is well formed, runs and fetches nothing, and shows each TEXT."""
import html.parser
import sys

VOID = {"meta", "br"}
TAGS = VOID | set(
    "html head title style body header main section footer article div span p h1 h2 h3 b i bdi code ul li dl dt dd details summary svg g rect".split()
)
ATTRIBUTES = set(
    "lang charset name content http-equiv class title open viewbox preserveaspectratio role aria-label x y width height".split()
)


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.text, self.counts = [], [], {}

    def handle_starttag(self, tag, attributes):
        assert tag in TAGS, f"line {self.getpos()[0]}: an element <{tag}>"
        for name, value in attributes:
            assert name in ATTRIBUTES, f"line {self.getpos()[0]}: an attribute {name}={value!r} of <{tag}>"
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack and self.stack[-1] == tag, f"line {self.getpos()[0]}: </{tag}> ends {self.stack[-1:]}"
        self.stack.pop()

    def handle_data(self, data):
        if self.stack[-1:] != ["style"]:
            self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError("a comment")


raw = open(sys.argv[1], encoding="utf-8", errors="strict").read()
page = Page()
page.feed(raw)
page.close()
assert not page.stack, f"not ended: {page.stack}"
text = "".join(page.text)
for wanted in sys.argv[2:]:
    assert wanted in text, f"the page does not show {wanted!r}"
bad = [c for c in raw if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or 0x202A <= ord(c) <= 0x202E or 0x2066 <= ord(c) <= 0x2069]
assert not bad, f"control characters: {bad!r}"
assert page.counts.get("title") == 1 + raw.count("<g>"), "titles"
print(len(raw), "bytes,", text.count("created") + text.count("deleted"), "rows")
