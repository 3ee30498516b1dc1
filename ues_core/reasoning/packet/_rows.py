"""One row of a section as text: what the budget measures and the consultant reads."""

from __future__ import annotations

from ues_core.contract import DiffRow, EdgeRow, EvidenceRow, FileRow, Row, SnippetRow


def render_row(row: Row) -> str:
    """A row as one or more lines. Snippets carry the line numbers of the file."""
    match row:
        case FileRow():
            symbols = f" [{', '.join(row.symbols)}]" if row.symbols else ""
            return f"- {row.path} ({row.size} bytes; {row.why}){symbols}"
        case SnippetRow():
            lines = row.text.split("\n")
            width = len(str(row.end))
            numbered = "\n".join(f"{number:>{width}}| {line}" for number, line in enumerate(lines, row.start))
            return f"### {row.path} lines {row.start}-{row.start + len(lines) - 1}\n{numbered}"
        case EdgeRow():
            return f"- {row.source} {row.relation} {row.target}"
        case DiffRow():
            return f"### {row.path}\n{row.text}"
        case EvidenceRow():
            return f"### {row.evidence} ({row.source})\n{row.text}"
        case _:
            return f"- {row.text}" if "\n" not in row.text else row.text
