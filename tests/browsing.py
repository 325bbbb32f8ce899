"""Chromium for tests: pages of a service as people open them, and what went wrong in them."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
SCREENS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
SCREENS += [(1920, "light"), (640, "light")]  # the last is 1280 at 200 %
_SMALL = """
() => [...document.querySelectorAll("a:not(.skip), button, summary, .choice, input:not([type=radio])")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
    .map((one) => one.outerHTML)
"""
_SIDEWAYS = """
() => [...document.querySelectorAll("*")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible")
    .map((one) => one.outerHTML)
"""
_MARK = """
window.hacked = [];
for (const name of ["alert", "confirm", "prompt"]) window[name] = () => window.hacked.push(name);
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the Chromium of this machine; its sandbox needs a user that is not root."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Visit:
    """A page, and what it complained of: console errors, dialogs, requests to other hosts."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page

    @property
    def is_wider_than_its_window(self) -> bool:
        return bool(self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))

    @property
    def unfit_for_a_phone(self) -> list[str]:
        """What is too small for a finger, and what scrolls sideways."""
        return [*self.page.evaluate(_SMALL), *self.page.evaluate(_SIDEWAYS)]

    @property
    def hacked(self) -> list[str]:
        return list(self.page.evaluate("window.hacked"))


@contextmanager
def visit(
    browser: Browser, base: str, *, width: int = 1280, scheme: Any = "light", **more: Any
) -> Iterator[Visit]:
    """Open an empty page of a size and a colour scheme."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **more)
    context.add_init_script(_MARK)
    page = context.new_page()
    visited = Visit(page, base)
    page.on("console", lambda said: visited.complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: visited.complaints.append(str(error)))
    page.on(
        "request", lambda sent: None if sent.url.startswith(base) else visited.complaints.append(sent.url)
    )
    yield visited
    context.close()
