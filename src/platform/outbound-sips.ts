/**
 * Connections from which answers are read in small pieces.
 *
 * Invariant: of what arrives on a connection after it was given up, a piece at most is still looked at. The HTTP client lets its parser
 * go through everything that has arrived, up to its end, although the answer has been found to be too large: for each of 32 000
 * header lines it makes an error with a stack, and nothing else is done for a second.
 */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** 1 KiB: nearly every answer of an upstream fits into one piece, and of header lines 256. */
export const SIP_BYTES = 1_024;

/** The same connections, read in sips. */
export function sipping(dial: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    dial(options, (...result) => {
      const [error, socket] = result;
      if (error === null) sip(socket);
      callback(...result);
    });
  };
}

function sip(socket: Socket): void {
  const read = socket.read.bind(socket);
  socket.read = () => (socket.destroyed ? null : read(Math.min(SIP_BYTES, socket.readableLength) || undefined));
}
