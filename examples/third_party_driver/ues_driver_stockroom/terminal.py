"""The surface that is driven: a stockroom's bookkeeping terminal. It knows nothing of UES Kit.

Any program with widgets would do in its place: what the driver needs is that it can list the widgets, and touch one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SHELVES = ("A", "B", "C")


@dataclass(eq=False)
class Widget:
    """One line of the screen."""

    kind: str
    """``title``, ``text``, ``secret``, ``choice``, ``button``."""
    label: str
    text: str = ""
    enabled: bool = True


@dataclass
class Terminal:
    """One screen of the terminal."""

    title: str = "Stockroom"
    widgets: list[Widget] = field(default_factory=list)
    focus: Widget | None = None

    def __post_init__(self) -> None:
        self._entries = 0
        self._booked = Widget("title", "Entries: 0")
        self._article = Widget("text", "Article")
        self._shelf = Widget("choice", "Shelf", SHELVES[0])
        self.widgets = [
            self._booked,
            self._article,
            self._shelf,
            Widget("secret", "PIN", "4321-9876"),
            Widget("button", "Book in"),
            Widget("button", "Strike out the oldest"),
            Widget("button", "Close the month", enabled=False),
            Widget("title", "Lookups: 0"),
            Widget("title", "1: screws, shelf A"),
        ]

    def press(self, widget: Widget) -> None:
        """Press a button."""
        self.focus = widget
        if widget.label == "Book in":
            self._entries += 1
            self._booked.label = f"Entries: {self._entries}"
            entry = f"{self._entries + 1}: {self._article.text or 'nothing'}, shelf {self._shelf.text}"
            self.widgets.append(Widget("title", entry))
        elif widget.label == "Strike out the oldest":
            entries = [w for w in self.widgets if w.kind == "title" and w.label[0].isdigit()]
            if entries:
                self.widgets.remove(entries[0])

    def write(self, widget: Widget, text: str) -> None:
        """Write into a field; it holds 40 characters."""
        self.focus = widget
        widget.text = text[:40]

    def key(self, widget: Widget, key: str) -> None:
        """Press a key on a widget: Enter looks an article up, or presses a button."""
        self.focus = widget
        if key == "Enter" and widget is self._article:
            lookups = next(w for w in self.widgets if w.label.startswith("Lookups: "))
            lookups.label = f"Lookups: {int(lookups.label.removeprefix('Lookups: ')) + 1}"
        elif key == "Enter" and widget.kind == "button" and widget.enabled:
            self.press(widget)
