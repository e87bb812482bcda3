"""The report in headless Chromium: hover, click, search, keys and zoom do what they say.

Needs the package playwright, and a browser: its own, one on the path, or the one that the
environment variable BESTDAG_CHROMIUM names.
"""

import os
import shutil

import pytest

from bestdag import learn, read
from bestdag.examples import example

sync_api = pytest.importorskip("playwright.sync_api")

_BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    known = os.environ.get("BESTDAG_CHROMIUM") or next(
        filter(None, map(shutil.which, _BROWSERS)), None
    )
    with sync_api.sync_playwright() as playwright:
        try:
            made = playwright.chromium.launch(executable_path=known, args=["--no-sandbox"])
        except sync_api.Error as error:
            pytest.skip(f"no browser: {str(error).splitlines()[0]}")
        yield made
        made.close()


@pytest.fixture(scope="module")
def result():
    return learn(example("asia.csv"), "bdeu")


@pytest.fixture
def opened(browser, tmp_path):
    """Open the report of a result; at the end nothing may have been complained about or fetched."""
    complaints, fetched = [], []

    def open_report(result, **settings):
        path = tmp_path / "report.html"
        result.report(path)
        page = browser.new_page(**settings)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_report
    assert complaints == []
    assert [url for url in fetched if not url.endswith("/report.html")] == []


def node(page, name):
    return page.locator("#picture .node").filter(has_text=name)


def test_hover_shows_the_score_of_the_family_and_its_arithmetic(opened, result):
    from bestdag import Scorer

    page = opened(result)
    assert page.locator("#tip").is_hidden()
    node(page, "dysp").hover()
    tip = page.locator("#tip").inner_text()
    explained = Scorer(result.dataset, "bdeu").explain("dysp", ["bronc", "either"])
    assert "dysp given bronc, either" in tip
    assert f"{explained.value:.6f} nats" in tip
    for label, value in explained.terms.items():
        assert label in tip
        assert f"{value:.6f}" in tip
    page.mouse.move(1, 1)
    assert page.locator("#tip").is_hidden()


def test_click_shows_the_conditional_table_and_the_marginal(opened, result):
    page = opened(result)
    node(page, "either").click()
    network = result.fit()
    said = page.locator("#node").inner_text()
    for value in network.query("either").values.tolist():
        assert f"{float(f'{value:.4g}'):#.3g}" in said
    rows = page.locator("#node tbody tr").all_inner_texts()
    assert len(rows) == network.table("either").n_configurations
    first = network.table("either").row(lung="no", tub="no")
    assert [float(cell) for cell in rows[0].split()[2:]] == pytest.approx(first.tolist(), rel=1e-3)
    page.locator("#node button").filter(has_text="xray").click()
    assert page.locator("#node h2").inner_text() == "xray"


def test_search_marks_what_it_finds(opened, result):
    page = opened(result)
    page.locator("#find").fill("T")
    assert page.locator("#found").inner_text() == "2 found"
    assert page.locator(".node.match").all_text_contents() == ["either", "tub"]
    page.keyboard.press("Enter")
    assert page.locator("#node h2").inner_text() == "either"
    page.keyboard.press("Enter")
    assert page.locator("#node h2").inner_text() == "tub"
    page.locator("#find").fill("")
    assert page.locator(".node.match").count() == 0


def test_all_of_it_by_keyboard(opened, result):
    page = opened(result)
    page.locator("#whole").focus()
    page.keyboard.press("Tab")
    focused = page.evaluate("document.activeElement.textContent")
    assert focused == "asia"
    assert "asia given no parents" in page.locator("#tip").inner_text()
    node(page, "smoke").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "lung"
    page.keyboard.press("Enter")
    assert page.locator("#node h2").inner_text() == "lung"
    before = page.locator("#picture svg").get_attribute("viewBox")
    page.keyboard.press("+")
    assert page.locator("#picture svg").get_attribute("viewBox") != before
    page.keyboard.press("0")
    assert page.locator("#picture svg").get_attribute("viewBox") == before
    page.keyboard.press("Escape")
    assert page.locator(".node.chosen").count() == 0


def test_dragging_moves_the_picture_and_chooses_nothing(opened, result):
    page = opened(result)
    before = page.locator("#picture svg").get_attribute("viewBox").split()
    node(page, "lung").hover()
    page.mouse.down()
    page.mouse.move(400, 500, steps=4)
    page.mouse.up()
    after = page.locator("#picture svg").get_attribute("viewBox").split()
    assert after[:2] != before[:2]
    assert after[2:] == before[2:]
    assert page.locator(".node.chosen").count() == 0
    page.locator("#whole").click()
    assert page.locator("#picture svg").get_attribute("viewBox").split() == before


