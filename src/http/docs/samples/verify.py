import base64
import hashlib
import hmac
import time


def is_from_mbongo(headers, body: bytes, secret: str, now=None) -> bool:
    """body is the bytes as they came, before anything parses them; secret is whsec_…; now in seconds."""
    at = headers.get("webhook-timestamp", "")
    if not (at.isascii() and at.isdigit() and len(at) < 16):
        return False
    if abs((time.time() if now is None else now) - int(at)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if len(key) < 24:  # No secret is set: anybody could sign.
        return False
    signed = f"{headers.get('webhook-id', '')}.{at}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(signature, expected) for signature in signatures)
