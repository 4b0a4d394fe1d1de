"""From HTML to Markdown: blocks, marks, links, lists, notes; and pages made to break a converter."""

from __future__ import annotations

import re

import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.fetch.readers.html.convert import Converted, to_markdown
from webseam.fetch.types import Link

BASE = "https://docs.example/guide/page.html"


def convert(html: str, title: str | None = None) -> Converted:
    return to_markdown(turbohtml.parse(html), BASE, title=title)


def table(rows: str) -> list[object]:
    """Return parameters from text: `id`, a line `<<<`, HTML, a line `>>>`, Markdown; separated by `===`."""
    found: list[object] = []
    for row in rows.strip("\n").split("\n===\n"):
        name, rest = row.split("\n<<<\n")
        html, markdown = rest.split("\n>>>\n")
        found.append(pytest.param(html, markdown + "\n", id=name))
    return found


@pytest.mark.parametrize(
    ("html", "markdown"),
    table(r"""
heading without its link mark
<<<
<h2 id="a-b">A <code>b</code> <b>c</b><a class="headerlink" href="#a-b">¶</a></h2><p>x
>>>
## A `b` c

x
===
link marks of several generators
<<<
<h2 class="anchor">One<a class="hash-link" href="#x" title="Direct link">​</a></h2><h3>Two <a href="#two">#</a></h3>
<div class="markdown-heading"><h4>Three</h4><a class="anchor" href="#three"><svg></svg></a></div>
>>>
## One

### Two

#### Three
===
heading that is never closed
<<<
<h2>Title<p>one<p>two
>>>
## Title

one

two
===
white space moves outside of marks and equal neighbours merge
<<<
a<b> bold </b>c <b>a</b><b>b</b> <i>it</i> <s>no</s> <b></b>
>>>
a **bold** c **ab** *it* ~~no~~
===
marks that would show are left out
<<<
<b>Note:</b>text
>>>
Note:text
===
line breaks
<<<
<p>c<br>d<br><br>e</p>f
>>>
c
d

e

f
===
quotes inside each other and a rule
<<<
<hr><blockquote><p>a</p><blockquote>b</blockquote></blockquote><hr><p>c
>>>
> a
>
> > b

---

c
===
nested lists, loose items, numbers
<<<
<ul><li>a<ul><li>b<li>c</ul><li><p>d</p><p>e</p><li>f</ul><ol start=3><li>x<pre>c
d</pre><li value=9>y<ol><li>z</ol></ol>
>>>
- a
  - b
  - c
- d

  e

- f

3. x

   ```
   c
   d
   ```

9. y
   1. z
===
a list right inside a list
<<<
<ul><li>a</li><ul><li>b</li></ul><li></li><li>c</li></ul>
>>>
- a
  - b
- c
===
task list
<<<
<ul><li><input type=checkbox checked> done<li><label><input type=checkbox>open</label></ul>
>>>
- [x] done
- [ ] open
===
short definitions are a list
<<<
<dl><dt>a<dd>b<dt>c<dt>d<dd>e<dd>f</dl>
>>>
- **a**: b
- **c**, **d**: e
  f
===
definitions of an interface are sections
<<<
<dl><dt class="sig" id="m.f"><span>m.</span>f(<em>x</em>)<a class="headerlink" href="#m.f">¶</a>
<dd><p>Text.</p><pre>code</pre></dl>
>>>
**`m.f(x)`**

Text.

```
code
```
===
powers and ordinals
<<<
10<sup>6</sup> 1<sup>st</sup> H<sub>2</sub>O
>>>
10^6 1st H2O
===
details
<<<
<details><summary>More</summary><p>hidden until opened</p></details>
>>>
**More**

hidden until opened
===
buttons, scripts and fields say nothing
<<<
<p>a<button>Copy</button><script>x()</script><style>p{}</style><select><option>o</select><svg><text>s</text></svg>b
>>>
ab
"""),
)
def test_an_element_becomes_markdown(html: str, markdown: str) -> None:
    assert convert(html).markdown == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        pytest.param(
            "snake_case *args 2 * 3 &lt; 4 &amp; [x] C:\\dir it's `", "snake_case *args 2 * 3 < 4 & [x] C:\\dir it's `"
        ),
        pytest.param("__init__ *a* `x` `y`", r"\_\_init\_\_ \*a\* \`x\` \`y\`"),
        pytest.param("[a](b) ![c](d)", r"\[a](b) !\[c](d)"),
        pytest.param("&lt;div&gt; Vec&lt;T&gt; &amp;lt;", r"\<div> Vec\<T> \&lt;"),
        pytest.param(
            "<p># no<p>1. no<p>- no<p>&gt; q<p>---<p>```js",
            "\\# no\n\n1\\. no\n\n\\- no\n\n\\> q\n\n\\---\n\n\\`\\`\\`js",
        ),
        pytest.param("<h2>C #</h2>", "## C \\#"),
        pytest.param("Look!<a href='/x'>here</a>", "Look\\![here](https://docs.example/x)"),
        pytest.param("<a href='/x'>a] b</a>", "[a\\] b](https://docs.example/x)"),
        pytest.param("a&nbsp;b\n  c", "a b c"),
    ],
)
def test_text_is_escaped_only_where_it_would_be_markup(html: str, markdown: str) -> None:
    assert convert(html).markdown == markdown + "\n"


