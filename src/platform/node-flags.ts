/**
 * What Node.js itself is told when it runs a process that takes load, besides what `serve` can still set by itself.
 *
 * Each half of the young generation may grow to 32 MiB instead of 16. A payment leaves some hundred kilobytes behind that
 * nobody needs any more: where more of it dies before it is looked at, less has to be copied, and payments are about 6 %
 * more. Whatever starts `serve` says so: `npm start`, the supervisor, the image, the units, the benchmark.
 */
export const NODE_FLAGS = ['--max-semi-space-size=32'] as const;
