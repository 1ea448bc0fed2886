/**
 * Bodies of requests that come in so many pieces that only somebody who wants to keep a process busy would send them: each byte as
 * a chunk of its own (RFC 9112 §7.1) costs some hundred times its length in memory, and microseconds.
 */

/** More than a payout of a hundred lines has words and signs, for senders that write each as a chunk. */
const ALWAYS_FINE = 4_096;
const LEAST_BYTES_EACH = 16;

/** Whether a body that has come in so many pieces so far is not worth being read to its end. */
export function isShredded(pieces: number, bytes: number): boolean {
  return pieces > ALWAYS_FINE + bytes / LEAST_BYTES_EACH;
}
