"""The page in a real browser: it is not empty, says nothing in the console, and asks the network for nothing."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="the extra `report` is not installed")
pytest.importorskip("matplotlib", reason="the extra `report` is not installed")

from PIL import Image  # noqa: E402

from converter.report.page.html import render_html  # noqa: E402
from tests.conftest import CHROMIUM  # noqa: E402
from tests.report.standins import report, scripts  # noqa: E402

pytestmark = [pytest.mark.browser, pytest.mark.one_test_in(2)]
WIDTH, HEIGHT = 1300, 5400  # the whole page, so that its last picture is looked at
DARK = "--blink-settings=preferredColorScheme=0"
LIGHT = "--blink-settings=preferredColorScheme=1"


@dataclass(frozen=True)
class Visit:
    """What a browser made of a page: the picture, its console's lines, and the addresses that the page asked for."""

    image: Image.Image
    console: list[str]
    asked: list[str]


def visit(page: str, folder: Path, *flags: str) -> Visit:
    """Loads a page from a file without a network, and keeps what Chromium shows, says and asks for.

    A page that several tests look at in the same way is loaded once.
    """
    if (page, *flags) not in VISITS:
        VISITS[(page, *flags)] = loaded(page, folder, *flags)
    return VISITS[(page, *flags)]


VISITS: dict[tuple[str, ...], Visit] = {}


def loaded(page: str, folder: Path, *flags: str) -> Visit:
    path, log = folder / "page.html", folder / "net.json"
    path.write_text(page, encoding="utf-8")
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", f"--log-net-log={log}", *flags,
        f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={folder / 'page.png'}", path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    console = [line for line in done.stderr.splitlines() if re.search(r"[:\[]CONSOLE", line)]
    events = json.loads(log.read_text(encoding="utf-8", errors="replace"))["events"]
    # the browser asks for things of its own, which belong to no site
    asked = {e["params"]["url"] for e in events if "file://" in e.get("params", {}).get("network_isolation_key", "")}
    return Visit(Image.open(folder / "page.png").convert("RGB"), console, sorted(asked))


def colours(image: Image.Image) -> dict[tuple[int, int, int], float]:
    """Shares of the page by colour, the most frequent first."""
    found = image.getcolors(image.width * image.height) or []
    total = image.width * image.height
    return {colour: count / total for count, colour in sorted(found, reverse=True)}


@pytest.fixture(scope="module")
def page() -> str:
    return render_html(report(4), scripts())


def test_the_page_is_shown(page: str, tmp_path: Path) -> None:
    found = visit(page, tmp_path, LIGHT)
    assert found.image.size == (WIDTH, HEIGHT)
    assert (found.console, found.asked) == ([], [])
    shares = colours(found.image)
    assert max(shares.values()) < 0.9 and len(shares) > 500
    # each thousand rows of pixels holds something, down to the end of the picture
    for top in range(0, HEIGHT - 1000, 1000):
        assert len(colours(found.image.crop((0, top, WIDTH, top + 1000)))) > 50, top


@pytest.mark.parametrize(("flag", "is_light"), [(LIGHT, True), (DARK, False)])
def test_it_is_light_or_dark_as_the_reader_likes(page: str, tmp_path: Path, flag: str, is_light: bool) -> None:
    shares = colours(visit(page, tmp_path, flag).image)
    paper = next(iter(shares))
    assert (sum(paper) > 3 * 200) is is_light
    ink = sum(share for colour, share in shares.items() if (sum(colour) < 3 * 90) is is_light and colour != paper)
    assert 0.005 < ink < 0.5


def test_colours_of_the_pictures_are_there(page: str, tmp_path: Path) -> None:
    from converter.report.page.plots import COLOURS

    shares = colours(visit(page, tmp_path, LIGHT).image)
    for colour in COLOURS.values():
        wanted = tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))
        near = sum(s for c, s in shares.items() if max(abs(a - b) for a, b in zip(c, wanted, strict=True)) < 30)
        assert near > 1e-4, colour


# -- the looking itself: each of these pages is found out -------------------------------------------


def test_an_empty_page_is_seen(tmp_path: Path) -> None:
    shares = colours(visit("<!DOCTYPE html><title>nothing</title>", tmp_path, LIGHT).image)
    assert max(shares.values()) == 1.0


def test_an_error_in_the_console_is_heard(tmp_path: Path) -> None:
    broken = "<!DOCTYPE html><script>console.error('no such tower'); undefined_name()</script>"
    said = " ".join(visit(broken, tmp_path).console)
    assert "no such tower" in said and "undefined_name" in said


def test_a_request_is_noticed(tmp_path: Path) -> None:
    asking = "<!DOCTYPE html><link rel=icon href='data:,'><img src='http://127.0.0.1:9/tower.png'>"
    assert visit(asking, tmp_path).asked == ["http://127.0.0.1:9/tower.png"]


def test_the_page_itself_forbids_requests(page: str, tmp_path: Path) -> None:
    asking = page.replace("<main>", "<main><img src='http://127.0.0.1:9/tower.png'>", 1)
    found = visit(asking, tmp_path)
    assert found.asked == []
    assert any("Content Security Policy" in line for line in found.console)


