"""Every page, in both themes, has no serious or critical violation that axe can find."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from .dashboard import Dashboard
from .navigation import ListedPage, listed_pages


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("listed", listed_pages(), ids=lambda listed: listed.title)
def test_axe_finds_nothing_serious(dashboard: Dashboard, listed: ListedPage, theme: str) -> None:
    page = dashboard.open(listed.path, theme=theme)

    found = Axe().run(page).response["violations"]

    serious = [describe(violation) for violation in found if violation["impact"] in ("serious", "critical")]
    assert not serious, "\n".join(serious)


def describe(violation: dict) -> str:
    places = "\n".join(f"    {node['html'][:160]} {node['failureSummary']}" for node in violation["nodes"])
    return f"{violation['id']} ({violation['impact']}): {violation['help']}\n{places}"
