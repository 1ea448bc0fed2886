/**
 * What Node.js itself is told when it runs a process that takes load, besides what `serve` can still set by itself.
 *
 * Invariant: none of it changes what a process does, only how fast.
 *
 * Each half of the young generation may grow to 32 MiB instead of 16. A payment leaves some hundred kilobytes behind that
 * nobody needs any more: where more of it dies before it is looked at, less has to be copied, and payments are about 6 %
 * more. Whatever starts `serve` says so: `npm start`, the supervisor, the image, the units, the benchmark.
 */
export const NODE_FLAGS = ['--max-semi-space-size=32'] as const;

/**
 * Takes the place of a buffer away, once, before anything is compiled. V8 compiles what reads buffers (timers, sockets, parsers) for as long as
 * that has never happened in a process, and throws all of it away when it does: the HTTP client's WebAssembly grows its memory when more
 * connections stand than before, and 130 functions were compiled anew under load, with turns of 150 ms for most of a second.
 */
export function settleBuffers(): void {
  const buffer = new ArrayBuffer(1);
  structuredClone(buffer, { transfer: [buffer] });
}
