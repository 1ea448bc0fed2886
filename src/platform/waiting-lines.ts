/**
 * The log's lines that wait to be written, as bytes in pieces.
 *
 * Invariant: lines stay in order and whole. No more than a limit waits: further lines are lost, and a line that says how many
 * comes after those that waited before them.
 */

export interface WaitingLines {
  /** Adds one line or several, each with its newline; beyond the limit they are lost and counted. */
  add(lines: string): void;
  /** What is to be written next: the rest of a piece that has been written in part, or the oldest piece. */
  next(): Buffer | undefined;
  /** These first bytes of `next` have been written. */
  written(bytes: number): void;
  /** Drops everything. Returns how many lines it was, lost ones and those written in part included. */
  drop(): number;
}

/**
 * Bytes written at once. Waiting lines are turned into bytes in pieces of this size: lines as pino makes them are strings of many
 * parts, which take six bytes for each character (measured).
 */
const PIECE_BYTES = 64 * 1024;

/** `most`: how many bytes may wait. */
export function waitingLines(most: number): WaitingLines {
  /** The newest lines, less than a piece, and their total number of characters. */
  let lines: string[] = [];
  let length = 0;
  /** The pieces made of the lines before them. */
  let pieces: Buffer[] = [];
  /** What is left of the piece that is being written. */
  let left: Buffer | undefined;
  /** Bytes that wait, including those being written; a character of `lines` counts as one. */
  let size = 0;
  let lost = 0;

  function append(more: string): void {
    lines.push(more);
    length += more.length;
    size += more.length;
    if (length >= PIECE_BYTES) makePiece();
  }

  function makePiece(): void {
    if (lines.length === 0) return;
    const piece = Buffer.from(lines.join(''));
    pieces.push(piece);
    size += piece.length - length;
    lines = [];
    length = 0;
  }

  function takePiece(): Buffer | undefined {
    if (lost > 0) append(lostLine(lost));
    lost = 0;
    if (pieces.length === 0) makePiece();
    return pieces.shift();
  }

  return {
    add(more) {
      if (size + more.length > most) lost += linesIn(more);
      else append(more);
    },
    next() {
      left ??= takePiece();
      return left;
    },
    written(bytes) {
      size -= bytes;
      left = left !== undefined && bytes < left.length ? left.subarray(bytes) : undefined;
    },
    drop() {
      makePiece();
      const all = left === undefined ? pieces : [left, ...pieces];
      const count = all.reduce((sum, piece) => sum + linesIn(piece), lost);
      pieces = [];
      left = undefined;
      size = 0;
      lost = 0;
      return count;
    },
  };
}

/** Counts a line that has been written in part, too. */
function linesIn(text: string | Buffer): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function lostLine(lines: number): string {
  const time = new Date().toISOString();
  return `${JSON.stringify({ level: 'error', time, lines, event: 'log_lines_lost' })}\n`;
}
