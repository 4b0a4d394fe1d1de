"""Code blocks out of the markup of highlighters, gutters and editors: every line, and the language."""

from __future__ import annotations

import pytest
import turbohtml

from webseam.fetch.readers.html.code import Code
from webseam.fetch.readers.html.convert import to_markdown

CODE = "def f():\n\treturn 1\n\nf()"  # a tab, a blank line


def convert(html: str) -> str:
    return to_markdown(turbohtml.parse(html), "https://docs.example/").markdown


_MKDOCS = (
    '<div class="highlight"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>'
    "<span></span>"
    '<span class="normal"><a href="#l-1">1</a></span>\n<span class="normal">2</span>\n3\n4</pre></div></td>'
    '<td class="code"><div><pre>'
    '<span></span><code><a id="l-1" name="l-1"></a><span class="k">def</span> f():\n<a id="l-2">'
    '</a>\t<span class="k">return</span> 1\n'
    '<a id="l-3"></a>\n<a id="l-4"></a>f()\n</code></pre></div></td></tr></table></div>'
)
_LINES = CODE.split("\n")


@pytest.mark.parametrize(
    ("html", "language"),
    [
        pytest.param(f"<pre>{CODE}</pre>", "", id="bare"),
        pytest.param(f"<pre>\n<code>{CODE}\n  </code></pre>", "", id="newlines of the markup"),
        pytest.param(
            f'<div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span>{CODE}\n</pre>'
            "</div></div>",
            "python",
            id="sphinx",
        ),
        pytest.param(
            '<div class="highlight-python notranslate"><div class="highlight"><pre><span></span>'
            + "\n".join(f'<span class="linenos">{number}</span>{line}' for number, line in enumerate(_LINES, 1))
            + "\n</pre></div></div>",
            "python",
            id="sphinx inline line numbers",
        ),
        pytest.param(f'<div class="highlight-default notranslate"><pre>{CODE}</pre></div>', "", id="sphinx default"),
        pytest.param(_MKDOCS, "", id="mkdocs material"),
        pytest.param(
            f'<div class="language-python highlight"><pre><code>{CODE}\n</code></pre></div>', "python", id="pymdownx"
        ),
        pytest.param(
            f'<pre class="line-numbers language-python"><code class="language-python">{CODE}'
            '<span aria-hidden="true" class="line-numbers-rows">'
            "<span></span><span></span></span></code></pre>",
            "python",
            id="prism",
        ),
        pytest.param(f'<pre><code class="hljs python">{CODE}</code></pre>', "python", id="highlight.js"),
        pytest.param(
            '<pre><code class="hljs language-python"><table class="hljs-ln"><tbody>'
            + "".join(
                f'<tr><td class="hljs-ln-numbers" data-line-number="{number}"></td><td class="hljs-ln-code">{line}'
                "</td></tr>"
                for number, line in enumerate(_LINES, 1)
            )
            + "</tbody></table></code></pre>",
            "python",
            id="highlight.js line numbers",
        ),
        pytest.param(
            '<pre class="shiki" data-language="python"><code>'
            + "\n".join(f'<span class="line"><span>{line}</span></span>' for line in _LINES)
            + "</code></pre>",
            "python",
            id="shiki",
        ),
        pytest.param(
            '<pre><code data-language="python">'
            + "".join(f'<span class="line">{line}</span>' for line in _LINES)
            + "</code></pre>",
            "python",
            id="shiki without newlines",
        ),
        pytest.param(
            '<div class="language-python codeBlockContainer_x"><pre class="prism-code language-python">'
            '<code class="codeBlockLines_y">'
            + "".join(f'<span class="token-line">{line}<br></span>' for line in _LINES)
            + "</code></pre><button>Copy</button></div>",
            "python",
            id="docusaurus",
        ),
        pytest.param(
            '<pre class="prism-code language-python">'
            + "".join(f'<div class="token-line">{line}</div>' for line in _LINES)
            + "</pre>",
            "python",
            id="docusaurus 2",
        ),
        pytest.param(
            f'<div class="highlight highlight-source-shell"><pre>{CODE}</pre><clipboard-copy>Copy</clipboard-copy>'
            "</div>",
            "bash",
            id="github",
        ),
        pytest.param(
            '<table class="highlight js-file-line-container">'
            + "\n".join(
                f'<tr><td class="blob-num" data-line-number="{number}"></td>'
                f'<td class="blob-code blob-code-inner js-file-line">{line or chr(10)}</td></tr>'
                for number, line in enumerate(_LINES, 1)
            )
            + "</table>",
            "",
            id="github file",
        ),
        pytest.param(
            '<div class="highlight"><table class="lntable"><tr><td class="lntd"><pre class="chroma"><code>'
            '<span class="lnt">1\n</span><span class="lnt">2\n</span>'
            '</code></pre></td><td class="lntd"><pre class="chroma">'
            f'<code class="language-python" data-lang="python">{CODE}\n</code></pre></td></tr></table></div>',
            "python",
            id="chroma table",
        ),
        pytest.param(
            '<pre class="chroma"><code class="language-python">'
            + "".join(
                f'<span class="line"><span class="ln">{number}</span><span class="cl">{line}\n</span></span>'
                for number, line in enumerate(_LINES, 1)
            )
            + "</code></pre>",
            "python",
            id="chroma lines",
        ),
        pytest.param(
            '<div class="language-python highlighter-rouge"><div class="highlight"><pre class="highlight"><code>'
            '<table class="rouge-table"><tbody><tr>'
            '<td class="rouge-gutter gl"><pre class="lineno">1\n2\n3\n4\n</pre></td><td class="rouge-code">'
            f"<pre>{CODE}\n</pre></td></tr></tbody></table></code></pre></div></div>",
            "python",
            id="rouge",
        ),
        pytest.param(
            '<div class="CodeMirror"><textarea>no</textarea><div class="CodeMirror-code">'
            + "".join(
                f'<div><div class="CodeMirror-gutter-wrapper"><div class="CodeMirror-linenumber">{number}</div></div>'
                f'<pre class=" CodeMirror-line "><span role="presentation">{line or chr(0x200B)}</span></pre></div>'
                for number, line in enumerate(_LINES, 1)
            )
            + "</div></div>",
            "",
            id="codemirror 5",
        ),
        pytest.param(
            '<div class="cm-editor"><div class="cm-scroller"><div class="cm-gutters"><div>1</div></div>'
            '<div class="cm-content" data-language="python">'
            + "".join(f'<div class="cm-line">{line or "<br>"}</div>' for line in _LINES)
            + "</div></div></div>",
            "python",
            id="codemirror 6",
        ),
        pytest.param(
            '<div class="syntaxhighlighter python"><table><tr><td class="gutter"><div class="line">1</div></td>'
            '<td class="code"><div class="container">'
            + "".join(
                f'<div class="line number{number}"><code class="python plain">{line}</code></div>'
                for number, line in enumerate(_LINES, 1)
            )
            + "</div></td></tr></table></div>",
            "python",
            id="syntaxhighlighter",
        ),
        pytest.param(f'<pre class="brush: python notranslate">{CODE}</pre>', "python", id="mdn"),
        pytest.param(
            f'<div class="sourceCode"><pre class="sourceCode python"><code class="sourceCode python">{CODE}</code>'
            "</pre></div>",
            "python",
            id="pandoc",
        ),
        pytest.param(f'<pre class="src src-python">{CODE}</pre>', "python", id="org"),
        pytest.param(f'<pre lang="python">{CODE}</pre>', "python", id="attribute"),
        pytest.param("<pre>" + CODE.replace("\n", "<br>") + "</pre>", "", id="line breaks"),
        pytest.param("<code class='hljs'>" + CODE + "</code>", "", id="code as a block"),
    ],
)
def test_code_comes_out_as_it_was_written(html: str, language: str) -> None:
    assert convert(html) == f"```{language}\n{CODE}\n```\n"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        pytest.param("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````\n", id="a fence inside"),
        pytest.param("<pre>a  \n\n\n</pre>", "```\na  \n\n\n```\n", id="trailing space and blank lines"),
        pytest.param("<pre><code>\n\na</code></pre>", "```\n\n\na\n```\n", id="blank lines before"),
        pytest.param("<pre>$ ls\nfile</pre>", "```\n$ ls\nfile\n```\n", id="prompt"),
        pytest.param("<pre>&gt;&gt;&gt; 1\n1</pre>", "```pycon\n>>> 1\n1\n```\n", id="python prompt"),
        pytest.param('<pre class="language-x&quot;&gt;y">a</pre>', "```\na\n```\n", id="a language that is none"),
        pytest.param("<pre>&nbsp;&nbsp;a\u200b</pre>", "```\n  a\n```\n", id="spaces that do not break"),
        pytest.param("<pre> \n</pre>x", "x\n", id="empty"),
        pytest.param(
            "<blockquote>x<pre>a\n\nb</pre></blockquote>", "> x\n>\n> ```\n> a\n> \n> b\n> ```\n", id="in a quote"
        ),
        pytest.param("<blockquote>\n<pre>a\n\nb</pre></blockquote>", "```\na\n\nb\n```\n", id="a quote of code alone"),
        pytest.param("<ul><li><pre>a</pre></ul>", "- ```\n  a\n  ```\n", id="in a list"),
    ],
)
def test_a_fence_holds_what_is_inside(html: str, markdown: str) -> None:
    assert convert(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        pytest.param("<code>a ` b</code>", "``a ` b``", id="backtick"),
        pytest.param("<code>``</code>", "``` `` ```", id="backticks"),
        pytest.param("<code><a href=x>Vec</a>&lt;<b>T</b>&gt;</code>", "`Vec<T>`", id="marks inside"),
        pytest.param("<a href=/x><code>f</code></a>", "[`f`](https://docs.example/x)", id="in a link"),
        pytest.param("<kbd>Ctrl</kbd>+<code>\n c\n</code>", "`Ctrl`+`c`", id="key, white space"),
        pytest.param("a<code></code>b", "ab", id="empty"),
    ],
)
def test_inline_code_is_a_code_span(html: str, markdown: str) -> None:
    assert convert(html) == markdown + "\n"


def test_a_fence_is_longer_than_any_run_inside() -> None:
    assert Code("`````", "md").fenced() == "``````md\n`````\n``````"
