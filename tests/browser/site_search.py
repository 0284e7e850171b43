"""The search of the built site in a browser, used as a reader would."""

from __future__ import annotations

import functools
import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, cast

from tests.browser.chromium import SECONDS, Page, PageError

_ROOT: Final = (
    "[...document.querySelectorAll('*')].find((node) => node.shadowRoot && node.shadowRoot.querySelector('input'))"
)
"""The search field and its hits are in a tree of their own."""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine; gives the address. Browsers read no index for a search from files."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


class Search:
    """The search of a page that is open; one word after the other."""

    def __init__(self, page: Page, address: str) -> None:
        self._page, self._address = page, address
        page.visit(address + "index.html")
        page.evaluate("document.querySelector('.md-search__button').click()")
        self._wait_for(f"Boolean({_ROOT})")

    def hits(self, words: str, most: int = 5) -> tuple[list[str], float]:
        """The addresses of the first hits, and the seconds until they were there."""
        field = f"{_ROOT}.shadowRoot.querySelector('input')"
        links = f"[...{_ROOT}.shadowRoot.querySelectorAll('a')].map((link) => decodeURIComponent(link.href))"
        self._page.evaluate(f"{field}.focus()")
        # The hits of the last words must be gone: the page marks them with the new words before it has found theirs.
        self._page.evaluate(f"{field}.value = '', {field}.dispatchEvent(new Event('input', {{bubbles: true}}))")
        self._wait_for(f"!{links}.some((link) => link.includes('h='))")
        began = time.monotonic()
        self._page.write(words)
        marked = "h=" + words.replace(" ", "+")
        self._wait_for(f"{links}.some((link) => link.includes({marked!r}))")
        took = time.monotonic() - began
        found = cast(list[str], self._page.evaluate(links))
        return [link.removeprefix(self._address).replace(f"?{marked}", "") for link in found[:most]], took

    def _wait_for(self, expression: str) -> None:
        until = time.monotonic() + SECONDS
        while not self._page.evaluate(expression):
            if time.monotonic() > until:
                raise PageError(f"the page does not get to: {expression}")
            time.sleep(0.01)
