"""Results on disk."""

import json

import numpy as np
import pytest
import xarray as xr
from subridge.results.schemas import result_attributes

import subridge as sr
from subridge.results.files import read_result, write_result


@pytest.fixture
def result():
    return xr.Dataset(
        {
            "risk": (("ridge", "sample_ratio"), [[0.5, 0.25], [np.inf, np.nan]]),
            "agrees": (("ridge", "sample_ratio"), [[True, False], [True, True]]),
            "subset_fraction": ("member", [0.1, 0.2, 0.3]),
        },
        {"ridge": [0.0, 1.0], "sample_ratio": [0.5, np.inf]},
        result_attributes("curve", 1, "Risks of an ensemble.", sizes=[10, 20], nested=True),
    )


def test_netcdf_gives_back_what_was_written(result, tmp_path):
    write_result(result, tmp_path / "a.nc")
    assert read_result(tmp_path / "a.nc").identical(result)


def test_csv_has_a_line_per_point_without_what_belongs_to_members(result, tmp_path):
    write_result(result, tmp_path / "a.CSV")
    assert (tmp_path / "a.CSV").read_text().splitlines() == [
        "ridge,sample_ratio,risk,agrees",
        "0,0.5,0.5,True",
        "0,inf,0.25,False",
        "1,0.5,inf,True",
        "1,inf,nan,True",
    ]


def test_json_is_strict_and_holds_everything(result, tmp_path):
    write_result(result, tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text(), parse_constant=pytest.fail)
    assert document["variables"]["risk"] == {
        "dimensions": ["ridge", "sample_ratio"],
        "values": [[0.5, 0.25], ["inf", None]],
    }
    assert document["coordinates"]["sample_ratio"]["values"] == [0.5, "inf"]
    assert document["variables"]["subset_fraction"]["values"] == [0.1, 0.2, 0.3]
    assert document["attributes"] == {
        "schema": "curve",
        "schema_version": 1,
        "subridge_version": sr.__version__,
        "description": "Risks of an ensemble.",
        "sizes": "[10, 20]",
        "nested": 1,
    }


@pytest.mark.parametrize("name", ["a.png", "a.doc", "a"])
def test_data_are_not_written_under_another_name(result, tmp_path, name):
    with pytest.raises(sr.errors.ParameterError, match=r"must end in one of \.nc, \.csv, \.json"):
        write_result(result, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(result, tmp_path):
    place = tmp_path / "a.nc"
    write_result(result, place)
    with pytest.raises(TypeError):
        write_result(result.assign_attrs(bad=object()), place)
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]
    assert read_result(place).identical(result)


def test_what_is_no_result_is_said_when_read(tmp_path):
    (tmp_path / "a.nc").write_bytes(b"no netCDF")
    with pytest.raises(sr.errors.StoreError, match=r"a\.nc cannot be read: it is"):
        read_result(tmp_path / "a.nc")
