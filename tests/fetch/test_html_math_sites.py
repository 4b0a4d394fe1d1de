r"""Formulas of the sites and tools that write them each in a way of its own: always the TeX, in dollars."""

from __future__ import annotations

import pytest
import turbohtml

from webseam.fetch.readers.html.convert import to_markdown


def convert(html: str) -> str:
    return to_markdown(turbohtml.parse(html), "https://docs.example/").markdown


_MATHML = "<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>"
_QUOTED = _MATHML.replace("<", "&lt;").replace(">", "&gt;")


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        pytest.param(
            'x <span class="katex"><math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mi>x</mi>'
            '<annotation encoding="application/x-tex">\\bar x</annotation></semantics></math></span>',
            "x $\\bar x$",
            id="katex, mathml alone",
        ),
        pytest.param(
            '<p>a <span class="MathJax_Preview"></span><span class="mjx-chtml MathJax_CHTML" data-mathml="x"><span '
            'class="mjx-math">r</span><span class="MJX_Assistive_MathML"><math><mi>r</mi></math></span></span><script '
            'type="math/tex" id="MathJax-Element-1">r_{1}</script> b',
            "a $r_{1}$ b",
            id="mathjax 2 chtml",
        ),
        pytest.param(
            '<div class="MathJax_Display"><span class="MathJax" id="MathJax-Element-2-Frame"><nobr>r</nobr>'
            "</span></div>"
            '<script type="math/tex; mode=display">\\sum r</script>',
            "$$\n\\sum r\n$$",
            id="mathjax 2 display",
        ),
        pytest.param(
            f'x<span class="MathJax" data-mathml="{_QUOTED}"><span class="mjx-math">ab</span></span>',
            "x$\\frac{a}{b}$",
            id="mathjax 2 after its scripts are gone",
        ),
        pytest.param(
            '<div class="math notranslate nohighlight" id="equation-e"><span class="eqno">(1)<a class="headerlink" '
            'href="#equation-e">¶</a></span>\\[\\begin{split}a &amp;= b \\\\ c &amp;= d\\end{split}\\]</div>',
            "$$\n\\begin{split}a &= b \\\\ c &= d\\end{split}\n$$",
            id="sphinx, numbered",
        ),
        pytest.param('<p><img class="math" src="_images/m.png" alt="a^2 + b^2"/>', "$a^2 + b^2$", id="sphinx image"),
        pytest.param(
            '<div class="math"><p><img src="_images/m.png" alt="E = m c^2"  class="math"/></p></div>',
            "$$\nE = m c^2\n$$",
            id="sphinx image, display",
        ),
        pytest.param('<div class="arithmatex">\\[\nx &lt; y\n\\]</div>', "$$\nx < y\n$$", id="arithmatex display"),
        pytest.param('<span class="math inline">\\(a*b*c\\)</span>', "$a*b*c$", id="pandoc mathjax"),
        pytest.param('<span class="math display">\\[a\\]</span>', "$$\na\n$$", id="pandoc display"),
        pytest.param('<span class="math inline">e^{i\\pi}</span>', "$e^{i\\pi}$", id="pandoc katex"),
        pytest.param('<span class="math display">x = y</span>', "$$\nx = y\n$$", id="pandoc katex display"),
        pytest.param('<span class="math inline"><em>x</em> + 1</span>', "*x* + 1", id="pandoc without tex"),
        pytest.param(
            'a <math-renderer class="js-inline-math" style="display:inline">$x_1$</math-renderer> b',
            "a $x_1$ b",
            id="github",
        ),
        pytest.param(
            '<math-renderer class="js-display-math">$$\\int x$$</math-renderer>', "$$\n\\int x\n$$", id="github display"
        ),
        pytest.param("a <math-renderer class='js-inline-math'>$`x`$</math-renderer>", "a $x$", id="github backticks"),
        pytest.param(
            'a <code class="code math js-render-math" data-math-style="inline">a^2</code>', "a $a^2$", id="gitlab"
        ),
        pytest.param(
            '<pre class="code math js-render-math" data-math-style="display">a^2\nb</pre>',
            "$$\na^2\nb\n$$",
            id="gitlab display",
        ),
        pytest.param(
            '<p>a <code class="language-math math-inline">q</code></p><pre><code class="language-math math-display">'
            "q + 1\n</code></pre>",
            "a $q$\n\n$$\nq + 1\n$$",
            id="remark",
        ),
        pytest.param(
            '<p>if <span class="math-container">$n \\ge 1$</span> so', "if $n \\ge 1$ so", id="stack exchange"
        ),
        pytest.param(
            '<span class="math-container">$$a_n \\to 0$$</span>', "$$\na_n \\to 0\n$$", id="stack exchange display"
        ),
        pytest.param(
            '<table class="ltx_equation ltx_eqn_table"><tr class="ltx_equation ltx_eqn_row"><td '
            'class="ltx_eqn_cell ltx_eqn_center_padleft"></td><td class="ltx_eqn_cell"><math alttext="x^{2}=1" '
            'display="block"><mi>x</mi></math></td><td class="ltx_eqn_cell ltx_eqn_eqno"><span '
            'class="ltx_tag ltx_tag_equation">(3)</span></td></tr></table>',
            "$$\nx^{2}=1 \\tag{3}\n$$",
            id="latexml equation",
        ),
        pytest.param(
            '<table class="ltx_equationgroup ltx_eqn_align ltx_eqn_table"><tr><td>'
            '<math alttext="\\displaystyle a"/></td>'
            '<td><math alttext="\\displaystyle=b_{1}"/></td></tr><tr><td></td><td>'
            '<math alttext="\\displaystyle=c"/></td>'
            "</tr></table>",
            "$$\n\\begin{aligned}\n\\displaystyle a & \\displaystyle=b_{1} \\\\\n\\displaystyle=c\n\\end{aligned}\n$$",
            id="latexml group",
        ),
        pytest.param(
            '<p>w <img src="https://s0.example/latex.php?latex=x%5E2" alt="x^2" class="latex" /> z',
            "w $x^2$ z",
            id="wordpress",
        ),
        pytest.param(
            '<img src="https://latex.example/svg?%5Calpha" alt="\\alpha + 1">', "$\\alpha + 1$", id="image of tex"
        ),
        pytest.param('<img src="m.gif" alt="$\\sqrt{x}$">', "$\\sqrt{x}$", id="latex2html"),
        pytest.param(
            "<mml:math><mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:math>",
            "$x^2$",
            id="prefixed mathml",
        ),
        pytest.param("So $$a_1 * b_2 * c$$ holds", "So\n\n$$\na_1 * b_2 * c\n$$\n\nholds", id="double dollars in text"),
        pytest.param("when $\\alpha_1 * 2 * x$ is", "when $\\alpha_1 * 2 * x$ is", id="dollars in text"),
        pytest.param("from $5 to $6 a_{1} and $7", "from $5 to $6 a_{1} and $7", id="money"),
        pytest.param("$$ and $$", "$$ and $$", id="dollars around words"),
        pytest.param(
            "<p>\\begin{align}\na &= b \\\\\nc\n\\end{align}</p>",
            "$$\n\\begin{align} a &= b \\\\ c \\end{align}\n$$",
            id="environment in text",
        ),
        pytest.param(
            '<pre><code class="language-math">a\n```\nb</code></pre>',
            "````math\na\n```\nb\n````",
            id="a fence in a formula",
        ),
        pytest.param('<pre class="tex">\\frac{a}{b}</pre>', "```\n\\frac{a}{b}\n```", id="code in tex"),
        pytest.param('see <code class="latex">\\frac{a}{b}</code>', "see `\\frac{a}{b}`", id="a word of tex"),
    ],
)
def test_every_formula_is_its_tex(html: str, markdown: str) -> None:
    assert convert(html) == markdown + "\n"


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        pytest.param("<mi>𝑥</mi><mo>∈</mo><mi>ℝ</mi>", r"x\in \mathbb{R}", id="letters of their own"),
        pytest.param(
            '<mi mathvariant="bold">v</mi><mi mathvariant="normal">d</mi>', r"\mathbf{v}\mathrm{d}", id="variants"
        ),
        pytest.param(
            "<mrow><mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd></mtr></mtable><mo>)</mo></mrow>",
            r"\begin{pmatrix}1\end{pmatrix}",
            id="matrix in brackets",
        ),
        pytest.param(
            "<mrow><mo>{</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mtext>if</mtext></mtd></mtr></mtable></mrow>",
            r"\begin{cases}1 & \text{if}\end{cases}",
            id="cases",
        ),
        pytest.param(
            '<mrow><mo>(</mo><mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac><mo>)</mo></mrow>',
            r"(\binom{n}{k})",
            id="binomial",
        ),
        pytest.param(
            "<mmultiscripts><mi>U</mi><mprescripts></mprescripts><mn>92</mn><mn>238</mn></mmultiscripts>",
            r"{}_{92}^{238}U",
            id="scripts before",
        ),
        pytest.param('<menclose notation="box"><mi>x</mi></menclose>', r"\boxed{x}", id="box"),
        pytest.param(
            "<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder>", r"\lim_{x\to 0}", id="limit"
        ),
        pytest.param('<mfenced open="[" close="["><mi>a</mi></mfenced>', "[a[", id="open interval"),
        pytest.param(
            "<semantics><mi>x</mi><annotation-xml><ci>y</ci></annotation-xml></semantics>", "x", id="content beside"
        ),
    ],
)
def test_mathml_becomes_the_tex_that_means_the_same(mathml: str, tex: str) -> None:
    assert convert(f"<math>{mathml}</math>") == f"${tex}$\n"
