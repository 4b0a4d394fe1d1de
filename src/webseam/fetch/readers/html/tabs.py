"""Tabs: all of them one after the other, each under its label.

A page shows one and hides the others; a reader of Markdown can only read on. The labels stand in a bar of their own,
mostly of buttons, so this has to run before hidden elements, controls and bars are taken out of the tree.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from turbohtml import Node

# Panels that ARIA or Bootstrap name; sets of Material, VitePress and sphinx-design, told by their classes.
_ANY: Final = "[role=tabpanel], .tab-pane, .tabbed-set, .sd-tab-set, .vp-code-group"
_MAX_TABS: Final = 400  # of a page; more are no tabs that somebody wrote
_MAX_BARS: Final = 40  # for whose panels the elements above them are searched
_MAX_LABEL: Final = 100  # characters
_NEAR: Final = 20  # elements between a panel and what holds its bar
_LEVELS: Final = 4  # above a bar of tabs in which its panels are looked for


def label_tabs(root: Node) -> int:
    """Put the label of every tab at the start of its panel and take the bars away. Returns how many; changes the tree.

    A second call changes nothing.
    """
    if root.select_one(_ANY) is None:
        return 0
    pairs = [*_by_reference(root), *_by_order(root)]
    done: set[Any] = set()
    for label, panel in pairs[:_MAX_TABS]:
        text = " ".join(label.text.split())
        if panel in done or not text or len(text) > _MAX_LABEL:
            continue
        done.add(panel)
        if panel.tag == "pre":
            panel.insert_before(bold_paragraph(text))
        else:
            panel.insert(0, bold_paragraph(text))
    for label, panel in pairs[:_MAX_TABS]:
        if panel in done:
            label.extract()
    return len(done)


def bold_paragraph(text: str) -> Any:
    """Return a new element: a paragraph of these words, in bold."""
    from turbohtml import Element, Text

    bold = Element("strong")
    bold.append(Text(text))
    paragraph = Element("p")
    paragraph.append(bold)
    return paragraph


def _by_reference(root: Node) -> list[tuple[Any, Any]]:
    """Return labels with the panels they name, or that name them, by id; else by their places beside each other."""
    panels = root.select("[role=tabpanel], .tab-pane")[:_MAX_TABS]
    if not panels:
        return []
    by_id = {panel.attr("id"): panel for panel in panels if panel.attr("id")}
    tabs = root.select("[role=tab], [data-toggle=tab], [data-bs-toggle=tab], .nav-tabs a, .nav-pills a")[:_MAX_TABS]
    labels = {tab.attr("id"): tab for tab in tabs if tab.attr("id")}
    pairs = []
    for tab in tabs:
        named = tab.attr("aria-controls") or tab.attr("data-bs-target") or tab.attr("data-target") or tab.attr("href")
        panel = by_id.get((named or "").rpartition("#")[2] or None)
        if panel is not None:
            pairs.append((tab, panel))
    for panel in panels:
        label = labels.get(panel.attr("aria-labelledby") or None)
        if label is not None:
            pairs.append((label, panel))
    if not pairs:
        for bar in root.select("[role=tablist]")[:_MAX_BARS]:
            pairs += _beside(bar)
    return pairs


def _beside(bar: Any) -> list[tuple[Any, Any]]:
    """Return the tabs of a bar with the panels that stand below the same element, in their order."""
    tabs = bar.select("[role=tab]")
    for above in islice(bar.ancestors, _LEVELS):
        panels = [panel for panel in above.select("[role=tabpanel]")[:_MAX_TABS] if _is_outermost(panel, above)]
        if panels:
            return list(zip(tabs, panels, strict=True)) if len(panels) == len(tabs) else []
    return []


def _is_outermost(panel: Any, above: Any) -> bool:
    for between in islice(panel.ancestors, _NEAR):
        if between == above:
            return True
        if getattr(between, "attr", lambda _: None)("role") == "tabpanel":
            return False
    return False


def _by_order(root: Node) -> list[tuple[Any, Any]]:
    """Return the labels and panels of sets that only a style sheet brings together."""
    pairs: list[tuple[Any, Any]] = []
    for tabs in root.select(".tabbed-set, .sd-tab-set, .vp-code-group")[:_MAX_TABS]:
        bar, content = _child(tabs, "tabbed-labels", "tabs"), _child(tabs, "tabbed-content", "blocks")
        if bar is not None and content is not None:
            labels = [part for part in bar.children if getattr(part, "tag", None) == "label"]
            panels = [part for part in content.children if getattr(part, "tag", None) is not None]
            if len(labels) == len(panels):
                pairs += zip(labels, panels, strict=True)
            continue
        waiting = None
        for part in tabs.children:
            tag = getattr(part, "tag", None)
            if tag == "label":
                waiting = part
            elif tag == "div" and waiting is not None:
                pairs.append((waiting, part))
                waiting = None
    return pairs


def _child(node: Any, *classes: str) -> Any:
    for part in node.children:
        if getattr(part, "tag", None) is not None and not set(classes).isdisjoint((part.attr("class") or "").split()):
            return part
    return None