def test_links_are_absolute_and_listed_once() -> None:
    read = convert(
        "<a href='other.html'>one</a> <a href='/x y(z'>two</a> <a href='other.html'>again</a> <a href='#in'>inside</a> "
        f"<a href='{BASE}#in'>inside</a> <a href='javascript:x()'>script</a> <a href='data:text/html,x'>data</a> "
        "<a href='mailto:a@b.example'>a@b.example</a> <a href='https://b.example/'>https://b.example/</a> "
        "<a href='http://['>bad</a>"
    )
    assert read.markdown == (
        "[one](https://docs.example/guide/other.html) [two](https://docs.example/x%20y%28z) "
        "[again](https://docs.example/guide/other.html) inside inside script data a@b.example https://b.example/ bad\n"
    )
    assert read.links == (
        Link(text="one", url="https://docs.example/guide/other.html"),
        Link(text="two", url="https://docs.example/x%20y%28z"),
        Link(text="a@b.example", url="mailto:a@b.example"),
        Link(text="https://b.example/", url="https://b.example/"),
    )


def test_a_link_around_blocks_is_a_link_once() -> None:
    assert convert("<a href='/u'><h3>T</h3><p>words</p></a>").markdown == "### [T](https://docs.example/u)\n\nwords\n"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        pytest.param('<img src="a.png" alt="A cat">', "[image: A cat](https://docs.example/guide/a.png)\n", id="alt"),
        pytest.param('<img src="a.png">', "[image](https://docs.example/guide/a.png)\n", id="no alt"),
        pytest.param('<img src="a.png" alt="">', "", id="decoration"),
        pytest.param('<img src="a.png" width="1" height="1">', "", id="counting pixel"),
        pytest.param(
            '<img src="data:image/gif;base64,AA" data-src="/l.jpg" alt="l">',
            "[image: l](https://docs.example/l.jpg)\n",
            id="lazy",
        ),
        pytest.param(
            '<a href="/t"><img src="t.png" alt="thumb"></a>', "[image: thumb](https://docs.example/t)\n", id="in a link"
        ),
        pytest.param('<img class="emoji" src="e.png" alt="🎉">', "🎉\n", id="emoji"),
    ],
)
def test_an_image_is_words_and_a_link_never_an_image(html: str, markdown: str) -> None:
    assert convert(html).markdown == markdown


