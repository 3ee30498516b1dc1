"""``ues see``: a picture of a page, and which observed node stands where in it."""

from __future__ import annotations

from pathlib import Path

import click

from ues_core.cli._async import run_async
from ues_core.cli._output import json_option, print_json, print_table, say


@click.command("see")
@click.argument("url", required=False)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="Where the PNG goes.")
@click.option("--driver", metavar="NAME", help="The driver to use (ues plugins list shows them).")
@click.option("--full-page", is_flag=True, help="The whole page rather than the viewport.")
@click.option("--scale", type=click.IntRange(1, 3), default=1, show_default=True, help="Device pixels per CSS pixel.")
@json_option
def command(url: str | None, out: Path, driver: str | None, full_page: bool, scale: int, as_json: bool) -> None:
    """Open URL in a fresh isolated session, observe it, write a PNG, and list the observed nodes with their boxes.

    Boxes are in pixels of the picture. A node without a box says why. Secrets may be visible in a picture: it shows what a person
    would see.
    """
    from ues_core.contract import Observation, Picture
    from ues_core.host import open_host

    async def look() -> tuple[Observation, Picture]:
        async with open_host() as host, await host.session("cli", driver=driver, url=url) as session:
            observation = await session.observe()
            return observation, await session.see(full_page=full_page, scale=scale)

    observation, picture = run_async(look())
    out.write_bytes(picture.png)
    if as_json:
        print_json({**picture.model_dump(mode="json", exclude={"png"}), "path": str(out)})
        return
    nodes = {node.ref: node for node in observation.nodes}
    rows: list[tuple[object, ...]] = [
        (
            mark.number,
            nodes[mark.ref].role,
            nodes[mark.ref].name,
            f"{mark.box.x:.0f},{mark.box.y:.0f} {mark.box.width:.0f}x{mark.box.height:.0f}",
        )
        for mark in picture.marks
    ]
    rows += [("-", nodes[o.ref].role, nodes[o.ref].name, str(o.reason)) for o in picture.omitted if o.ref in nodes]
    print_table(("mark", "role", "name", "box, or why there is none"), rows)
    say(f"{out}: {picture.width}x{picture.height} pixels, {picture.quality}, SHA-256 {picture.sha256[:16]}")
