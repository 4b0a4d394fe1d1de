"""Notebooks are read cell by cell: text as it is, code in fences, outputs bounded, images named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.errors import Outcome
from webseam.fetch.readers import notebook
from webseam.fetch.types import Link, Reading, Source, Unreadable


def read(content: object, *, truncated: bool = False) -> Reading:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return notebook.read(Source(body=body, url="https://example.com/a/x.ipynb", truncated=truncated))


def code(source: object, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def output(data: dict[str, Any]) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data}


def markdown_of(*cells: dict[str, Any], **metadata: Any) -> str:
    return read({"nbformat": 4, "metadata": metadata, "cells": list(cells)}).markdown


def test_a_notebook_of_format_4_is_read_cell_by_cell() -> None:
    reading = read(
        {
            "metadata": {"kernelspec": {"language": "Julia"}, "authors": [{"name": "Al"}, {"name": "Bo"}]},
            "cells": [
                {"cell_type": "markdown", "source": ["# The *title*\n", "[l](b.html) ![i](attachment:i.png)"]},
                code(["a = 1\n", "a"], {"output_type": "execute_result", "data": {"text/plain": ["1"]}}),
                code(""),
                {"cell_type": "raw", "source": "raw"},
            ],
        }
    )
    assert reading == Reading(
        markdown="# The *title*\n[l](b.html) [image: i]\n\n```julia\na = 1\na\n```\n\n"
        "Output:\n\n```text\n1\n```\n\n```\nraw\n```\n",
        title="The title",
        author="Al, Bo",
        links=(Link(text="l", url="https://example.com/a/b.html"),),
        reader="notebook",
    )


def test_a_notebook_of_format_3_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Part"]},
        {
            "cell_type": "code",
            "language": "python",
            "input": ["1+1"],
            "outputs": [
                {"output_type": "pyout", "text": ["2"]},
                {"output_type": "display_data", "png": "AAAA"},
                {"output_type": "stream", "stream": "stderr", "text": "careful"},
                {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": []},
            ],
        },
    ]
    reading = read({"nbformat": 3, "worksheets": [{"cells": cells}]})
    assert reading == Reading(
        markdown="## Part\n\n```python\n1+1\n```\n\nOutput:\n\n```text\n2\n```\n\n[image: image/png, 3 bytes]\n\n"
        "Output (stderr):\n\n```text\ncareful\n```\n\nError:\n\n```text\nE: v\n```\n",
        title="x.ipynb",
        reader="notebook",
    )


@pytest.mark.parametrize(
    ("given_output", "shown"),
    [
        pytest.param(
            {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]},
            "Output:\n\n```text\na\nb\n```",
            id="stream",
        ),
        pytest.param(
            {"output_type": "stream", "name": "stdout", "text": "10%\r50%\rdone\n\x1b[1mbold\x1b[0m\r"},
            "Output:\n\n```text\ndone\nbold\n```",
            id="progress and colours",
        ),
        pytest.param(
            {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mTrace\x1b[0m", "E: v", 3]},
            "Error:\n\n```text\nTrace\nE: v\n```",
            id="error",
        ),
        pytest.param(
            output({"image/png": "AAAA\nBBBB\n", "text/plain": "<Figure size 640x480>"}),
            "[image: \\<Figure size 640x480>, image/png, 6 bytes]",
            id="image",
        ),
        pytest.param(output({"image/svg+xml": ["<svg>", "</svg>"]}), "[image: image/svg+xml, 11 bytes]", id="drawing"),
        pytest.param(output({"text/markdown": "**b**", "text/plain": "x"}), "**b**", id="Markdown"),
        pytest.param(output({"text/latex": "$x^2$", "text/plain": "x"}), "$x^2$", id="formula"),
        pytest.param(
            output({"text/html": "<b>x</b>", "text/plain": "x"}), "Output:\n\n```text\nx\n```", id="text before HTML"
        ),
        pytest.param(output({"text/html": "<b>x</b> &amp; y"}), "Output:\n\n```text\nx & y\n```", id="HTML alone"),
        pytest.param(output({"application/json": {"a": 1}}), 'Output:\n\n```json\n{\n  "a": 1\n}\n```', id="JSON"),
        pytest.param(output({"application/vnd.jupyter.widget-view+json": {}}), "", id="a widget"),
        pytest.param({"output_type": "stream", "name": "stdout", "text": " \n"}, "", id="blank"),
    ],
)
def test_an_output_is_shown_in_the_form_that_reads_best(given_output: dict[str, Any], shown: str) -> None:
    assert markdown_of(code("f()", given_output)) == f"```python\nf()\n```\n\n{shown}".rstrip() + "\n"


@pytest.mark.parametrize(
    ("source", "label"),
    [
        pytest.param("%%bash\nls", "bash", id="shell"),
        pytest.param("%%sh\nls", "bash", id="another shell"),
        pytest.param("%%R\nx", "r", id="R"),
        pytest.param("%%writefile a.txt\nx", "", id="a file"),
        pytest.param("%%time\nf()", "python", id="the kernel's own"),
    ],
)
def test_a_cell_with_a_language_of_its_own_is_labelled_so(source: str, label: str) -> None:
    assert markdown_of(code(source), language_info={"name": "python"}) == f"```{label}\n{source}\n```\n"


def test_pieces_of_one_stream_are_put_together() -> None:
    pieces = [
        {"output_type": "stream", "name": name, "text": text}
        for name, text in [("stdout", "a"), ("stdout", "b"), ("stderr", "c")]
    ]
    expected = "Output:\n\n```text\nab\n```\n\nOutput (stderr):\n\n```text\nc\n```\n"
    assert markdown_of(code("f()", *pieces)).endswith(expected)


def test_of_a_long_output_beginning_and_end_are_kept_and_the_rest_counted() -> None:
    reading = read(
        {"cells": [code("f()", {"output_type": "stream", "name": "stdout", "text": "a" * 6_000 + "b" * 6_000})]}
    )
    expected = "a" * 4_500 + "\n… 6,000 characters left out …\n" + "b" * 1_500
    assert reading.markdown == f"```python\nf()\n```\n\nOutput:\n\n```text\n{expected}\n```\n"
    assert (reading.notes, reading.truncated) == (["Left out: 6,000 characters of outputs."], True)


def test_outputs_beyond_twenty_of_a_cell_are_counted() -> None:
    reading = read({"cells": [code("f()", *[output({"text/plain": "x"})] * 25)]})
    assert reading.markdown.count("Output:") == 20
    assert (reading.notes, reading.truncated) == (["Left out: 5 outputs."], True)


def test_code_with_a_fence_inside_stays_whole() -> None:
    assert markdown_of(code("'''\n```\n'''")) == "````python\n'''\n```\n'''\n````\n"


@pytest.mark.parametrize(
    ("content", "outcome", "detail"),
    [
        pytest.param(b"{", Outcome.BAD_RESPONSE, "a notebook with broken JSON (1 bytes)", id="broken"),
        pytest.param(b"[" * 100_000, Outcome.BAD_RESPONSE, "a notebook with broken JSON (100,000 bytes)", id="deep"),
        pytest.param(b"[]", Outcome.BAD_RESPONSE, "not a notebook but other JSON (2 bytes)", id="no notebook"),
        pytest.param(b'{"cells": 1}', Outcome.BAD_RESPONSE, "not a notebook but other JSON (12 bytes)", id="no cells"),
        pytest.param(
            b"[" + b"{}," * 200_000, Outcome.UNSUPPORTED, "a notebook of too many parts (600,001 bytes)", id="crowded"
        ),
    ],
)
def test_what_is_no_notebook_is_unreadable(content: bytes, outcome: Outcome, detail: str) -> None:
    with pytest.raises(Unreadable) as raised:
        read(content)
    assert (raised.value.outcome, raised.value.detail) == (outcome, detail)


def test_a_notebook_cut_at_the_size_limit_says_so() -> None:
    with pytest.raises(Unreadable) as raised:
        read(b'{"cells": [', truncated=True)
    assert raised.value.detail == "a notebook that was cut at the size limit with broken JSON (11 bytes)"


_NAMES = st.sampled_from(
    "cell_type source input outputs output_type data text traceback ename kernelspec language level name png".split()
)
_WORDS = st.sampled_from(["code", "markdown", "heading", "stream", "error", "display_data", "image/png", "a\rb", ""])
_VALUES = st.recursive(
    st.none() | st.integers() | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES | _WORDS, inner, max_size=5),
    max_leaves=10,
)


@settings(max_examples=100)
@given(cells=st.lists(_VALUES, max_size=3), metadata=_VALUES, key=st.sampled_from(["cells", "worksheets"]))
def test_json_of_any_shape_under_the_names_of_a_notebook_is_read(
    cells: list[object], metadata: object, key: str
) -> None:
    markdown = read({key: cells, "metadata": metadata}).markdown
    assert markdown == "" or markdown.endswith("\n")


@settings(max_examples=40)
@given(st.binary(max_size=200))
def test_bytes_at_random_are_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable, match="bytes"):  # two hundred bytes at random are never a notebook
        read(body)
