/**
 * Limits how many bytes the HTTP client reads from a connection at once.
 *
 * Invariant: of what has arrived on a connection that is given up, at most one piece is still parsed. The HTTP client's parser goes on
 * to the end of what it has been handed, even after the answer was found to be too large: for each of 32 000 header lines it would make
 * an error with a stack, and the process would do nothing else for a second.
 */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** 1 KiB: nearly every answer of an upstream fits into one piece, and at most 256 header lines do. */
export const READ_BYTES = 1_024;

/** Dials the same connections, which hand over at most `READ_BYTES` at each read. */
export function withSmallReads(dial: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    dial(options, (...result) => {
      const [error, socket] = result;
      if (error === null) limitReads(socket);
      callback(...result);
    });
  };
}

function limitReads(socket: Socket): void {
  const read = socket.read.bind(socket);
  socket.read = () => (socket.destroyed ? null : read(Math.min(READ_BYTES, socket.readableLength) || undefined));
}