@pytest.mark.parametrize(
    ("html", "title"),
    [
        pytest.param(
            '<div class="admonition warning"><p class="admonition-title">Warning</p><p>Hot.</p></div>',
            "Warning",
            id="sphinx",
        ),
        pytest.param(
            '<div class="admonition note"><p class="admonition-title">Mind this</p><p>Hot.</p></div>',
            "Note: Mind this",
            id="mkdocs",
        ),
        pytest.param(
            '<details class="tip"><summary>Try</summary><p>Hot.</p></details>', "Tip: Try", id="mkdocs details"
        ),
        pytest.param(
            '<div class="theme-admonition theme-admonition-tip admonition_x alert alert--success">'
            '<div class="admonitionHeading_a">'
            '<span class="admonitionIcon_b"><svg></svg></span>tip</div><div class="admonitionContent_c"><p>'
            "Hot.</p></div></div>",
            "Tip",
            id="docusaurus",
        ),
        pytest.param(
            '<div class="markdown-alert markdown-alert-important"><p class="markdown-alert-title"><svg></svg>'
            "Important</p>"
            "<p>Hot.</p></div>",
            "Important",
            id="github",
        ),
        pytest.param(
            '<div class="custom-block danger"><p class="custom-block-title">STOP</p><p>Hot.</p></div>',
            "Danger: STOP",
            id="vitepress",
        ),
        pytest.param(
            '<div class="admonitionblock tip"><table><tr><td class="icon"><div class="title">Tip</div></td>'
            '<td class="content">Hot.</td></tr></table></div>',
            "Tip",
            id="asciidoctor",
        ),
        pytest.param('<div class="WARNING alert"><p>Warning</p><p>Hot.</p></div>', "Warning", id="microsoft"),
        pytest.param('<div class="warning"><p>Hot.</p></div>', "Warning", id="rustdoc"),
    ],
)
def test_an_admonition_is_a_quote_with_its_kind(html: str, title: str) -> None:
    assert convert(html).markdown == f"> **{title}**\n>\n> Hot.\n"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        pytest.param(
            '<h2><a class="toc-backref" href="#id5" role="doc-backlink">Use</a>'
            '<a class="headerlink" href="#use">¶</a></h2>',
            "## Use\n",
            id="leads back to the contents",
        ),
        pytest.param('<h3><img src="icon.png">Loft</h3>', "### Loft\n", id="with an icon"),
        pytest.param(
            '<h3><img src="/l.png" alt="Logo"></h3>', "### [image: Logo](https://docs.example/l.png)\n", id="a logo"
        ),
    ],
)
def test_a_heading_keeps_its_words(html: str, markdown: str) -> None:
    assert convert(html).markdown == markdown


def test_footnotes_keep_their_labels_and_lose_the_way_back() -> None:
    html = (
        '<p>See<sup><a href="#fn1" id="r1">1</a></sup> and '
        '<a class="footnote-reference brackets" href="#id2" role="doc-noteref">'
        '<span class="fn-bracket">[</span>2<span class="fn-bracket">]</span></a>.</p>'
        '<ol><li id="fn1"><p>One. <a href="#r1" class="footnote-backref">↩</a></p></li></ol>'
        '<aside class="footnote brackets" id="id2"><span class="label"><span class="fn-bracket">[</span>'
        '<a role="doc-backlink" href="#id1">2</a><span class="fn-bracket">]</span></span><p>Two.</p><p>More.</p>'
        "</aside>"
    )
    assert convert(html).markdown == "See[^1] and [^2].\n\n[^1]: One.\n\n[^2]: Two.\n\n    More.\n"


def test_anchors_lead_to_their_blocks() -> None:
    read = convert("<p>first</p><section id=one><h2 id=two>Head</h2></section><a name=three></a><p>last")
    assert {name: read.markdown[offset:].split("\n")[0] for name, offset in read.anchors.items()} == {
        "one": "## Head",
        "two": "## Head",
        "three": "last",
    }


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        pytest.param("<p>x", "# T\n\nx\n", id="added"),
        pytest.param("<h1>Own</h1>x", "# Own\n\nx\n", id="the page has one"),
    ],
)
def test_a_title_is_the_first_heading_of_a_page_without_one(html: str, markdown: str) -> None:
    assert convert(html, title="T").markdown == markdown


