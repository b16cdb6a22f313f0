"""A loopback upstream: a README that lists versions, and the sheets with their exports."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date

from fresh_assets_tests.web_server import Got, Page, Server, html_page, web_server

DEMO_GID = "111"
DATA_GID = "334049794"


def sheet_id(version: date) -> str:
    return f"1abc_{version:%Y-%m-%d}--abcdefghijklmnopqrstuvwxyz"


def line(version: date, key: str | None = None) -> str:
    rest = f"edit?usp=sharing&resourcekey={key}" if key else "edit?usp=sharing"
    address = f"https://docs.google.com/spreadsheets/d/{sheet_id(version)}/{rest}"
    return f"[FreshQA {version:%B} {version.day}, {version.year}]({address})"


@dataclass
class Upstream:
    """What upstream publishes; a test changes it while it is served.

    `versions`: content by date, `keys`: resource keys that the sheets need, `faults`: pages sent in
    place of an export, `second_tab`: versions whose first tab is another one.
    """

    versions: dict[date, bytes]
    listed: int = 1000
    keys: dict[date, str] = field(default_factory=dict)
    faults: dict[date, Page] = field(default_factory=dict)
    second_tab: set[date] = field(default_factory=set)
    on_export: Callable[[date], None] = lambda _: None
    server: Server | None = None

    @property
    def readme(self) -> bytes:
        newest = sorted(self.versions, reverse=True)[: self.listed]
        lines = "\n\n".join(line(version, self.keys.get(version)) for version in newest)
        return f"# Benchmark\n\n## FreshQA\n\n{lines}\n".encode()

    @property
    def exports(self) -> list[str]:
        """Sheets that were exported, in order."""
        assert self.server
        return [g.path.split("/")[3] for g in self.server.requests if g.path.endswith("/export")]

    def page(self, got: Got, _: int) -> Page:
        if got.path == "/README.md":
            return self._readme(got)
        by_sheet = {sheet_id(version): version for version in self.versions}
        version = by_sheet.get(got.path.split("/")[3] if got.path.count("/") > 3 else "")
        if version is None:
            return html_page("Page Not Found", status=404)
        if got.params.get("resourcekey") != self.keys.get(version):
            return Page(status=302, headers={"location": "/ServiceLogin"})
        if got.path.endswith("/htmlview"):
            return html_page("v", f'<a href="#gid={DEMO_GID}"></a> gid: "{DATA_GID}"')
        self.on_export(version)
        if version in self.faults:
            return self.faults[version]
        if version in self.second_tab and got.params.get("gid") != DATA_GID:
            return Page(b"id,split,question\n0,DEMO,who?\n", headers={"content-type": "text/csv"})
        return Page(self.versions[version], headers={"content-type": "text/csv"})

    def _readme(self, got: Got) -> Page:
        tag = f'"{hash(self.readme)}"'
        if got.headers.get("if-none-match") == tag:
            return Page(status=304, headers={"etag": tag})
        return Page(self.readme, headers={"etag": tag, "content-type": "text/markdown"})


@contextmanager
def serve(versions: Mapping[date, bytes]) -> Iterator[Upstream]:
    upstream = Upstream(dict(versions))

    def page(got: Got, number: int) -> Page:
        if got.path == "/ServiceLogin":
            return html_page("Sign in - Accounts")
        return upstream.page(got, number)

    with web_server(page) as server:
        upstream.server = server
        yield upstream
