"""A headless browser with the explorer in it; tests are skipped, with the reason, where there is none."""

import os
import shutil

import pytest

BROWSER = os.environ.get("SUBRIDGE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: make test-page")
    if BROWSER is None:
        pytest.skip("needs chromium: apt-get install chromium, or name it in SUBRIDGE_CHROMIUM")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=BROWSER, args=OPTIONS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def explorer_file(tmp_path_factory):
    from subridge.explorer.page import write_explorer

    place = tmp_path_factory.mktemp("page") / "explorer.html"
    write_explorer(place)
    return place


class Visit:
    """A page and what it complained about or asked for."""

    def __init__(self, page):
        self.page, self.complaints, self.requests = page, [], []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))


@pytest.fixture
def visit(browser):
    """Open a file, and check at the end that nothing was said on the console and nothing was asked for."""
    opened = []

    def go(place, address="", width=1400, height=1000, **context):
        made = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **context)
        one = Visit(made.new_page())
        opened.append((place.as_uri(), made, one))
        one.page.goto(place.as_uri() + address)
        return one.page

    yield go
    for _, made, _ in opened:
        made.close()
    for place, _, one in opened:
        assert one.complaints == []
        outside = [url for url in one.requests if url.split("#")[0] != place and not url.startswith(("data:", "blob:"))]
        assert outside == []
