/**
 * Tells request bodies that are cut into needlessly many pieces, to keep a process busy: a byte that is sent as a chunk of its own
 * (RFC 9112 §7.1) costs some hundred times its length in memory, and microseconds.
 *
 * Invariant: an honest sender is never refused, even one that writes each JSON token as a chunk.
 */

/** So many pieces are allowed whatever their size: a payout of a hundred lines has fewer JSON tokens. */
const MAX_PIECES = 4_096;
/** Beyond these, a body must have so many bytes for each further piece. */
const MIN_BYTES_EACH = 16;

/** Whether a body that has come in so many pieces so far is not worth being read to its end. */
export function isShredded(pieces: number, bytes: number): boolean {
  return pieces > MAX_PIECES + bytes / MIN_BYTES_EACH;
}
