"""The page is one file, and texts stay texts in it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from nrm.report import Page
from tests.report.conftest import NASTY


def test_the_page_is_one_file_that_loads_nothing(page: Page, tmp_path: Path) -> None:
    text = page.write(tmp_path / "new" / "page.html").read_text()
    assert "{{" not in re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
    assert not re.search(r"""(?:src|href)=["'](?!#)""", text)
    assert "default-src 'none'" in text


def test_texts_cannot_leave_their_place(page: Page) -> None:
    text = replace(page, data={**page.data, "title": NASTY + "{{data}}"}).html()
    assert text.count("<script") == 2
    assert text.count("</script") == 2
    assert "<!--" not in text
    assert "<img" not in text
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["title"] == NASTY + "{{data}}"
