"""The second opinion: packet, escalation, strict answers, claims bound to local evidence. Advice informs; it never decides."""

from __future__ import annotations

from ues_core.reasoning.channels import NoChannel, PersonChannel, make_channel
from ues_core.reasoning.consultation import Consultation
from ues_core.reasoning.escalate import Decision, EscalationFacts, decide
from ues_core.reasoning.inputs import ConsultLimits, PacketInputs, Tools
from ues_core.reasoning.packet import build_packet
from ues_core.reasoning.person import Relay
from ues_core.reasoning.render import NONCE_CHARS, check_outbound, render_prompt
from ues_core.reasoning.wrap import ConsultantOnly, check_authority

__all__ = [
    "NONCE_CHARS",
    "ConsultLimits",
    "ConsultantOnly",
    "Consultation",
    "Decision",
    "EscalationFacts",
    "NoChannel",
    "PacketInputs",
    "PersonChannel",
    "Relay",
    "Tools",
    "build_packet",
    "check_authority",
    "check_outbound",
    "decide",
    "make_channel",
    "render_prompt",
]
