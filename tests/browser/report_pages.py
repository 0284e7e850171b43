"""A report's page in a browser: opened, read and used as a reader would."""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast

from tests.browser.chromium import Page

from kafkawire.report.contents import LogReport
from kafkawire.report.rendering import render_page

MINUTE: Final = 60_000
BEGAN: Final = 1_767_225_600_000  # 2026-01-01
ENDED: Final = BEGAN + 60 * MINUTE


def shown(browser: Page, report: LogReport, folder: Path) -> Page:
    """Write a report and open it."""
    file = folder / "report.html"
    file.write_text(render_page(report, written_at=ENDED), "utf-8")
    return opened(browser, file)


def opened(browser: Page, file: Path) -> Page:
    """Open a page, all complaints about earlier ones being forgotten."""
    browser.complaints.clear()
    browser.requests.clear()
    browser.open(file)
    return browser


def texts(page: Page, selector: str) -> list[str]:
    """The texts of elements."""
    found = page.evaluate(f"[...document.querySelectorAll({selector!r})].map((node) => node.textContent)")
    return cast(list[str], found)


def click(page: Page, selector: str) -> None:
    """Click on the first such element."""
    page.evaluate(f"document.querySelector({selector!r}).click()")
    page.settle()


def focus(page: Page, element: str) -> None:
    """Give an element the focus."""
    page.evaluate(f"document.getElementById({element!r}).focus()")


def search(page: Page, element: str, words: str) -> None:
    """Type, and wait as long as the page waits for more to be typed."""
    focus(page, element)
    page.write(words)
    page.evaluate("new Promise((done) => setTimeout(done, 120))")
    page.settle()


def move(page: Page, action: str) -> None:
    """Do what changes the address within the page: until the page knows it, and as long as its search fields delay."""
    page.evaluate(
        "new Promise((done) => { const before = location.hash;"
        f" addEventListener('hashchange', () => done(true), {{ once: true }}); {action}; }})"
    )
    page.evaluate("new Promise((done) => setTimeout(done, 120))")
    page.settle()


def follow(page: Page, address: str) -> None:
    """Go to an address within the page, which may be there already."""
    move(page, f"location.hash = {address!r}; if (location.hash === before) done(true)")


def until(page: Page, condition: str) -> None:
    """Wait until an expression in the page is true, ten seconds at most."""
    page.evaluate(
        "new Promise((done, fail) => { const end = performance.now() + 10000; const look = () =>"
        f" {condition} ? done(true) : performance.now() > end ? fail(new Error({condition!r})) : setTimeout(look, 20);"
        " look(); })"
    )


def go_to(page: Page, date: str) -> None:
    """Write a date into the page's field."""
    page.evaluate(f"document.getElementById('date').value = {date!r}")
    page.evaluate("document.getElementById('date').dispatchEvent(new Event('change'))")
    page.settle()


def compare(page: Page, begin: str, end: str) -> None:
    """Choose the two dates that are compared."""
    for name, date in (("from", begin), ("to", end)):
        page.evaluate(
            f"{{ const box = document.getElementById('compare-{name}'); box.value = {date!r};"
            "box.dispatchEvent(new Event('change', { bubbles: true })); }"
        )
        page.settle()


def downloaded(page: Page, button: int, folder: Path, where: str = "#compare-downloads") -> str:
    """The file that a button saves, as the browser writes it."""
    page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    click(page, f"{where} button:nth-child({button})")
    for _ in range(200):
        page.evaluate("new Promise((done) => setTimeout(done, 20))")
        found = [file for file in folder.iterdir() if file.suffix in (".csv", ".json")]
        if found:
            (file,) = found
            text = file.read_bytes().decode()
            file.unlink()
            return text
    raise AssertionError("nothing was saved")
