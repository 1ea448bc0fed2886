/**
 * What Node.js itself is told when it runs a process that takes load, besides what `serve` can still set by itself.
 *
 * Each half of the young generation may grow to 32 MiB instead of 16. A payment leaves some hundred kilobytes of garbage behind:
 * the more of it dies before a collection, the less has to be copied, and throughput of payments rises by about 6 %. Everything
 * that starts `serve` passes these flags: `npm start`, the supervisor, the image, the units, the benchmark.
 */
export const NODE_FLAGS = ['--max-semi-space-size=32'] as const;
