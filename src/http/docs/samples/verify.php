<?php
/** $headers with lower-case names; $body as it came: file_get_contents('php://input'); $secret is whsec_…. */
function is_from_mbongo(array $headers, string $body, string $secret, ?int $now = null): bool
{
    $id = $headers['webhook-id'] ?? '';
    $at = $headers['webhook-timestamp'] ?? '';
    if (!ctype_digit($at) || abs(($now ?? time()) - (int) $at) > 300) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    if (strlen($key) < 24) {
        return false; // No secret is set: anybody could sign.
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$at.$body", $key, true));
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}
