"""What is told of a fine-tuned encoder: curves, model card; and how it comes into use."""

import base64
import shutil
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from fresh_assets.catalog.encoder import Encoder
from fresh_assets.retriever.training import Epoch, Recipe, best_epoch

CARD = "README.md"


def curves_png(epochs: Sequence[Epoch]) -> str:
    """Loss and dev recall by epoch, a PNG in base64."""
    import altair as alt  # noqa: PLC0415  (slow to import)
    import vl_convert as vlc  # noqa: PLC0415

    rows = [
        {"epoch": epoch.number, "what": what, "value": value}
        for epoch in epochs
        for what, value in (("loss", epoch.loss), ("recall on dev", epoch.dev_recall))
    ]
    chart = (
        alt.Chart(pl.DataFrame(rows))
        .mark_line(point=True)
        .encode(
            alt.X("epoch:O", title="epoch"),
            alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
        )
        .properties(width=240, height=160)
        .facet(alt.Column("what:N", title=None))
        .resolve_scale(y="independent")
    )
    return base64.b64encode(vlc.vegalite_to_png(chart.to_dict(), scale=2)).decode()


def model_card(
    base: Encoder, recipe: Recipe, epochs: Sequence[Epoch], pairs: int, data_hash: str
) -> str:
    """What it was made from and how good it was on dev, in Markdown."""
    best = best_epoch(epochs)
    lines = [
        "# Encoder of requests, steps and tables",
        "",
        f"Fine-tuned from `{base.name}` (hash `{base.hash}`) on {pairs} pairs of a request and an "
        f"entry of a catalog (table `retriever.pairs`, content `{data_hash[:16]}`).",
        "",
        f"Recipe: `{recipe}`",
        "",
        "| epoch | loss | recall on dev | seconds |",
        "|---|---|---|---|",
        *(f"| {e.number} | {e.loss:.4f} | {e.dev_recall:.3f} | {e.seconds:.0f} |" for e in epochs),
        "",
        f"The weights are those after epoch {best.number}. It has seen the apps and names of its "
        "catalogs only: measure it on a foreign catalog (`mart.retriever_recall`) before use.",
        "",
        "Use: set `FRESH_ASSETS_ENCODER` to this folder and refresh; indexes are built anew.",
    ]
    return "\n".join(lines) + "\n"


def publish_encoder(trained: Path, folder: Path, card: str) -> Encoder:
    """Put the trained encoder with its card in place of the one in use, whole or not at all."""
    building, old = folder.with_name(f".{folder.name}-new"), folder.with_name(f".{folder.name}-old")
    shutil.rmtree(building, ignore_errors=True)
    shutil.copytree(trained, building)
    (building / CARD).write_text(card, encoding="utf-8")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    building.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
    return Encoder(str(folder))
