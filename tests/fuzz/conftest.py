import pytest


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    """Where a mistaken value is a name of a file, the file is not written beside the tests."""
    monkeypatch.chdir(tmp_path)
