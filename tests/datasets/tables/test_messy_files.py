"""Files as people have them: other separators, encodings and decimal signs, odd cells, categories and dates."""

import gzip
import time
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from subridge.datasets import read_table
from subridge.model.errors import DataError, ParameterError

N = 40
RNG = np.random.default_rng(0)
NUMBERS = RNG.standard_normal((N, 3)).round(3)


def lines(separator=",", decimal=".", header=("a", "b", "y")):
    rows = [separator.join(f"{value}".replace(".", decimal) for value in row) for row in NUMBERS]
    return "\n".join([separator.join(header), *rows]) + "\n"


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def test_semicolons_and_decimal_commas_are_read_when_named_and_asked_for_when_not(tmp_path):
    path = written(tmp_path / "data.csv", lines(";", ","))
    with pytest.raises(DataError, match="separator=';'"):
        read_table(path, "y")
    with pytest.raises(DataError, match=r"a \(numbers with a decimal comma, .* in row 1\).*decimal=','"):
        read_table(path, "y", separator=";", task="regression", drop=["b"])
    for options in ({"decimal": ","}, {"separator": ";", "decimal": ","}):
        np.testing.assert_array_equal(read_table(path, "y", **options).X, NUMBERS[:, :2])


def test_a_point_is_no_decimal_sign_where_the_comma_is_one(tmp_path):
    rows = [f"{row};{amount:,};{row % 7}".replace(",", ".") + ",5" for row, amount in enumerate(range(900, 940))]
    path = written(tmp_path / "data.csv", "a;amount;y\n" + "\n".join([*rows, "40;1.000;2,5"]))
    with pytest.raises(DataError, match=r"amount \(numbers with a decimal point, '1\.000' in row 41\); decimal='\.'"):
        read_table(path, "y", decimal=",")
    with pytest.raises(DataError, match="without units and thousands separators"):
        read_table(path, "amount", decimal=",")


def test_the_odd_cell_among_decimal_commas_is_shown(tmp_path):
    rows = lines(";", ",").splitlines()
    rows[17] = "?;" + rows[17].split(";", 1)[1]
    path = written(tmp_path / "data.csv", "\n".join(rows))
    with pytest.raises(DataError, match=r"a \('\?' in row 17\).*missing_values="):
        read_table(path, "y", decimal=",")


def test_numbers_that_are_text_in_a_frame_are_refused_by_name():
    frame = pd.DataFrame(NUMBERS, columns=["a", "b", "y"])
    for kind in (object, "string"):
        text = frame.assign(b=frame.b.astype(str).astype(kind))
        with pytest.raises(DataError, match=r"b \(numbers as text such as '-?\d\.\d+'\); convert them to numbers"):
            read_table(text, "y")


def test_other_encodings_and_marks_of_spreadsheets(tmp_path):
    path = written(tmp_path / "data.csv", lines(header=("größe", "b", "y")), "latin-1")
    with pytest.raises(DataError, match="encoding='latin-1'"):
        read_table(path, "y")
    assert read_table(path, "y", encoding="latin-1").feature_names == ("größe", "b")
    marked = written(tmp_path / "marked.csv", lines(), "utf-8-sig")
    assert read_table(marked, "y").feature_names == ("a", "b")
    with pytest.raises(ParameterError, match="encoding must be one that Python knows"):
        read_table(path, "y", encoding="klingon")


def test_a_column_may_be_named_like_a_missing_value(tmp_path):
    path = written(tmp_path / "data.csv", lines(header=("NA", "nan", "y")))
    table = read_table(path, "y", missing_values=["y"])
    assert table.feature_names == ("NA", "nan")
    assert table.notes == ()


def test_compressed_text(tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(lines().encode()))
    np.testing.assert_array_equal(read_table(path, "y").X, NUMBERS[:, :2])
    path.write_bytes(gzip.compress(lines().encode())[:50])
    with pytest.raises(DataError, match=r"data.csv.gz cannot be read"):
        read_table(path, "y")


def test_an_odd_cell_is_shown_with_its_place(tmp_path):
    rows = lines().splitlines()
    rows[17] = "?," + rows[17].split(",", 1)[1]
    path = written(tmp_path / "data.csv", "\n".join(rows))
    with pytest.raises(DataError, match=r"a \('\?' in row 17\).*missing_values="):
        read_table(path, "y")
    table = read_table(path, "y", missing_values=["?"], missing="drop")
    assert table.n_samples == N - 1


def with_column(name, cells):
    rows = lines().splitlines()
    return "\n".join(f"{row},{cell}" for row, cell in zip(rows, [name, *cells], strict=True))


