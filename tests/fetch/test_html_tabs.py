"""Tabs of documentation: every one of them, under the label that stood in the bar."""

from __future__ import annotations

import pytest
import turbohtml

from webseam.fetch.readers.html.convert import to_markdown
from webseam.fetch.readers.html.tabs import label_tabs


def convert(html: str) -> str:
    return to_markdown(turbohtml.parse(html), "https://docs.example/").markdown


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(
            '<div class="tabs-container"><ul role="tablist" class="tabs"><li role="tab">npm</li>'
            '<li role="tab">yarn</li>'
            '</ul><div class="margin-top--md"><div role="tabpanel"><p>one</p></div><div role="tabpanel" hidden>'
            "<p>two</p>"
            "</div></div></div>",
            id="docusaurus",
        ),
        pytest.param(
            '<div class="tabbed-set tabbed-alternate"><input id="t1" type="radio"><input id="t2" type="radio"><div '
            'class="tabbed-labels"><label for="t1">npm</label><label for="t2">yarn</label></div><div '
            'class="tabbed-content"><div class="tabbed-block"><p>one</p></div><div class="tabbed-block"><p>two'
            "</p></div>"
            "</div></div>",
            id="material",
        ),
        pytest.param(
            '<div class="tabbed-set"><input id="t1" type="radio"><label for="t1">npm</label>'
            '<div class="tabbed-content">'
            '<p>one</p></div><input id="t2" type="radio"><label for="t2">yarn</label>'
            '<div class="tabbed-content">two</div>'
            "</div>",
            id="older material",
        ),
        pytest.param(
            '<div class="sd-tab-set"><input id="t1" type="radio"><label class="sd-tab-label" for="t1">npm</label><div '
            'class="sd-tab-content">one</div><input id="t2" type="radio">'
            '<label class="sd-tab-label" for="t2">yarn</label>'
            '<div class="sd-tab-content">two</div></div>',
            id="sphinx-design",
        ),
        pytest.param(
            '<div role="tablist"><button aria-controls="p1" id="t1" role="tab">npm</button><button aria-controls="p2" '
            'id="t2" role="tab">yarn</button></div><div aria-labelledby="t1" id="p1" role="tabpanel">one</div><div '
            'aria-labelledby="t2" hidden id="p2" role="tabpanel">two</div>',
            id="sphinx-tabs",
        ),
        pytest.param(
            '<div class="vp-code-group"><div class="tabs"><input type="radio"><label>npm</label>'
            '<input type="radio"><label>'
            'yarn</label></div><div class="blocks"><div class="active">one</div><div>two</div></div></div>',
            id="vitepress",
        ),
        pytest.param(
            '<ul role="tablist"><li role="presentation"><a role="tab" href="#p1" id="t1">npm</a></li><li '
            'role="presentation"><a role="tab" href="#p2" id="t2">yarn</a></li></ul>'
            '<div id="p1" role="tabpanel">one</div>'
            '<div id="p2" role="tabpanel" hidden>two</div>',
            id="starlight",
        ),
        pytest.param(
            '<ul class="nav nav-tabs"><li><a data-toggle="tab" href="#p1">npm</a></li><li>'
            '<a data-toggle="tab" href="#p2">'
            'yarn</a></li></ul><div class="tab-content"><div id="p1" class="tab-pane">one</div><div id="p2" '
            'class="tab-pane">two</div></div>',
            id="bootstrap",
        ),
    ],
)
def test_tabs_come_one_after_the_other_under_their_labels(html: str) -> None:
    assert convert(html) == "**npm**\n\none\n\n**yarn**\n\ntwo\n"


def test_tabs_without_labels_and_labels_without_tabs_stay_as_they_are() -> None:
    html = '<ul role="tablist"><li role="tab">a</li></ul><div role="tabpanel">one</div><div role="tabpanel">two</div>'
    assert convert(html) == "- a\n\none\n\ntwo\n"


def test_tabs_are_labelled_once() -> None:
    document = turbohtml.parse(
        '<div role="tablist"><a role="tab" href="#p">T</a></div><div id="p" role="tabpanel">x</div>'
    )
    assert (label_tabs(document), label_tabs(document)) == (1, 0)
    assert to_markdown(document, "https://docs.example/").markdown == "**T**\n\nx\n"
