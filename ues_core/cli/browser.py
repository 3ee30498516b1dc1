"""``ues browser``: which browser there is, and fetching one."""

from __future__ import annotations

import os

import click

from ues_core.cli._output import json_option, note, print_json, print_table, say


@click.group("browser")
def command() -> None:
    """Find a browser on this machine, or fetch one."""


@command.command("find")
@json_option
def find(as_json: bool) -> None:
    """List the browsers that can be started, the preferred one first.

    UES_BROWSER_EXECUTABLE, when set, comes first; when it names no browser, that is an error.
    """
    from ues_core.web.browsers import choose_browser, find_browsers

    browsers = find_browsers(os.environ)
    if not browsers:
        choose_browser(os.environ)  # raises, with what to do
    if as_json:
        print_json(browsers)
        return
    print_table(
        ("channel", "version", "source", "path"),
        [(browser.channel, browser.version, browser.source, browser.path) for browser in browsers],
    )


@command.command("install")
@click.option("--if-missing", is_flag=True, help="Fetch only what is not there yet.")
@json_option
def install(if_missing: bool, as_json: bool) -> None:
    """Fetch a browser: Playwright's own build, else the package of Debian (as root).

    The system library that Playwright's own program may lack on a small Debian is brought along.
    """
    from ues_core.web.browser_install import install_browser
    from ues_core.web.browsers import find_browsers

    find_browsers(os.environ)  # a bad override would hide whatever is fetched: say so before fetching
    browser = install_browser(note, environ=os.environ, if_missing=if_missing)
    if as_json:
        print_json(browser)
    else:
        say(f"{browser.channel} {browser.version} is ready: {browser.path}")
