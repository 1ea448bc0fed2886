/**
 * Connections that take back what was not delivered when they are given up.
 *
 * Invariant: once a request has been given up before any of its answer came, its bytes are not sent again. A socket that is merely
 * closed leaves them to the kernel, which repeats them for most of a minute, or for minutes on a slow line (tcp(7),
 * `tcp_orphan_retries`): an order could arrive after its upstream has twice said that it does not know it, and after another was sent in
 * its place. What has already left the machine cannot be taken back; that, the settle delay of each upstream waits for.
 */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** The same connections; they are reset, not closed, while an answer is owed (RFC 9293 §3.10.5: ABORT discards what is queued). */
export function takingBack(dial: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    const secured = options.protocol === 'https:';
    const wireOptions = secured ? { ...options, protocol: 'http:', port: options.port || '443' } : options;
    dial(wireOptions, (...wired) => {
      const [error, wire] = wired;
      if (error !== null) {
        callback(...wired);
        return;
      }
      if (!secured) {
        callback(null, abortable(wire, wire));
        return;
      }
      // The connection below TLS is opened apart, because only that one can be reset.
      try {
        dial({ ...options, httpSocket: wire }, (...result) => {
          const [failed, socket] = result;
          callback(...(failed === null ? ([null, abortable(socket, wire)] as const) : result));
        });
      } catch (failed) {
        // In the event of a socket nobody else would catch it, and the process would end: this machine's settings of TLS are wrong.
        wire.destroy();
        callback(failed instanceof Error ? failed : new Error('TLS could not be begun'), null);
      }
    });
  };
}

/** Lets the HTTP client's socket abort its connection, `wire`, when it is destroyed between a request and its answer. */
function abortable<S extends Socket>(socket: S, wire: Socket): S {
  let isOwed = false;
  const write = socket.write.bind(socket);
  const read = socket.read.bind(socket);
  const destroy = socket.destroy.bind(socket);
  socket.write = ((...given: Parameters<Socket['write']>) => {
    isOwed = true;
    return write(...given);
  }) as Socket['write'];
  socket.read = (size) => {
    const piece = read(size);
    if (piece !== null && !isInterim(piece)) isOwed = false;
    return piece;
  };
  socket.destroy = (error) => {
    if (isOwed && !wire.destroyed) {
      isOwed = false;
      wire.resetAndDestroy();
    }
    return destroy(error);
  };
  return socket;
}

/** Whether what has arrived begins as an interim response (1xx) does: the answer is still owed. */
function isInterim(piece: Buffer): boolean {
  return piece.subarray(0, INTERIM.length).toString('latin1') === INTERIM;
}

const INTERIM = 'HTTP/1.1 1';
