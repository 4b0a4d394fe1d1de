"""LangChain: `create_agent(model, tools=webseam.adapters.langchain.tools())`, and a retriever of web pages.

A failed call becomes a tool message of status "error" with the text of the failure. Tools work with `invoke` and with
`ainvoke`. The retriever is for programs, not for models: it raises.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Literal

from webseam.adapters.session import Session, Tools, details, missing
from webseam.blocking import Web
from webseam.model import Page, SearchHit, SearchResponse
from webseam.tools import ToolResult
from webseam.tools.definitions import Tool
from webseam.web import AsyncWeb

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, ToolException
    from pydantic import PrivateAttr
except ImportError as error:
    raise missing(__name__, "langchain-core>=1.8", error) from error


class WebTool(BaseTool):
    """One tool. The message's `artifact` has the outcome and the whole response or page as JSON types."""

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    _session: Session = PrivateAttr()

    def __init__(self, session: Session, tool: Tool) -> None:
        super().__init__(name=tool.name, description=tool.description, args_schema=deepcopy(tool.parameters))
        self._session = session

    # No `config` and no `run_manager`: a model may think of arguments of these names, and hears that there are none.
    def _run(self, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
        return _told(self._session.call_blocking(self.name, arguments))

    async def _arun(self, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
        return _told(await self._session.call(self.name, arguments))


def tools(web: AsyncWeb | Web | None = None, names: Iterable[str] | None = None) -> Tools[BaseTool]:
    """Return the tools for an agent or for `model.bind_tools`; they remember together what was asked.

    Args:
        web: what to call; the caller closes it. An `AsyncWeb` works with `ainvoke`, and with `invoke` from another
            thread than its event loop's. None = one is opened: use `with tools() as web_tools`, or `close` it.
        names: only these tools.

    Raises:
        RequestError: there is no such tool. SettingsError: the settings are wrong.
    """
    return Tools(web, names, WebTool)


def _told(result: ToolResult) -> tuple[str, dict[str, Any]]:
    if result.is_error:
        raise ToolException(result.text)
    return result.text, details(result)


class WebRetriever(BaseRetriever):
    """Finds web pages: one document a hit, in the order of the hits, made of what was found on it.

    Args:
        web: what to call; the caller closes it. None = one is opened: `close` it, or use `with`.
        count: hits. read: how many of the first are read, for the passages that matter to the query; the text of the
            others is their snippet. max_tokens: of all passages together.
        options: of `AsyncWeb.search`, e.g. `{"include_domains": ["example.org"]}`.

    `metadata` has source (the URL), read (False = a snippet), providers, and title, site, author and published where
    they are known. What a search raises is raised.
    """

    count: int = 5
    read: int = 3
    max_tokens: int = 4_000
    options: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it for each retriever
    _session: Session = PrivateAttr()

    def __init__(self, web: AsyncWeb | Web | None = None, **fields: Any) -> None:
        super().__init__(**fields)
        self._session = Session(web)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return _documents(self._session.run_blocking(lambda web: self._search(web, query)))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return _documents(await self._session.run(lambda web: self._search(web, query)))

    async def _search(self, web: AsyncWeb, query: str) -> SearchResponse:
        return await web.search(
            query, count=self.count, read=self.read, max_tokens=self.max_tokens if self.read else None, **self.options
        )

    def close(self) -> None:
        """Close the connections, unless the web was given."""
        self._session.close()

    async def aclose(self) -> None:
        """The same, from a running event loop."""
        await self._session.aclose()


def _documents(response: SearchResponse) -> list[Document]:
    pages = {page.url: page for page in response.pages if page.markdown}
    return [_document(hit, pages.get(hit.url.partition("#")[0])) for hit in response.hits]


def _document(hit: SearchHit, page: Page | None) -> Document:
    if page:
        found = [passage.text for passage in page.passages] or [page.markdown]
    else:
        found = list(hit.passages) or [hit.snippet or ""]
    known = {"title": hit.title, "site": hit.site, "author": hit.author, "published": hit.published}
    return Document(
        page_content="\n\n".join(found),
        metadata={
            "source": hit.url,
            **{name: value for name, value in known.items() if value},
            "providers": list(hit.providers),
            "read": page is not None,
        },
    )