def test_a_column_called_script_is_text(opened):
    name, state = "<script>alert(1)</script>", "<img src=x onerror=alert(1)>"
    data = read({name: ["no", state] * 30, "b": ["u", "v"] * 30})
    page = opened(learn(data))
    page.locator("#picture .node").nth(0).click()
    assert page.locator("#node h2").inner_text() == name
    assert state in page.locator("#node").inner_text()
    assert page.locator("#node img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_readable_on_a_phone_in_light_and_dark(opened, result, scheme):
    phone = {"viewport": {"width": 375, "height": 720}, "color_scheme": scheme}
    page = opened(result, **phone)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = page.evaluate("getComputedStyle(document.body).color")
    lightness = [sum(map(int, c.strip("rgb()").split(","))) for c in (ground, ink)]
    assert (lightness[0] > lightness[1]) == (scheme == "light")
    assert abs(lightness[0] - lightness[1]) > 400


_PHONE = {"viewport": {"width": 390, "height": 844}}


def test_what_if_is_on_the_first_screen_of_a_phone(opened, result):
    page = opened(result, **_PHONE)
    heading = page.locator("aside h2").first
    assert heading.inner_text() == "What if"
    box = page.locator("#cards button").first.bounding_box()
    assert box["y"] + box["height"] < 844
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_evidence_is_set_in_the_panel_of_a_variable_and_listed(opened, result):
    page = opened(result)
    assert page.locator("#forget").is_hidden()
    node(page, "bronc").click()
    page.locator("#node .bar button").filter(has_text="yes").click()
    assert page.locator("#evidence").inner_text() == "Evidence: bronc = yes"
    assert page.locator(".node.known").all_text_contents() == ["bronc"]
    node(page, "dysp").click()
    expected = result.fit().query("dysp", given={"bronc": "yes"})["yes"]
    shown = page.locator("#node .bar").filter(has_text="yes").locator(".n").inner_text()
    assert float(shown) == pytest.approx(expected, rel=6e-3)
    page.locator("#forget").click()
    assert page.locator("#evidence").inner_text() == ""
    assert page.locator(".node.known").count() == 0


def test_headers_of_tables_never_break_within_a_word(opened):
    names = ["a_rather_long_name_of_a_column", "another_column_with_a_long_name", "c"]
    rows = {names[0]: ["yes_it_certainly_was", "no_not_at_all"] * 40}
    rows[names[1]] = ["yes_it_certainly_was", "no_not_at_all", "no_not_at_all"] * 26 + ["x", "y"]
    rows["c"] = [a + b for a, b in zip(rows[names[0]], rows[names[1]], strict=True)]
    page = opened(
        learn(read(rows), "bic", knowledge=[f"{names[0]} -> c", f"{names[1]} -> c"]), **_PHONE
    )
    node(page, "c").last.click()
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    heights = page.locator("th").evaluate_all(
        """all => all.filter(th => !/[\\s-]/.test(th.textContent)).map(th => {
          const range = document.createRange();
          range.selectNodeContents(th);
          return new Set([...range.getClientRects()].map(r => r.top)).size;
        })"""
    )
    assert len(heights) > 10
    assert set(heights) == {1}
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_legend_has_one_size_whatever_the_size_of_the_graph(opened, result):
    from bestdag import random_network

    large = learn(
        random_network(60, "order", arc_probability=0.05, seed=1).sample(300, seed=1), "bic"
    )
    sizes = {
        tuple(
            opened(one).locator(".legend svg").first.bounding_box()[side]
            for side in ("width", "height")
        )
        for one in (result, large)
    }
    assert len(sizes) == 1


def test_a_page_without_its_picture_still_answers(opened, result, monkeypatch):
    def fails(*_):
        raise RuntimeError("no place")

    monkeypatch.setattr("bestdag.drawing.picture.lay_out", fails)
    page = opened(result)
    page.locator("#find").fill("bronc")
    page.keyboard.press("Enter")
    page.locator("#node .bar button").filter(has_text="yes").click()
    assert page.locator("#evidence").inner_text() == "Evidence: bronc = yes"


def test_a_click_on_a_state_changes_all_distributions(opened, result):
    page = opened(result)
    network = result.fit()

    def state(name, label):
        card = page.locator("#cards fieldset").filter(has=page.locator("legend", has_text=name))
        return card.locator(".bar").filter(has_text=label)

    def shown(name, label):
        return float(state(name, label).locator(".n").inner_text())

    assert shown("dysp", "yes") == pytest.approx(network.query("dysp")["yes"], rel=6e-3)
    given = {}
    for name in ("bronc", "xray"):
        state(name, "yes").locator("button").click()
        given[name] = "yes"
        for other, expected in network.marginals(given).items():
            assert shown(other, "yes") == pytest.approx(expected["yes"], rel=6e-3, abs=1e-6)
    state("xray", "yes").locator("button").click()  # taken back
    assert shown("lung", "yes") == pytest.approx(
        network.query("lung", given={"bronc": "yes"})["yes"], rel=6e-3
    )
    page.locator("#forget").click()
    assert shown("bronc", "yes") == pytest.approx(network.query("bronc")["yes"], rel=6e-3)
