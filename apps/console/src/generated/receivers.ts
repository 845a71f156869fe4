/**
 * Functions that verify webhooks, in other languages.
 *
 * Generated from docs/guides/webhooks-other-languages.md by `generate.ts`. Do not edit.
 */
/** Verifies a webhook in Python. */
export const python = String.raw`import hashlib, hmac, json, re
from datetime import datetime

def verify(secrets, headers, body, now, tolerance=300):
    if not secrets or not all(re.fullmatch(r"whsec_[!-~]+", secret) for secret in secrets):
        raise ValueError("secrets must be complete whsec_... values")
    found = {}
    for name, value in headers:
        if value and name.lower() in ("gov-event-id", "gov-timestamp", "gov-signature"):
            if name.lower() in found:
                return None
            found[name.lower()] = value
    timestamp, received = found.get("gov-timestamp", ""), found.get("gov-signature", "")
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?Z", timestamp, re.ASCII):
        return None
    try:
        at = datetime.fromisoformat(timestamp[:19] + "+00:00").timestamp() + float("0" + timestamp[19:-1])
    except ValueError:
        return None
    signatures = [entry.strip().encode() for entry in received.split(",")[:8]]
    macs = [hmac.new(s.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest() for s in secrets]
    fits = [hmac.compare_digest(b"v1=" + mac.encode(), entry) for mac in macs for entry in signatures]
    if abs(now / 1000 - at) > tolerance or not any(fits):
        return None
    try:
        event = json.loads(body.decode("utf-8-sig", "replace"))
    except ValueError:
        return None
    return event if isinstance(event, dict) and event.get("id") == found.get("gov-event-id", "") else None
`
