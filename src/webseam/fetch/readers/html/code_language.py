"""The language of a code block, from whichever attribute or class its highlighter left it in.

Names stay as the page has them (`js` stays `js`): they are what its author wrote. Only what a highlighter made of a
name is undone: GitHub's scopes, Pygments' versions of Python.
"""

from __future__ import annotations

import re
from typing import Any, Final

_FROM_CLASS = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-|src-|source-|ltx_lst_language_|highlight hl-)(\S+)"
    r"|(?:^|\s)lang(?:uage)?:\s*([\w+#-]+)"
)
_FROM_BRUSH = re.compile(r"brush:\s*([\w+#-]+)")
_SCOPE: Final = re.compile(r"(?:^|\s)highlight-(?:source|text)-(\S+)")
_ATTRIBUTES: Final = (
    "data-language",
    "data-lang",
    "data-code-language",
    "data-code-wrap",
    "data-enlighter-language",
    "data-syntaxhighlighter-params",
    "language",
)
# Classes beside which one lone word is a language: `hljs python`, `sourceCode rust`.
_SURE: Final = frozenset({"hljs", "sourceCode", "syntaxhighlighter"})
# And beside which it is one when it is a known one: `highlight ruby`, but `highlight wide`.
_LONE: Final = _SURE | frozenset("highlight prettyprint src code hl codehilite code-block highlighter literal".split())
_OF_ONE: Final = {"rust": "rust", "RktBlk": "racket", "mermaid": "mermaid"}  # classes of the tools of one language
_KNOWN: Final = frozenset(
    "ada agda apache applescript arduino asm assembly awk bash basic bat batch bibtex c c++ clojure cmake cobol "
    "coffeescript console cpp crystal cs csharp css cuda cython d dart delphi diff docker dockerfile dosini elixir elm "
    "erb erlang fish fortran fsharp gherkin glsl go gradle graphql groovy haml haskell hcl html http idris ini java "
    "javascript jinja js json json5 jsonc jsx julia kotlin latex lean lean4 less lisp lua make makefile markdown "
    "mathematica matlab mermaid nginx nim nix objc objective-c objectivec ocaml octave pascal patch perl php "
    "powershell proto protobuf ps1 puppet purescript pycon python qml r racket rb reason rst ruby rust sass scala "
    "scheme scss sh shell shell-session smalltalk sml solidity sql svelte swift systemverilog tcl terraform tex toml "
    "ts tsx twig typescript vb vbnet verilog vhdl vim vue wasm xml xquery yaml yml zig zsh".split()
)
_NO_LANGUAGE: Final = frozenset(
    "none default text plain plaintext plain-text txt nohighlight no-highlight undefined unknown auto hljs notranslate "
    "literal highlight code source sourcecode line-numbers numbers container wrapper block nocode lineno pre inline "
    "snippet example wrap table toolbar body header title group copy line lines content area box theme dark light "
    "prettyprinted linenums literal-block numberlines nolinks fenced show hide shiki editor viewer".split()
)
_NAMES: Final = {  # what Pygments and Shiki call a language that is one of its versions
    "python3": "python",
    "ipython3": "python",
    "ipython": "python",
    "py3": "python",
    "shellscript": "bash",
}
_SCOPES: Final = {  # GitHub gives the scope of its grammar instead of the name
    "shell": "bash",
    "c++": "cpp",
    "cs": "csharp",
    "objc": "objective-c",
    "viml": "vim",
    "batchfile": "batch",
    "html-basic": "html",
    "html-erb": "erb",
    "html-php": "php",
    "html-django": "jinja",
    "css-scss": "scss",
    "css-less": "less",
    "json-comments": "jsonc",
    "python-traceback": "pytb",
    "xml-svg": "svg",
    "md": "markdown",
    "gfm": "markdown",
}
_TOKEN = re.compile(r"[\w+#.-]{1,30}")
_PLAIN_NAME = re.compile(r"(?!hljs|line|ltx_|highlight)[A-Za-z][A-Za-z0-9+#]*")
_ANCESTORS: Final = 5  # a language stands on the block or on one of the few wrappers around it
_INNER: Final = 4  # or on a part of it; more parts are lines
_NO_WRAPPERS: Final = frozenset({"body", "article", "main", "section", "li", "td"})


def language_of(node: Any) -> str:
    """Return the language a block is marked with, on itself, its `code` or a wrapper; "" when nobody says."""
    for element in (
        *node.select("code[class], code[language], pre[class], [data-lang], [data-language]")[:_INNER],
        node,
    ):
        found = _marked(element, is_wrapper=False)
        if found:
            return found
    for depth, ancestor in enumerate(node.ancestors):
        if depth >= _ANCESTORS or getattr(ancestor, "tag", "body") in _NO_WRAPPERS:
            break
        found = _marked(ancestor, is_wrapper=True)
        if found:
            return found
    return ""


def _marked(element: Any, *, is_wrapper: bool) -> str:
    for name in (*_ATTRIBUTES, *(() if is_wrapper else ("lang",))):
        value = element.attr(name)
        if value:
            brush = _FROM_BRUSH.search(value)
            found = _named(brush[1] if brush else value)
            if found:
                return found
    classes = element.attr("class") or ""
    if not classes:
        return ""
    brush = _FROM_BRUSH.search(classes)
    if brush:
        return _named(brush[1])
    scope = _SCOPE.search(classes)
    if scope:
        return _SCOPES.get(scope[1].lower()) or _named(scope[1])
    for match in _FROM_CLASS.finditer(classes):
        found = _named(match[1] or match[2])
        if found:
            return found
    return _lone(classes.split(), element.tag, is_wrapper=is_wrapper)


def _lone(tokens: list[str], tag: str, *, is_wrapper: bool) -> str:
    """Return the word that stands alone beside a highlighter's own class."""
    if is_wrapper and (tag not in ("figure", "div") or len(tokens) > 2):  # as Hexo has it; a `div` of a theme has more
        return ""
    if not is_wrapper and (own := next((token for token in tokens if token in _OF_ONE), None)):
        return _OF_ONE[own]
    if _LONE.isdisjoint(tokens):
        return ""
    words = (token for token in tokens if token not in _LONE and _PLAIN_NAME.fullmatch(token))
    named = [name for name in map(_named, words) if name]
    if len(named) != 1 or (_SURE.isdisjoint(tokens) and named[0] not in _KNOWN):
        return ""
    return named[0]


def _named(value: str) -> str:
    value = value.strip().lower()
    if not _TOKEN.fullmatch(value) or value in _NO_LANGUAGE:
        return ""
    return _NAMES.get(value, value)
