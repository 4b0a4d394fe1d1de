"""Code blocks of the sites and tools that are hardest to read: the same few lines in the markup each of them writes."""

from __future__ import annotations

import pytest
import turbohtml

from webseam.fetch.readers.html.convert import to_markdown

_LINES = ["if x:", "    y = 1", "", "z()"]
CODE = "\n".join(_LINES)


def convert(html: str) -> str:
    return to_markdown(turbohtml.parse(html), "https://docs.example/").markdown


def lines(form: str, between: str = "") -> str:
    """Return every line of the code in a form with the places `n` and `line`."""
    return between.join(form.format(n=number, line=line) for number, line in enumerate(_LINES, 1))


_NUMBERS = "1\n2\n3\n4"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        pytest.param(
            '<figure class="highlight python"><table><tr><td class="gutter"><pre>'
            + lines('<span class="line">{n}</span><br>')
            + '</pre></td><td class="code"><pre>'
            + lines('<span class="line">{line}</span><br>')
            + "</pre></td></tr></table></figure>",
            "python",
            id="hexo",
        ),
        pytest.param(
            '<div class="gatsby-highlight" data-language="python"><pre class="language-python"><code '
            'class="language-python">if x:\n<span class="gatsby-highlight-code-line">    y = 1</span>\nz()'
            "</code></pre></div>",
            "python",
            id="gatsby",
        ),
        pytest.param(
            '<div class="css-1yf"><pre data-lang="python" class="css-1p7"><div style="min-width:fit-content">'
            + lines(
                '<div class="css-roy"><span class="css-519">{n}</span><div class="css-luz"><div><span>{line}</span>\n'
                "</div></div></div>"
            )
            + "</div></pre></div>",
            "python",
            id="numbers without a name",
        ),
        pytest.param(
            '<pre class="language-python" style="display:block"><code style="white-space:pre">'
            + lines(
                '<span style="display:block"><span class="linenumber react-syntax-highlighter-line-number" '
                'style="user-select:none">{n}</span><span>{line}</span></span>'
            )
            + "</code></pre>",
            "python",
            id="react-syntax-highlighter",
        ),
        pytest.param(
            '<div class="expressive-code"><figure class="frame"><figcaption class="header"></figcaption>'
            '<pre data-language="python"><code>'
            + lines(
                '<div class="ec-line"><div class="gutter"><div class="ln" aria-hidden="true">{n}</div></div>'
                '<div class="code"><span style="--0:#C792EA">{line}</span></div></div>'
            )
            + '</code></pre><div class="copy"><button title="Copy" data-code="x"><div></div></button></div>'
            "</figure></div>",
            "python",
            id="starlight",
        ),
        pytest.param(
            '<div class="language-python line-numbers-mode"><button title="Copy Code" class="copy"></button>'
            '<span class="lang">python</span><pre class="shiki shiki-themes vp-code"><code>'
            + lines('<span class="line"><span>{line}</span></span>', "\n")
            + '</code></pre><div class="line-numbers-wrapper">'
            + lines('<span class="line-number">{n}</span><br>')
            + "</div></div>",
            "python",
            id="vitepress",
        ),
        pytest.param(
            '<div class="code-toolbar"><pre class="language-python"><code class="language-python">'
            + CODE
            + '</code></pre><div class="toolbar"><div class="toolbar-item"><span>Python</span></div>'
            '<div class="toolbar-item"><button>Copy</button></div></div></div>',
            "python",
            id="prism toolbar",
        ),
        pytest.param(
            '<table class="highlighttable"><tbody><tr><td class="linenos"><div class="linenodiv"><pre>'
            + lines('<a href="#L-{n}">{n}</a>', "\n")
            + '</pre></div></td><td class="code"><div class="highlight"><pre><span></span>'
            + lines('<span id="L-{n}"><a name="L-{n}"></a>{line}</span>', "\n")
            + "\n</pre></div></td></tr></tbody></table>",
            "",
            id="pygments with anchors",
        ),
        pytest.param(
            '<div class="highlight"><pre id="__code_0"><span></span><button class="md-clipboard md-icon">'
            "</button><code>"
            + lines('<span id="__span-0-{n}"><a id="__codelineno-0-{n}" href="#__codelineno-0-{n}"></a>{line}\n</span>')
            + "</code></pre></div>",
            "",
            id="material with anchors",
        ),
        pytest.param(
            '<div class="highlight"><div class="chroma"><table class="lntable"><tr><td class="lntd">'
            '<pre class="chroma">'
            "<code>"
            + lines('<span class="lnt" id="hl-0-{n}"><a href="#hl-0-{n}">{n}</a>\n</span>')
            + '</code></pre></td><td class="lntd"><pre class="chroma"><code class="language-python" data-lang="python">'
            + lines('<span class="line"><span class="cl">{line}\n</span></span>')
            + "</code></pre></td></tr></table></div></div>",
            "python",
            id="hugo",
        ),
        pytest.param(
            '<figure class="highlight"><pre><code class="language-python" data-lang="python">'
            '<table class="rouge-table">'
            f'<tbody><tr><td class="gutter gl"><pre class="lineno">{_NUMBERS}\n</pre></td><td class="code">'
            f"<pre>{CODE}\n"
            "</pre></td></tr></tbody></table></code></pre></figure>",
            "python",
            id="jekyll",
        ),
        pytest.param(
            f'<table class="linenotable"><tbody><tr><td class="num"><pre>{_NUMBERS}</pre></td><td class="src">'
            f"<pre>{CODE}"
            "</pre></td></tr></tbody></table>",
            "",
            id="a table with numbers alone",
        ),
        pytest.param(
            '<div class="file-view code-view"><table><tbody>'
            + lines(
                '<tr><td class="lines-num"><span id="L{n}" data-line-number="{n}"></span></td>'
                '<td class="lines-code"><code class="code-inner">{line}\n</code></td></tr>'
            )
            + "</tbody></table></div>",
            "",
            id="gitea",
        ),
        pytest.param(
            '<table class="blob"><tr><td class="linenumbers"><pre>'
            + lines('<a id="n{n}" href="#n{n}">{n}</a>\n')
            + f'</pre></td><td class="lines"><pre><code>{CODE}\n</code></pre></td></tr></table>',
            "",
            id="cgit",
        ),
        pytest.param(
            '<pre class="code highlight" lang="python"><code>'
            + lines('<span id="LC{n}" class="line" lang="python"><span class="k">{line}</span></span>', "\n")
            + "</code></pre>",
            "python",
            id="gitlab",
        ),
        pytest.param(
            '<div class="fragment">'
            + lines(
                '<div class="line"><a id="l{n:05}" name="l{n:05}"></a><span class="lineno">    {n}</span>{line}</div>',
                "\n",
            )
            + "</div>",
            "",
            id="doxygen",
        ),
        pytest.param(
            "<pre>" + lines('<span class="source-line-no">{n:03}</span><span id="line-{n}">{line}</span>\n') + "</pre>",
            "",
            id="javadoc",
        ),
        pytest.param(
            '<pre class="prettyprint source linenums lang-python"><ol class="linenums">'
            + lines('<li class="L{n}"><span class="pln">{line}</span></li>')
            + "</ol></pre>",
            "python",
            id="prettify",
        ),
        pytest.param(
            '<div class="crayon-syntax"><div class="crayon-plain-wrap"></div><div class="crayon-main"><table><tr>'
            '<td class="crayon-nums"><div class="crayon-nums-content">'
            + lines('<div class="crayon-num">{n}</div>')
            + '</div></td><td class="crayon-code"><div class="crayon-pre">'
            + lines('<div class="crayon-line" id="crayon-{n}">{line}</div>')
            + "</div></td></tr></table></div></div>",
            "",
            id="crayon",
        ),
        pytest.param(
            f'<pre class="EnlighterJSRAW" data-enlighter-language="python">{CODE}</pre>', "python", id="enlighter"
        ),
        pytest.param(
            '<div class="code panel"><div class="codeContent panelContent"><pre class="syntaxhighlighter-pre" '
            f'data-syntaxhighlighter-params="brush: python; gutter: false">{CODE}</pre></div></div>',
            "python",
            id="confluence",
        ),
        pytest.param(
            f'<pre><code class="lang-auto" data-code-wrap="python">{CODE}</code></pre>', "python", id="discourse"
        ),
        pytest.param(f'<pre class="lang-python prettyprint"><code>{CODE}</code></pre>', "python", id="stack overflow"),
        pytest.param(
            f'<div class="cell docutils"><div class="highlight hl-ipython3"><pre><span></span>{CODE}\n</pre>'
            f"</div></div>",
            "python",
            id="nbconvert",
        ),
        pytest.param(
            '<div class="listingblock"><div class="content"><pre class="rouge highlight"><code data-lang="python">'
            + CODE
            + "</code></pre></div></div>",
            "python",
            id="asciidoctor",
        ),
        pytest.param(
            '<pre><code class="torchlight" data-lang="python">'
            + lines(
                '<div class="line"><span style="-webkit-user-select:none" class="line-number">{n}</span>'
                "<span>{line}</span></div>"
            )
            + "</code></pre>",
            "python",
            id="torchlight",
        ),
        pytest.param(
            '<code class="hl lean block" data-lean-context="a"><span class="keyword token">if</span> x:\n'
            '    <span class="hover-container"><span class="var token">y</span><span class="hover-info">'
            "<code>y : Nat</code>"
            "</span></span> = 1\n\nz()</code>",
            "lean",
            id="verso",
        ),
        pytest.param(
            '<div class="react-code-lines">'
            + lines(
                '<div class="react-code-text react-code-line-contents"><div><div id="LC{n}" class="react-file-line">'
                "{line}</div></div></div>"
            )
            + "</div>",
            "",
            id="github file of today",
        ),
        pytest.param(
            '<div class="ltx_listing ltx_lst_language_Python ltx_lstlisting"><div class="ltx_listing_data">'
            '<a href="data:text/plain;base64,eA==">⬇</a></div>'
            + lines(
                '<div class="ltx_listingline"><span class="ltx_tag ltx_tag_listingline">{n}</span><span>{line}'
                "</span></div>"
            )
            + "</div>",
            "python",
            id="latexml",
        ),
        pytest.param(
            '<blockquote class="SCodeFlow"><table cellspacing="0" class="RktBlk"><tbody>'
            + lines("<tr><td>{line}</td></tr>").replace(
                "    y", '<span class="hspace">&nbsp;&nbsp;&nbsp;&nbsp;</span>y'
            )
            + "</tbody></table></blockquote>",
            "racket",
            id="scribble",
        ),
        pytest.param(
            '<div class="monaco-editor"><div class="margin">'
            + lines('<div class="line-numbers">{n}</div>')
            + '</div><div class="view-lines">'
            + lines('<div class="view-line"><span><span class="mtk1">{line}</span></span></div>')
            .replace(" ", "&nbsp;")
            # the blank inside a tag stays one
            .replace("<div&nbsp;", "<div ")
            .replace("<span&nbsp;", "<span ")
            + "</div></div>",
            "",
            id="monaco",
        ),
        pytest.param(
            '<div class="ace_editor"><div class="ace_gutter"><div class="ace_gutter-cell">1</div></div>'
            '<div class="ace_scroller"><div class="ace_layer ace_text-layer">'
            + lines('<div class="ace_line"><span class="ace_keyword">{line}</span></div>')
            + "</div></div></div>",
            "",
            id="ace",
        ),
    ],
)
def test_every_line_comes_through_and_nothing_else(html: str, language: str) -> None:
    expected = CODE.replace("\n\n", "\n") if "gatsby" in html else CODE
    assert convert(html) == f"```{language}\n{expected}\n```\n"


