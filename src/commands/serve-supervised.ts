/**
 * A process that a supervisor runs: what it says to the supervisor, and what it is told.
 *
 * Invariant: it ends when its supervisor does, and finishes what is in flight first, as when it is told to stop.
 */
import cluster from 'node:cluster';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics } from '../platform/platform.ts';
import { isSupervisorWord, type ProcessWord, type SupervisorWord } from './supervise-words.ts';

export interface Supervised {
  /** It serves. */
  ready(url: string | undefined): void;
  /** It could not start, and why. */
  failed(message: string): void;
  /** Answers the supervisor with these numbers of this process, whenever it asks. */
  answerWith(own: () => Promise<string>): void;
  /** The same numbers to write into; the page is that of all processes. */
  joined(metrics: Metrics): Metrics;
  /** Resolves when another process has taken this one's place. */
  readonly replaced: Promise<void>;
}

/** A little longer than the supervisor waits for the slowest process. */
const ANSWER_LIMIT_MS = 5_000;

/** Undefined where nobody supervises this process. */
export function openSupervised(): Supervised | undefined {
  const { worker } = cluster;
  if (worker === undefined) return undefined;
  // Without it Node.js ends a process in the middle of its work when the channel closes; we stop in order.
  worker.exitedAfterDisconnect = true;
  const asked = new Map<number, (text: string) => void>();
  let own: (() => Promise<string>) | undefined;
  let asks = 0;
  let replace: () => void = () => undefined;
  const replaced = new Promise<void>((resolve) => {
    replace = resolve;
  });

  const hear = async (word: SupervisorWord): Promise<void> => {
    if (word.type === 'replaced') replace();
    else if (word.type === 'numbers_of_all') asked.get(word.ask)?.(word.text);
    else if (own !== undefined) say({ type: 'numbers', ask: word.ask, text: await own() });
  };
  process.on('message', (word: unknown) => {
    if (isSupervisorWord(word)) void hear(word);
  });

  const askAll = (): Promise<string> => {
    asks += 1;
    const ask = asks;
    return new Promise<string>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the supervisor does not answer')), ANSWER_LIMIT_MS);
      asked.set(ask, (text) => {
        clearTimeout(late);
        resolve(text);
      });
      say({ type: 'numbers_asked', ask });
    }).finally(() => asked.delete(ask));
  };
  return {
    ready: (url) => say(url === undefined ? { type: 'ready' } : { type: 'ready', url }),
    failed: (message) => say({ type: 'failed', message }),
    answerWith: (numbers) => {
      own = numbers;
    },
    joined: (metrics) => ({
      ...metrics,
      page: async () => {
        const [{ type }, body] = await Promise.all([metrics.page(), askAll()]);
        return { type, body };
      },
    }),
    replaced,
  };
}

/**
 * Tends a server whose port several processes share, where Node.js's sharing falls short. Returns what gives up the port.
 *
 * The process itself closes the connections that are too many: Node.js would hand them back, and from one process that is
 * full to the next, without an end. And `close()` waits until those that are open have ended, but keeps the port: what comes
 * when the last process gives it up may be held by the supervisor, unanswered, for as long as that lives.
 */
export function tendConnections(server: Server): () => void {
  const most = server.maxConnections;
  server.maxConnections = Number.POSITIVE_INFINITY;
  const open = new Set<Socket>();
  server.prependListener('connection', (socket: Socket) => {
    if (open.size >= most) {
      server.emit('drop');
      socket.destroy();
      return;
    }
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const close = server.close.bind(server);
  server.close = (done) => {
    server.closeIdleConnections();
    void whenEnded([...open], done);
    return server;
  };
  return () => {
    close();
    // They came after the stop began, and have not asked for anything yet.
    server.closeAllConnections();
  };
}

async function whenEnded(sockets: readonly Socket[], done: (() => void) | undefined): Promise<void> {
  await Promise.all(sockets.map((socket) => new Promise<void>((end) => socket.once('close', () => end()))));
  done?.();
}

/** A supervisor that has just gone hears nothing more; that it has gone, another event says. */
function say(word: ProcessWord): void {
  if (process.connected) process.send?.(word, undefined, undefined, () => undefined);
}
