"""What a person is told about a second opinion: what was sent and where to, what came back, what holds, what may be done."""

from __future__ import annotations

from typing import Any

from ues_core.cli._output import note, print_table, say


def show_consultation(report: dict[str, Any]) -> None:
    """Print the report of one consultation."""
    cause = f", because of {report['cause']}" if report["cause"] else ""
    say(f"{report['outcome']}{cause}: {report['reason']} [{report['code']}]")
    if report["next_step"]:
        note(f"  Next step: {report['next_step']}")
    _sent(report)
    advice = report["advice"]
    if advice is not None:
        say("\nWhat came back (advice of an outside consultant, not checked beyond its claims):")
        say(f"  {advice['summary']}\n")
        for title, key in (
            ("Hypothesis", "hypotheses"),
            ("Approach", "approach"),
            ("Risk", "risks"),
            ("Verify", "verification"),
        ):
            for text in advice[key]:
                say(f"  {title}: {text}")
        _claims(advice["claims"])
        for key in advice["unknown_keys"]:
            note(f"  a key that the schema does not know was not used: {key}")
    if report["stripped"]:
        say("Stripped, because advice has no authority:")
        for found in report["stripped"]:
            say(f"  {found['category']} in {found['field']}: {found['quote']}")
    say(f"What may be done: {report['may']}")
    if advice is not None:
        say("Authority consultant-only; at most implement-then-verify. It is no verdict and no permission.")
    say(f"Consultation {report['consultation']}")


def show_panel(report: dict[str, Any]) -> None:
    """Print the report of a panel: everybody's own, then the claims side by side."""
    for part in report["parts"]:
        say(f"== {part['provider']}")
        show_consultation(part)
        say("")
    for name, error in report["failed"].items():
        say(f"== {name} could not be asked: {error['sentence'] if isinstance(error, dict) else error}")
    show_panel_claims(report["claims"])
    say(f"{report['outcome']}: {report['reason']} [{report['code']}]")
    say(f"Panel {report['panel']}")


def show_panel_claims(claims: list[dict[str, Any]]) -> None:
    """Print who claims what, with everybody's binding."""
    if not claims:
        return
    rows = [
        (
            claim["number"],
            claim["standing"],
            _place(claim),
            ", ".join(f"{v['provider']}: {v['binding']['status'] if v['binding'] else 'unbound'}" for v in claim["voices"]),
            "; ".join(
                [claim["detail"]] * bool(claim["detail"])
                + [f"against {', '.join(map(str, claim['conflicts_with']))}"] * bool(claim["conflicts_with"])
            ),
        )
        for claim in claims
    ]
    print_table(("claim", "standing", "place", "who, and what local evidence says", "note"), rows, title="Claims, side by side")
    say("Agreement is no evidence: what holds is what the bindings say. Nothing here was voted on.")


def show_sections(sections: list[dict[str, Any]]) -> None:
    """Print what was sent, section by section."""
    rows = [(s["name"], s["chars"] or "empty", s["digest"][:16]) for s in sections]
    print_table(("section sent", "chars", "digest"), rows)


def _sent(report: dict[str, Any]) -> None:
    say(f"Destination: {report['destination']}")
    exchanges = [exchange for exchange in report["exchanges"] if exchange["sections"]]
    if not exchanges:
        say("Nothing was sent.")
    for sent in exchanges:
        why = ", by itself, because evidence was asked for" if sent["by_itself"] else ""
        say(f"Sent: {sent['chars']} characters in exchange {sent['exchange']}{why}, digest {sent['digest'][:16]}")
        show_sections(sent["sections"])
        delta = sent["delta"]
        if delta is not None and delta["omitted"]:
            say(f"Changed but not sent, for size: {', '.join(delta['omitted'])}")
        if delta is not None and delta["critical_omitted"]:
            say(f"Without these an answer may be about what was before: {', '.join(delta['critical_omitted'])}")
        _evidence(sent["evidence"])


def _evidence(decisions: list[dict[str, Any]]) -> None:
    if not decisions:
        return
    rows = [
        (
            d["number"],
            d["kind"],
            d["target"] or "-",
            "granted" if d["granted"] else "denied",
            d["chars"] or "",
            d["denial"] or d["digest"][:12],
            d["detail"],
        )
        for d in decisions
    ]
    print_table(("request", "kind", "target", "", "chars", "reason or digest", "detail"), rows, title="Evidence it asked for")


def _claims(claims: list[dict[str, Any]]) -> None:
    if not claims:
        say("  It makes no claim that could be checked.")
        return
    rows = []
    for claim in claims:
        binding = claim["binding"] or {"status": "unbound", "detail": "", "digest": ""}
        words = "; ".join(text for text in (claim["statement"], binding["detail"]) if text)
        rows.append((claim["number"], claim["kind"], _place(claim), binding["status"], binding["digest"][:12], words))
    print_table(("claim", "kind", "place", "binding", "local digest", "what it says"), rows)


def _place(claim: dict[str, Any]) -> str:
    lines = ""
    if claim["start_line"]:
        lines = f":{claim['start_line']}" + (
            f"-{claim['end_line']}" if claim["end_line"] not in (None, claim["start_line"]) else ""
        )
    symbol = f" ({claim['symbol']})" if claim["symbol"] else ""
    return f"{claim['path'] or '-'}{lines}{symbol}"