def test_categories_are_refused_or_encoded(tmp_path):
    path = written(tmp_path / "data.csv", with_column("kind", ["red", "green"] * (N // 2)))
    with pytest.raises(DataError, match=r"kind \(text such as 'red'\).*categories='one-hot'"):
        read_table(path, "y")
    table = read_table(path, "y", categories="one-hot")
    assert table.feature_names == ("a", "b", "kind=green", "kind=red")
    np.testing.assert_array_equal(table.X[:, 2:].sum(axis=1), 1)
    assert any("made 2 columns of 0 and 1 from categories: kind" in note for note in table.notes)
    gap = written(tmp_path / "gap.csv", with_column("kind", ["", *["red", "green"] * (N // 2)][:N]))
    with pytest.raises(DataError, match=r"1 cell missing in 1 column: kind \(1\); missing='drop'"):
        read_table(gap, "y", categories="one-hot")
    table = read_table(gap, "y", categories="one-hot", missing="drop")
    assert table.feature_names == ("a", "b", "kind=green", "kind=red")
    assert table.n_samples == N - 1
    names = written(tmp_path / "names.csv", with_column("who", [f"person {i}" for i in range(N)]))
    with pytest.raises(DataError, match="who has 40 different values"):
        read_table(names, "y", categories="one-hot")


def test_dates_are_refused_or_counted(tmp_path):
    path = written(tmp_path / "data.csv", with_column("when", [f"2024-01-{day % 28 + 1:02}" for day in range(N)]))
    with pytest.raises(DataError, match=r"when \(dates\).*dates='days'"):
        read_table(path, "y")
    table = read_table(path, "y", dates="days")
    np.testing.assert_array_equal(table.X[:, 2], np.arange(N) % 28)


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%d/%m/%Y", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"])
def test_dates_are_read_in_the_usual_forms_and_may_have_gaps(tmp_path, form):
    days = [(date(2024, 1, 20) + timedelta(days=i)).strftime(form) for i in range(N)]
    path = written(tmp_path / "data.csv", with_column("when", [*days[:5], "", *days[6:]]))
    table = read_table(path, "y", dates="days", missing="drop")
    np.testing.assert_array_equal(table.X[:, 2], np.delete(np.arange(N), 5))


def test_days_and_decimals_of_databases_are_dates_and_numbers(tmp_path):
    pytest.importorskip("pyarrow")
    days = [date(2024, 1, 20) + timedelta(days=i) for i in range(N)]
    frame = pd.DataFrame(NUMBERS, columns=["a", "b", "y"]).assign(
        when=[days[0], None, *days[2:]], price=[None, *(Decimal(i) / 8 for i in range(1, N))]
    )
    frame.to_parquet(tmp_path / "data.parquet")
    for source in (frame, tmp_path / "data.parquet"):
        with pytest.raises(DataError, match=r"when \(dates\); dates='days' counts days"):
            read_table(source, "y")
        table = read_table(source, "y", dates="days", missing="drop")
        assert table.feature_names == ("a", "b", "price", "when")
        np.testing.assert_array_equal(table.X[:, 2:], np.stack([np.arange(2, N) / 8, np.arange(2, N)], axis=1))
    # What databases write for "never" is beyond the nanoseconds of pandas 2; pandas.NA is no float.
    frame = frame.assign(when=[*days[1:], date(9999, 12, 31)], price=[pd.NA, *map(Decimal, range(1, N))])
    table = read_table(frame, "y", dates="days", missing="drop")
    np.testing.assert_array_equal(table.X[[0, -1], 2], [1, N - 1])
    assert table.X[-1, 3] == (date(9999, 12, 31) - days[1]).days


@pytest.mark.parametrize("sign", ["/", "-"])
def test_dates_that_may_begin_with_the_day_or_the_month_are_not_guessed(tmp_path, sign):
    months = [date(2020 + i // 12, i % 12 + 1, 1) for i in range(N)]
    path = written(tmp_path / "first.csv", with_column("when", [day.strftime(f"%m{sign}%d{sign}%Y") for day in months]))
    for options in ({}, {"dates": "days"}, {"dates": "days", "categories": "one-hot"}):
        with pytest.raises(DataError, match=r"when \(dates .* two readings, '01.01.2020' in row 1\); write dates as"):
            read_table(path, "y", **options)
    ends = [day - timedelta(days=1) for day in months]
    path = written(tmp_path / "last.csv", with_column("when", [day.strftime(f"%m{sign}%d{sign}%Y") for day in ends]))
    table = read_table(path, "y", dates="days")
    np.testing.assert_array_equal(table.X[:, 2], [(day - ends[0]).days for day in ends])


def test_numbers_in_odd_spellings_are_named_or_read(tmp_path):
    path = written(tmp_path / "data.csv", with_column("who", ["1_000", *range(N - 1)]))
    with pytest.raises(DataError, match=r"who \('1_000' in row 1\)"):
        read_table(path, "y")
    path = written(tmp_path / "data.csv", with_column("big", [10**20 + i * 10**18 for i in range(N)]))
    np.testing.assert_allclose(read_table(path, "y").X[:, 2], 1e20 + np.arange(N) * 1e18)
    path = written(tmp_path / "data.csv", with_column("share", [f"{i} %" for i in range(N)]))
    for task in ("auto", "regression"):
        with pytest.raises(DataError, match="without units"):
            read_table(path, "share", task=task)


def test_lines_with_more_cells_than_names_are_refused(tmp_path):
    path = written(tmp_path / "data.csv", "a,y\n" + "1,2,3\n" * N)
    with pytest.raises(DataError, match=r"data\.csv cannot be read \(Length of header.*its separator"):
        read_table(path, "y")


@pytest.mark.slow
def test_a_million_rows_are_read_within_a_minute(tmp_path):
    path = tmp_path / "large.csv"
    block = "\n".join(",".join(map(str, row)) for row in RNG.standard_normal((10_000, 20)).round(5)) + "\n"
    path.write_text(",".join(f"x{i}" for i in range(20)) + "\n" + block * 100)
    start = time.process_time()
    assert read_table(path, "x19", standardise=True).n_samples == 10**6
    assert time.process_time() - start < 60


def test_rows_without_target_are_dropped_on_request_while_gaps_are_filled(tmp_path):
    rows = lines().splitlines()
    rows[3] = rows[3].rsplit(",", 1)[0] + ","
    rows[5] = "," + rows[5].split(",", 1)[1]
    path = written(tmp_path / "data.csv", "\n".join(rows))
    with pytest.raises(DataError, match="unlabelled='drop'"):
        read_table(path, "y", missing="mean")
    table = read_table(path, "y", missing="mean", unlabelled="drop")
    assert table.n_samples == N - 1
    assert np.isfinite(table.X).all()


@pytest.mark.slow
def test_a_wide_table_in_quotes_is_not_read_column_by_column(tmp_path):
    def seconds(width):
        header = ",".join(f'"c{i}"' for i in range(width)) + ",y"
        row = ",".join(['"1.5"', '"2.5"'] * (width // 2))
        body = "\n".join(f"{row if i % 2 else row[::1]},{i}" for i in range(20))
        path = written(tmp_path / f"wide{width}.csv", f"{header}\n{body}\n")
        start = time.process_time()  # whatever else the machine does
        with pytest.raises(DataError, match="no features are left"):  # every column is constant
            read_table(path, "y")
        return time.process_time() - start

    seconds(100)
    narrow, wide = seconds(1000), seconds(8000)
    assert wide < 30 * narrow + 1  # eight times as wide; a quadratic reader takes 64 times as long


def test_integers_beyond_64_bits_are_numbers(tmp_path):
    path = written(tmp_path / "data.csv", with_column("large", [10**20 * (i + 1) for i in range(N)]))
    np.testing.assert_array_equal(read_table(path, "y").X[:, 2], 1e20 * np.arange(1, N + 1))


def test_where_the_decimal_sign_is_a_comma_a_point_may_be_one_too_unless_it_may_separate_thousands(tmp_path):
    def table_of(cells):
        rows = [f"{i},25;{i % 7 * i}" for i in range(N)]
        text = "\n".join(f"{row};{cell}" for row, cell in zip(["a;b", *rows], ["y", *cells], strict=True))
        return written(tmp_path / "data.csv", text)

    wanted = np.arange(N) % 9 + 0.5
    for path in (table_of(wanted), table_of([str(each).replace(".", ",") for each in wanted])):
        table = read_table(path, "y", decimal=",")
        assert table.class_names is None
        np.testing.assert_array_equal(table.targets[0], wanted)
    with pytest.raises(DataError, match=r"got labels such as '1\.500'; write plain numbers, without .* thousands"):
        read_table(table_of(["1.500", *wanted[1:]]), "y", decimal=",", task="regression")
    with pytest.raises(DataError, match=r"these have one: 1\.500; .* if these are numbers, use task='regression'"):
        read_table(table_of(["1.500", *wanted[1:]]), "y", decimal=",")


def days_from(start):
    return [start + timedelta(days=i) for i in range(N)]


def test_gaps_in_columns_of_arrow_are_gaps():
    arrow = pytest.importorskip("pyarrow")
    zoned = [None, *pd.date_range("2024", periods=N - 1, tz="Europe/Berlin")]
    columns = {"at": (zoned, arrow.timestamp("us", tz="Europe/Berlin")), "empty": ([None] * N, arrow.string())}
    made = {name: pd.array(values, dtype=pd.ArrowDtype(kind)) for name, (values, kind) in columns.items()}
    frame = pd.DataFrame({"y": NUMBERS[:, 0], "at": made["at"]})
    table = read_table(frame, "y", dates="days", missing="mean")
    np.testing.assert_array_equal(table.X[1:, 0], np.arange(N - 1))
    with pytest.raises(DataError, match=f"{N} cells .* missing"):
        read_table(frame.assign(at=NUMBERS[:, 1], empty=made["empty"]), "y")


def test_dates_decimals_and_text_of_arrow_are_read_like_those_of_pandas(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    days = days_from(date(2024, 1, 1))
    cells = {
        "when": (days, arrow.date32()),
        "at": (pd.to_datetime(days), arrow.timestamp("ns", tz="UTC")),
        "price": ([None, *(Decimal(i) / 8 for i in range(1, N))], arrow.decimal128(9, 3)),
        "kind": (["red", "green"] * (N // 2), arrow.string()),
        "written": ([str(day) for day in days], arrow.string()),
    }
    frame = pd.DataFrame({"y": NUMBERS[:, 0]}).assign(
        **{name: pd.array(values, dtype=pd.ArrowDtype(kind)) for name, (values, kind) in cells.items()}
    )
    frame.to_parquet(tmp_path / "data.parquet")
    for source in (frame, tmp_path / "data.parquet"):
        with pytest.raises(
            DataError, match=r"4 columns .*when \(dates\), .* kind \(text such as 'red'\).*dates='days'"
        ):
            read_table(source, "y")
        table = read_table(source, "y", dates="days", categories="one-hot", missing="drop")
        assert table.feature_names == ("price", "kind=green", "kind=red", "when", "at", "written")
        np.testing.assert_array_equal(table.X[:, 0], np.arange(1, N) / 8)
        np.testing.assert_array_equal(table.X[:, 3:], np.repeat(np.arange(1, N)[:, None], 3, axis=1))
    np.testing.assert_array_equal(read_table(frame[1:], "price", drop=["at", "kind", "when", "written"]).y[0], 1 / 8)


def test_columns_of_dates_may_differ_in_unit_and_time_zone(tmp_path, recwarn):
    never, days = date(9999, 12, 31), days_from(date(2020, 1, 1))
    frame = pd.DataFrame({"y": NUMBERS[:, 0], "ended": [never, *days[1:]]}).assign(
        at=pd.Series(days).astype("datetime64[ns]"),
        zoned=pd.Series(pd.date_range("2020", periods=N, tz="Europe/Berlin")),
        span=pd.Series([pd.Timestamp("1900-01-01"), *[pd.Timestamp("2262-04-01")] * (N - 1)]).astype("datetime64[ns]"),
    )
    table = read_table(frame, "y", dates="days")
    assert table.feature_names == ("ended", "at", "zoned", "span")
    assert table.X[0, 0] == (never - days[1]).days
    np.testing.assert_allclose(table.X[:, 1:3], np.arange(N)[:, None] * [1, 1], atol=1 / 24)
    assert table.X[1, 3] == (date(2262, 4, 1) - date(1900, 1, 1)).days
    assert not recwarn.list


def test_times_of_nanoseconds_in_a_file_may_stand_beside_dates_that_mean_never(tmp_path):
    if pd.to_datetime("9999-12-31", errors="coerce") is pd.NaT:
        pytest.skip("pandas 2 reads text as nanoseconds only")
    times = [f"{day}T00:00:00.123456789" for day in days_from(date(2020, 1, 1))]
    rows = with_column("at", times).splitlines()
    ends = ["ended", *["9999-12-31", "2024-01-01"] * (N // 2)]
    path = written(tmp_path / "data.csv", "\n".join(f"{row},{end}" for row, end in zip(rows, ends, strict=True)))
    table = read_table(path, "y", dates="days")
    np.testing.assert_array_equal(table.X[:, 2], np.arange(N))
    assert table.X[0, 3] == (date(9999, 12, 31) - date(2024, 1, 1)).days


@pytest.mark.parametrize("form", ["frame", "csv"])
def test_text_that_only_looks_like_dates_may_be_categories_beside_dates(tmp_path, form):
    frame = pd.DataFrame(NUMBERS, columns=["a", "b", "y"]).assign(
        version=["1.2.3", "1.2.4"] * (N // 2), when=days_from(date(2024, 1, 1))
    )
    frame.to_csv(tmp_path / "data.csv", index=False)
    table = read_table(tmp_path / "data.csv" if form == "csv" else frame, "y", dates="days", categories="one-hot")
    assert table.feature_names == ("a", "b", "version=1.2.3", "version=1.2.4", "when")
    np.testing.assert_array_equal(table.X[:, 4], np.arange(N))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dates_that_are_text_in_a_frame_are_read_as_in_a_file(library):
    frame_of = pytest.importorskip(library).DataFrame
    days = days_from(date(2024, 1, 20))
    data = {"y": NUMBERS[:, 0], "when": [str(days[0]), None, *map(str, days[2:])]}
    with pytest.raises(DataError, match=r"when \(dates\); dates='days' counts days"):
        read_table(frame_of(data), "y")
    for categories in ("error", "one-hot"):
        table = read_table(frame_of(data), "y", dates="days", categories=categories, missing="drop")
        np.testing.assert_array_equal(table.X[:, 0], np.delete(np.arange(N), 1))
    few = frame_of(data | {"when": ["2024-01-20", "2024-01-21"] * (N // 2)})
    assert read_table(few, "y", categories="one-hot").feature_names == ("when=2024-01-20", "when=2024-01-21")
    assert read_table(few, "y", categories="one-hot", dates="days").feature_names == ("when",)
    months = [f"{i % 12 + 1:02}/01/{2020 + i // 12}" for i in range(N)]
    for categories in ("error", "one-hot"):
        with pytest.raises(DataError, match=r"when \(dates .* two readings, '01/01/2020' in row 1\); write dates as"):
            read_table(frame_of(data | {"when": months}), "y", dates="days", categories=categories)


def test_the_cell_that_keeps_dates_from_being_read_is_shown(tmp_path):
    days = [str(day) for day in days_from(date(2024, 1, 20))]
    path = written(tmp_path / "data.csv", with_column("when", [*days[:7], "soon", *days[8:]]))
    for source in (path, pd.DataFrame({"y": NUMBERS[:, 0], "when": [*days[:7], "soon", *days[8:]]})):
        with pytest.raises(DataError, match=r"when \(dates in an unknown form.*, 'soon' in row 8\)"):
            read_table(source, "y", dates="days")


@pytest.mark.parametrize("form", ["frame", "polars", "csv"])
@pytest.mark.parametrize("name", ["self", "key", "data", "index", "y=1", "0"])
def test_a_column_may_have_any_name(tmp_path, name, form):
    data = {"y": NUMBERS[:, 0], name: ["red", "green"] * (N // 2)}
    frame = pd.DataFrame(data).astype({name: object})
    frame.to_csv(tmp_path / "data.csv", index=False)
    source = tmp_path / "data.csv" if form == "csv" else frame
    if form == "polars":
        source = pytest.importorskip("polars").DataFrame(data)
    assert read_table(source, "y", categories="one-hot").feature_names == (f"{name}=green", f"{name}=red")
    pd.testing.assert_frame_equal(frame, pd.DataFrame(data).astype({name: object}))


def test_names_of_columns_need_not_be_text():
    frame = pd.DataFrame({0: NUMBERS[:, 0], ("a", 1): ["red", "green"] * (N // 2), None: NUMBERS[:, 1]})
    table = read_table(frame, 0, categories="one-hot")
    assert table.feature_names == ("None", "('a', 1)=green", "('a', 1)=red")


@pytest.mark.parametrize("other", [{"b=x": NUMBERS[:, 1]}, {"b=x": [None] * N}, {"b=x": days_from(date(2024, 1, 1))}])
def test_columns_made_of_categories_may_not_have_the_name_of_another_feature(other):
    frame = pd.DataFrame({"y": NUMBERS[:, 0], "b": ["x", "z"] * (N // 2)} | other)
    with pytest.raises(DataError, match=r"get names that other features have: b=x; rename .* drop="):
        read_table(frame, "y", categories="one-hot", dates="days", missing="mean")
    assert read_table(frame, "y", categories="one-hot", drop=["b=x"]).feature_names == ("b=x", "b=z")
