/**
 * A log that keeps its lines.
 *
 * Invariant: they are exactly what would have been written, masks included.
 */
import { createLog } from '../log.ts';
import type { Clock, Log } from '../platform.ts';

export interface MemoryLog extends Log {
  readonly lines: readonly string[];
}

export function memoryLog(clock?: Pick<Clock, 'now'>): MemoryLog {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line.trimEnd()) };
  return { ...createLog({ level: 'debug', destination, ...(clock && { clock }) }), lines };
}
