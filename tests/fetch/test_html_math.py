"""Formulas as TeX: from the source that a page kept, else from its MathML."""

from __future__ import annotations

import pytest
import turbohtml

from webseam.fetch.readers.html.convert import to_markdown


def convert(html: str) -> str:
    return to_markdown(turbohtml.parse(html), "https://docs.example/").markdown


_KATEX = (
    '<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>a</mi></mrow>'
    '<annotation encoding="application/x-tex">a_1 \\le b*c</annotation></semantics></math></span>'
    '<span class="katex-html" aria-hidden="true"><span>a1</span></span></span>'
)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        pytest.param(f"x {_KATEX} y", "x $a_1 \\le b*c$ y", id="katex"),
        pytest.param(
            f'<p>x<span class="katex-display">{_KATEX}</span>y', "x\n\n$$\na_1 \\le b*c\n$$\n\ny", id="katex display"
        ),
        pytest.param(
            '<span class="MathJax_Preview">p</span><span class="MathJax">r</span>'
            '<script type="math/tex">\\alpha</script>',
            "$\\alpha$",
            id="mathjax 2",
        ),
        pytest.param(
            '<p><script type="math/tex; mode=display">\\int\n\nx</script>', "$$\n\\int\nx\n$$", id="mathjax 2 display"
        ),
        pytest.param(
            '<mjx-container display="true"><mjx-math></mjx-math><mjx-assistive-mml><math><mi>x</mi></math>'
            "</mjx-assistive-mml></mjx-container>",
            "$$\nx\n$$",
            id="mathjax 3",
        ),
        pytest.param('<mjx-container><mjx-math data-latex="q^2"></mjx-math></mjx-container>', "$q^2$", id="mathjax 4"),
        pytest.param(
            'see <span class="math notranslate nohighlight">\\(A = \\pi r^2\\)</span>',
            "see $A = \\pi r^2$",
            id="sphinx",
        ),
        pytest.param('<div class="math notranslate nohighlight">\n\\[ B \\]</div>', "$$\nB\n$$", id="sphinx display"),
        pytest.param('<span class="arithmatex">\\(x\\)</span>', "$x$", id="mkdocs"),
        pytest.param("if \\(x_1\\) and \\(y", "if $x_1$ and \\\\(y", id="delimiters in text"),
        pytest.param(
            '<span class="mwe-math-element"><math alttext="{\\displaystyle x}">'
            '<annotation encoding="application/x-tex">{\\displaystyle x^{2}}</annotation>'
            '</math><img class="mwe-math-fallback-image-inline" alt="{\\displaystyle x^{2}}" src="x.svg"></span>',
            "$x^{2}$",
            id="wikipedia",
        ),
        pytest.param(
            '<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle x^{2}}" src="x.svg">',
            "$x^{2}$",
            id="wikipedia image",
        ),
        pytest.param(
            '<math alttext="\\frac{a}{b}" display="block"><mi>no</mi></math>',
            "$$\n\\frac{a}{b}\n$$",
            id="alternative text",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<tr><td>" + _KATEX.replace("\\le", "|") + "<td>1</table>",
            "| A | B |\n| --- | --- |\n| $a_1 \\| b*c$ | 1 |",
            id="in a cell",
        ),
        pytest.param('<div class="math"><p>Words about <b>it</b></p></div>', "Words about **it**", id="no formula"),
    ],
)
def test_a_formula_is_its_source(html: str, markdown: str) -> None:
    assert convert(html) == markdown + "\n"


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        pytest.param(
            "<mi>x</mi><mo>=</mo><mfrac><mn>1</mn><msup><mi>y</mi><mn>2</mn></msup></mfrac>",
            r"x=\frac{1}{y^2}",
            id="fraction",
        ),
        pytest.param(
            "<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt><mroot><mi>x</mi><mn>3</mn></mroot>",
            r"\sqrt{a+b}\sqrt[3]{x}",
            id="roots",
        ),
        pytest.param(
            "<msubsup><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>0</mn></mrow><mi>n</mi></msubsup><msub><mi>x</mi>"
            "<mi>i</mi></msub>",
            r"\sum_{i=0}^nx_i",
            id="sum",
        ),
        pytest.param(
            "<mi>α</mi><mo>≤</mo><mi>sin</mi><mi>θ</mi><mtext>if so</mtext>",
            r"\alpha \le \sin \theta \text{if so}",
            id="names",
        ),
        pytest.param(
            "<mover><mi>x</mi><mo>^</mo></mover><mover><mi>v</mi><mo>→</mo></mover>", r"\hat{x}\vec{v}", id="accents"
        ),
        pytest.param("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a,b)", id="fence"),
        pytest.param(
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable>",
            r"\begin{matrix}1 & 2 \\ 3\end{matrix}",
            id="matrix",
        ),
    ],
)
def test_mathml_becomes_tex(mathml: str, tex: str) -> None:
    assert convert(f"<math>{mathml}</math>") == f"${tex}$\n"
