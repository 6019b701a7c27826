# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""
Look at each page of the site in a browser, as ``./run docs --check`` does.

``python docs/check_site.py out/docs`` starts at ``index.html`` and follows the links of the site.
It prints one line for each fault, and ends with status 1 if there is one:

- a page that scrolls sideways on a wide or on a narrow screen, with the element that is too wide,
- a command of a shell that does not fit into a line of the wide page,
- a link within the site to a page or a heading that does not exist,
- an image that is not shown, and a drawing that is shown smaller than it is, with its text,
- an error in the console of the browser, or a request to the network.

Links to other sites are not followed, so that the network is not needed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
import shutil
import sys
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urlparse

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

BROWSERS = 'chromium', 'chromium-browser', 'google-chrome'
WIDE, NARROW = 1200, 400
HEIGHT = 900

PAGE = '.html'

WIDEST_ELEMENT = """() => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return null;
  const scrolls = element => element && (
    ['auto', 'scroll', 'hidden'].includes(getComputedStyle(element).overflowX)
    || scrolls(element.parentElement));
  const outside = [...document.body.querySelectorAll('*')].filter(element =>
    element.getBoundingClientRect().right > root.clientWidth && !scrolls(element.parentElement));
  const last = outside[outside.length - 1] || document.body;
  return `<${last.localName}> ${last.textContent.trim().replace(/\\s+/g, ' ').slice(0, 60)}`;
}"""
"""Returns the innermost element that makes the page too wide, or null if none does."""

LONG_COMMANDS = """() => [...document.querySelectorAll(
    '.highlight-shell pre, .highlight-console pre')]
  .filter(block => {
    const before = block.style.whiteSpace;
    block.style.whiteSpace = 'pre';
    const isLong = block.scrollWidth > block.clientWidth;
    block.style.whiteSpace = before;
    return isLong;
  })
  .map(block => block.textContent.split('\\n').reduce((a, b) => a.length >= b.length ? a : b))"""
"""Returns the longest line of each block of commands that does not fit without wrapping."""

HIDDEN_IMAGES = """() => [...document.images]
  .filter(image => { image.loading = 'eager'; return image.complete && !image.naturalWidth; })
  .map(image => image.getAttribute('src'))"""

SMALL_DRAWINGS = """() => [...document.images]
  .filter(image => image.src.endsWith('.svg') && image.width < 0.95 * image.naturalWidth)
  .map(image => `${image.getAttribute('src')}, ${image.width} of ${image.naturalWidth} px`)"""
"""Returns the drawings that are shown smaller than they are, and with them their text."""

LINKS = '() => [...document.querySelectorAll("a[href]")].map(link => link.href)'
TARGETS = '() => [...document.querySelectorAll("[id], a[name]")].map(e => e.id || e.name)'


@dataclass
class Page:
    """
    What was found on a page.

    :ivar faults: what is wrong with it, a sentence each.
    :ivar links: the addresses that it links to, absolute.
    :ivar targets: the fragments that a link to this page may have.
    """

    faults: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    targets: set[str] = field(default_factory=set)


def find_browser() -> str | None:
    """Return the path of an installed browser, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def look_at_pages(site: Path, browser_path: str) -> dict[Path, Page]:
    """
    Open the pages of a site, from ``index.html`` on.

    :param site: the folder of the site.
    :param browser_path: the browser's executable.
    :returns: the pages by their paths.
    """
    from playwright.sync_api import sync_playwright

    pages: dict[Path, Page] = {}
    waiting = [site / 'index.html']
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path)
        while waiting:
            path = waiting.pop()
            pages[path] = page = look_at(path, browser)
            known = {*pages, *waiting}
            linked = dict.fromkeys(file for file, _ in links_within(site, page))
            waiting += [file for file in linked
                        if file not in known and file.suffix == PAGE and file.is_file()]
        browser.close()
    return pages


def look_at(path: Path, browser: Browser) -> Page:
    """Open a page on a wide and on a narrow screen."""
    found = Page()
    tab = browser.new_page(viewport={'width': WIDE, 'height': HEIGHT})
    tab.route('**/*', lambda route: answer(route, found))
    tab.on('console', lambda message: found.faults.extend(
        [f'the console has an error: {message.text}'] if message.type == 'error' else []))
    tab.on('pageerror', lambda error: found.faults.append(f'a script fails: {error}'))
    tab.goto(path.as_uri(), wait_until='load')
    found.links = tab.evaluate(LINKS)
    found.targets = {'', *tab.evaluate(TARGETS)}
    found.faults += [f'an image is not shown: {name}' for name in tab.evaluate(HIDDEN_IMAGES)]
    found.faults += [f'a drawing is shown too small to read: {name}'
                     for name in tab.evaluate(SMALL_DRAWINGS)]
    found.faults += [f'a command is too long for a line: {line}'
                     for line in tab.evaluate(LONG_COMMANDS)]
    for width in (WIDE, NARROW):
        tab.set_viewport_size({'width': width, 'height': HEIGHT})
        widest = tab.evaluate(WIDEST_ELEMENT)
        if widest is not None:
            found.faults.append(f'the page scrolls sideways at {width} px: {widest}')
    tab.close()
    return found


def answer(route: Route, found: Page) -> None:
    """Let a page load files only."""
    url = route.request.url
    if urlparse(url).scheme in ('file', 'data', 'blob'):
        route.continue_()
        return
    found.faults.append(f'the page needs the network: {url}')
    route.abort()


def links_within(site: Path, page: Page) -> Iterator[tuple[Path, str]]:
    """Yield the file and the fragment of each link that stays within the site."""
    for link in page.links:
        address, fragment = urldefrag(link)
        parts = urlparse(address)
        if parts.scheme == 'file':
            yield Path(unquote(parts.path)), unquote(fragment)


def dead_links(site: Path, pages: dict[Path, Page]) -> Iterator[tuple[Path, str]]:
    """Yield each page with a fault for each of its links that leads nowhere."""
    for path, page in pages.items():
        for file, fragment in dict.fromkeys(links_within(site, page)):
            name = file.relative_to(site) if file.is_relative_to(site) else file
            if not file.is_file():
                yield path, f'a link leads to {name}, which does not exist'
            elif file in pages and fragment not in pages[file].targets:
                yield path, f'a link leads to {name}#{fragment}, which does not exist'


def main() -> int:
    """Check the site that the command line names; return the exit status."""
    parser = argparse.ArgumentParser(
        description='Look at each page of the site in a browser.')
    parser.add_argument('site', type=Path, help='the folder with index.html')
    site = parser.parse_args().site.resolve()
    browser_path = find_browser()
    if browser_path is None:
        sys.stderr.write(
            f'check_site: none of {", ".join(BROWSERS)} is installed; on Debian: '
            'apt-get install chromium\n')
        return 2
    pages = look_at_pages(site, browser_path)
    faults = [(path, text) for path, page in pages.items() for text in page.faults]
    faults += dead_links(site, pages)
    for path, text in faults:
        sys.stdout.write(f'{path.relative_to(site)}: {text}\n')
    sys.stdout.write(f'{len(pages)} pages, {len(faults)} faults\n')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