@pytest.mark.parametrize(
    ("html", "code"),
    [
        pytest.param(
            '<table class="diff-table"><tr><td class="blob-num" data-line-number="1"></td><td class="blob-code">'
            '<span class="blob-code-inner" data-code-marker="-">a</span></td></tr><tr><td class="blob-num" '
            'data-line-number="1"></td><td class="blob-code">'
            '<span class="blob-code-inner" data-code-marker="+">b</span>'
            '</td></tr><tr><td class="blob-num"></td><td class="blob-code"><span class="blob-code-inner" '
            'data-code-marker=" ">c</span></td></tr></table>',
            "-a\n+b\nc",
            id="marks of a diff drawn by style sheet",
        ),
        pytest.param(
            '<pre class="language-diff"><span class="token deleted-sign deleted">'
            '<span class="token prefix deleted">-</span>'
            '<span class="token line">a\n</span></span><span class="token inserted-sign inserted"><span '
            'class="token prefix inserted">+</span><span class="token line">b\n</span></span></pre>',
            "-a\n+b",
            id="marks of a diff",
        ),
        pytest.param(
            '<pre><span class="gp">$ </span>ls\n<span class="go">a</span>\n<span class="gp">&gt;&gt;&gt; '
            "</span>1</pre>",
            "$ ls\na\n>>> 1",
            id="prompts",
        ),
        pytest.param(
            '<pre><code class="language-text"><span class="mi">1</span>\n<span class="mi">2</span>\n</code></pre>',
            "1\n2",
            id="numbers that are the code",
        ),
        pytest.param(
            '<pre><span class="line"><span style="color:#0aa">1</span> a</span>\n<span class="line"><span>2'
            "</span> b</span>"
            "</pre>",
            "1 a\n2 b",
            id="lines that begin with numbers",
        ),
        pytest.param("<pre><div><span>1</span></div><div><span>2</span></div></pre>", "1\n2", id="boxes of numbers"),
        pytest.param(
            '<pre><div><span class="n">7</span><div>only</div></div></pre>', "7\nonly", id="a number that is no first"
        ),
        pytest.param(
            '<pre><span id="a"></span>if <a href="#b" class="annotation">x</a>:<i class="conum" data-value="1"></i>'
            "<b>(1)</b></pre>",
            "if x:(1)",
            id="call-outs",
        ),
    ],
)
def test_what_is_part_of_the_code_stays(html: str, code: str) -> None:
    assert convert(html).split("\n", 1)[1] == f"{code}\n```\n"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        pytest.param('<div class="highlight-c++"><pre>a</pre></div>', "c++", id="sphinx"),
        pytest.param('<div class="highlight highlight-source-c++"><pre>a</pre></div>', "cpp", id="scope"),
        pytest.param(
            '<div class="highlight highlight-source-json-comments"><pre>a</pre></div>', "jsonc", id="scope of two words"
        ),
        pytest.param('<div class="highlight highlight-text-html-basic"><pre>a</pre></div>', "html", id="scope of text"),
        pytest.param('<pre class="language-js"><code>a</code></pre>', "js", id="the page's own word"),
        pytest.param('<pre class="shiki" data-language="shellscript">a</pre>', "bash", id="shiki"),
        pytest.param('<pre><code language="json">a</code></pre>', "json", id="attribute"),
        pytest.param('<pre class="lang:php decode:true">a</pre>', "php", id="colon"),
        pytest.param('<div class="highlight wide"><pre>a</pre></div>', "", id="a word of the theme"),
        pytest.param('<pre class="code fancy"><code>a</code></pre>', "", id="a word of the theme on the block"),
        pytest.param('<pre class="language-none">a</pre>', "", id="none"),
        pytest.param('<pre class="mermaid">a</pre>', "mermaid", id="diagram"),
        pytest.param('<div class="mermaid">a</div>', "mermaid", id="diagram in a box"),
        pytest.param('<pre class="hljs language-plaintext">a</pre>', "", id="plain"),
        pytest.param('<li class="language-js"><pre>a</pre></li>', "", id="beyond the block"),
    ],
)
def test_the_language_is_the_one_the_page_names(html: str, language: str) -> None:
    assert f"```{language}\n" in convert(html)


def test_variants_of_a_block_are_blocks_of_their_own() -> None:
    html = (
        '<pre class="with-36-chars"><input class="js-flavor-toggle" type="checkbox"><code class="language-mjs">'
        'import a\n</code><code class="language-cjs">require(a)\n</code><button class="copy-button">copy</button></pre>'
    )
    assert convert(html) == "```mjs\nimport a\n```\n\n```cjs\nrequire(a)\n```\n"


def test_lines_that_are_each_marked_as_code_stay_one_block() -> None:
    html = '<pre><code class="language-js">a</code>\n<code class="language-js">b</code></pre>'
    assert convert(html) == "```js\na\nb\n```\n"


def test_slides_that_share_a_class_with_code_are_no_code() -> None:
    assert convert('<div class="fragment"><p>one</p><p>two</p></div>') == "one\n\ntwo\n"
