"""The second opinion: packet, escalation, strict answers, claims bound to local evidence. Advice informs; it never decides."""