# -- small and large windows -----------------------------------------------------------------------

# An element with more in it than it shows; pictures keep the size of their text, and scroll.
CUT = "one.scrollWidth > one.clientWidth + 1 && !one.matches('figure .wide')"
STACKED = "one.matches('.changed') && getComputedStyle(one).display === 'grid'"


def framed(page: str, folder: Path, width: int, *flags: str) -> Image.Image:
    """What Chromium shows of a page that is so wide; in a frame, as a window of Chromium's has at least 500 pixels."""
    (folder / "shown.html").write_text(page, encoding="utf-8")
    frame = f"<iframe src=shown.html style='border: 0; width: {width}px; height: {HEIGHT}px'></iframe>"
    (folder / "frame.html").write_text(f"<!DOCTYPE html><body style='margin: 0'>{frame}", encoding="utf-8")
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", *flags,
        f"--user-data-dir={folder / 'profile'}", f"--window-size=1600,{HEIGHT}",
        f"--screenshot={folder / 'shown.png'}", (folder / "frame.html").as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return Image.open(folder / "shown.png").convert("RGB").crop((0, 0, width, HEIGHT))


def measured(page: str, folder: Path, width: int, which: str = CUT, *flags: str) -> tuple[int, int, list[str]]:
    """The window's width, the page's, and the elements of which something holds, with everything unfolded.

    The page is in a frame: a window of Chromium's has at least 500 pixels.
    """
    script = f"""<script>addEventListener('load', () => {{
        document.querySelectorAll('details').forEach(one => {{ one.open = true }});
        const found = [...document.querySelectorAll('body *')].filter(one => !one.closest('svg, .unseen') &&
            getComputedStyle(one).display !== 'inline' && {which});
        const names = found.map(one => one.tagName + '.' + one.className);
        parent.postMessage([innerWidth, document.documentElement.scrollWidth, names], '*');
    }})</script>"""
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page).replace("</head>", script + "</head>")
    (folder / "measured.html").write_text(free, encoding="utf-8")
    frame = f"<iframe src=measured.html style='border: 0; width: {width}px; height: 2000px'></iframe>"
    listen = "<script>addEventListener('message', told => { document.title = JSON.stringify(told.data) })</script>"
    (folder / "frame.html").write_text(f"<!DOCTYPE html><title></title>{listen}{frame}", encoding="utf-8")
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", *flags,
        f"--user-data-dir={folder / 'profile'}", "--window-size=1600,2000", "--virtual-time-budget=5000", "--dump-dom",
        (folder / "frame.html").as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = re.search(r"<title>(\[.*?)</title>", done.stdout)
    assert found, done.stdout[:300] + done.stderr
    inner, whole, names = json.loads(found[1])
    return inner, whole, names


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("flag", "is_light"), [(LIGHT, True), (DARK, False)], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 800, 1440])
def test_nothing_is_cut(page: str, tmp_path: Path, width: int, flag: str, is_light: bool) -> None:
    assert measured(page, tmp_path, width, CUT, flag) == (width, width, [])
    picture = framed(page, tmp_path, width, flag)
    assert picture.size == (width, HEIGHT)
    margins = [colours(picture.crop((left, 0, left + 4, HEIGHT))) for left in (0, width - 4)]
    # Bands of the page's colours reach both edges, and nothing runs over one; each part that is shown has something.
    assert margins[0] == margins[1] and len(margins[0]) < 8
    assert (sum(next(iter(margins[0]))) > 3 * 200) is is_light
    for top in range(0, HEIGHT - 1000, 1000):
        assert len(colours(picture.crop((0, top, width, top + 1000)))) > 50, top


def test_a_long_name_goes_on_in_the_next_line(page: str, tmp_path: Path) -> None:
    name = f"<section><ul><li>{'network/' * 9}{'moving_variance' * 4}:0 follows</li></ul></section>"
    assert measured(page.replace("<main>", f"<main>{name}", 1), tmp_path, 390) == (390, 390, [])


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("width", "is_stacked"), [(390, True), (800, False)])
def test_on_a_phone_the_sides_stand_below_each_other(page: str, tmp_path: Path, width: int, is_stacked: bool) -> None:
    assert bool(measured(page, tmp_path, width, STACKED)[2]) is is_stacked


def test_what_is_cut_is_seen(page: str, tmp_path: Path) -> None:
    narrow = "<p style='width: 300px; overflow: hidden; white-space: nowrap'>" + "tower " * 99 + "</p>"
    broad = "<div style='width: 500px; background: red'>x</div>"
    inner, whole, names = measured(page.replace("<main>", f"<main>{narrow}{broad}", 1), tmp_path, 390)
    assert (inner, "P." in names) == (390, True)
    assert whole > 390
    picture = framed(page.replace("<main>", f"<main>{broad}", 1), tmp_path, 390)
    assert colours(picture.crop((0, 0, 4, HEIGHT))) != colours(picture.crop((386, 0, 390, HEIGHT)))