@pytest.mark.parametrize(
    ("html", "length"),
    [
        pytest.param("<div>" * 200_000 + "x", 2, id="divs"),
        pytest.param("<table><tr><td>" * 10_000 + "x", 2, id="tables"),
        pytest.param("<p>" + "x" * 5_000_000, 5_000_001, id="one text"),
        pytest.param("<" * 1_000_000, 1_000_001, id="less-than signs"),
        pytest.param("<p>" + "*" * 1_000_000, 1_000_002, id="asterisks"),
        pytest.param("<ul><li>x" * 5_000, None, id="lists"),
        pytest.param("<math>" + "<mrow>" * 100_000 + "<mi>x", 4, id="formula"),
        pytest.param("<code><div>" * 20_000 + "<pre>x", None, id="code"),
        pytest.param("<div class=math>" * 20_000 + "x", 2, id="formulas that are none"),
        pytest.param("<div class=note><strong>" * 5_000, None, id="admonitions"),
        pytest.param("<a href=x><table><tr><td>" * 5_000, 0, id="links"),
        pytest.param("<table><tr><td>1<td>" * 10_000 + "x", None, id="tables that may be numbers beside code"),
        pytest.param("<pre>" + "x" * 5_000_000, 5_000_009, id="code on one line"),
        pytest.param("<pre " + " ".join(f"a{at}=1" for at in range(200_000)) + ">x", 10, id="attributes"),
        pytest.param("<div class=fragment>" * 200_000 + "x", 2, id="blocks of lines without lines"),
        pytest.param("<pre>" + "<span class=linenum>" * 100_000 + "1", 10, id="line numbers inside each other"),
        pytest.param("<table><tr><td>" + "<pre>1 2" * 20_000, None, id="gutters inside each other"),
        pytest.param("<div role=tablist><a role=tab>x</a><div role=tabpanel>" * 20_000, None, id="tabs"),
        pytest.param("<table class=ltx_eqn_table><tr><td><math><mi>x</mi></math>" * 5_000, None, id="equations"),
        pytest.param("<p>" + "$$a" * 100_000, None, id="dollars"),
        pytest.param('<img alt="' + "\\a_{" * 500_000 + '">', None, id="an endless description"),
    ],
)
def test_hostile_depth_and_size_end_in_text(html: str, length: int | None) -> None:
    found = len(convert(html).markdown)
    assert found == length if length is not None else found > 0


_PARTS = st.sampled_from(
    "<ul> <ol> <li> <p> <pre> <code> <b> <i> <a_href=x> <a_href='#'> </a> <table> <tr> <td> <th> <dl> <dt> <dd> "
    "<h2> </h2> <br> "
    "<blockquote> </blockquote> <div_class='admonition_note'> </div> <div_class=math> <span_class=line> <math> "
    "<mfrac> </math> <sup> "
    "</p> </ul> </li> </table> </pre> </code> </dl> x * _ ` [ ] ( \\( \\) | # ! \xa0 <img_src=a> "
    "<input_type=checkbox> <span_class=linenos>1</span> <span_class=gatsby-highlight-code-line> </span> "
    "<code_class='hljs_python'> <div_class=fragment> <div_class=line> <table_class=highlighttable> <td_class=code> "
    "<div_role=tablist> <a_role=tab_href=#p> <div_role=tabpanel_id=p> <span_class=katex> <annotation_encoding=tex> "
    "<math-renderer_class=js-inline-math> <img_class=math_alt=a^2> $ $$ \\[ \\] \\alpha ``` 1 > - <blockquote_class=x> "
    "<details> <summary> <aside_id=n> <a_href=#n_role=doc-noteref> <rowspan> <td_rowspan=3_colspan=2> <thead> "
    "<caption>".split(" ")
)


@settings(max_examples=150)
@given(st.lists(_PARTS, max_size=40))
def test_any_markup_makes_tidy_markdown(parts: list[str]) -> None:
    markdown = convert("".join(part.replace("_", " ") if part.startswith("<") else part for part in parts)).markdown
    assert markdown == "" or (markdown.endswith("\n") and not markdown.endswith("\n\n"))
    assert not markdown.startswith("\n")
    assert "![" not in markdown.replace("\\![", "")
    assert _unclosed(markdown) is None


_FENCE = re.compile(r"(?:[ >]|- |[0-9]+\. |\[\^[^\]]+\]: )*(`{3,})([^`]*)")


def _unclosed(markdown: str) -> str | None:
    """Return the fence of a block of code that does not end, None when all end."""
    opened = None
    for line in markdown.split("\n"):
        found = _FENCE.fullmatch(line)
        if found and opened is None:
            opened = found[1]
        elif found and found[1] == opened and not found[2]:
            opened = None
    return opened
