"""The report page trusts nothing that a file says, and keeps what earlier commands made."""

import pytest
from click.testing import CliRunner

from subridge.cli import main
from subridge.results.files import read_result, write_result


def reproduce(figure, folder):
    result = CliRunner().invoke(main, ["reproduce", figure, "--quick", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_earlier_figures_stay_and_what_they_say_is_escaped(tmp_path):
    assert 'id="fig3b"' in reproduce("fig3b", tmp_path)
    planted = read_result(tmp_path / "fig3b.nc")
    planted.attrs |= {"description": "<script>alert(1)</script>", "command": '"><img src=x onerror=alert(1)>'}
    write_result(planted, tmp_path / "fig3b.nc")
    page = reproduce("fig3a", tmp_path)
    assert 'id="fig3b"' in page
    assert 'id="fig3a"' in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    (tmp_path / "fig3b.nc").write_bytes(b"no figure")
    assert 'id="fig3b"' not in reproduce("fig3a", tmp_path)
