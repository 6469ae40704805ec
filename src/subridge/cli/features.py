"""`subridge features`: from a folder of images to a store of features."""

from pathlib import Path

import click

from subridge.model.checks import counted


@click.command()
@click.argument("images", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="store to write, features.zarr")
@click.option("--network", default="efficientnet-lite0", help="see above")
@click.option("--weights", type=click.Path(path_type=Path, exists=True), help="file of weights, for resnext50_32x4d")
@click.option("--size", type=click.IntRange(16), help="pixels the network sees; default its own preprocessing")
@click.option("--device", default="cpu", help="cpu, cuda, cuda:1")
@click.option("--skip-unreadable", is_flag=True, help="leave out images that do not decode")
def features(
    images: Path, out: Path, network: str, weights: Path | None, size: int | None, device: str, skip_unreadable: bool
) -> None:
    """Extract deep features of IMAGES, a folder with one subfolder per class (or train/ and val/ of such).

    Networks: efficientnet-lite0, efficientnet-lite1, augnet-resnet50, resnext50_32x4d. An interrupted extraction goes
    on when the command is given again.
    """
    from subridge.datasets.images.extraction import extract_folder
    from subridge.datasets.images.load import load_store

    skipped = extract_folder(
        images,
        out,
        network,
        weights=None if weights is None else str(weights),
        size=size,
        device=device,
        skip_unreadable=skip_unreadable,
    )
    data = load_store(out)
    for path in skipped:
        click.echo(f"left out, does not decode: {path}", err=True)
    click.echo(
        f"{out}: {len(data.X):,} training and {counted(len(data.X_test), 'test image')}, "
        f"{counted(data.n_features, 'feature')}, {counted(len(data.class_names), 'class', 'classes')}"
        + (f", {counted(len(skipped), 'image')} left out" if skipped else "")
    )
