/**
 * A process that a supervisor runs: what it says to the supervisor, and what it is told.
 *
 * Invariant: it ends when its supervisor does, and finishes what is in flight first, as when it is told to stop.
 */
import cluster from 'node:cluster';
import type { Server, Socket } from 'node:net';
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
  /**
   * Has its port taken from it, and resolves when it listens no more, or when the supervisor does not answer. Given up by
   * the process itself, Node.js would hand a connection that is on its way to the next one, and hold it unanswered for as
   * long as the supervisor lives where none is left, or none that still hears.
   */
  leave(): Promise<void>;
  /** Resolves when another process has taken this one's place. */
  readonly replaced: Promise<void>;
}

/** A little longer than the supervisor waits for the slowest process. */
const ANSWER_LIMIT_MS = 5_000;
/** A supervisor that hears at all does so at once. */
const LEAVE_LIMIT_MS = 1_000;
const LEAVE_GRACE_MS = 50;

/** Undefined where nobody supervises this process. */
export function openSupervised(): Supervised | undefined {
  const { worker } = cluster;
  if (worker === undefined) return undefined;
  // Without it Node.js ends a process in the middle of its work when the channel closes; we stop in order.
  worker.exitedAfterDisconnect = true;
  const asked = new Map<number, (text: string) => void>();
  let own: (() => Promise<string>) | undefined;
  let asks = 0;
  let leave: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  let replace: () => void = () => undefined;
  const replaced = new Promise<void>((resolve) => {
    replace = resolve;
  });

  const hear = async (word: SupervisorWord): Promise<void> => {
    if (word.type === 'replaced') replace();
    else if (word.type === 'left') leave();
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
    async leave() {
      if (!process.connected) return;
      // What came while this process stood still is read before the second of the two.
      let late = setTimeout(() => {
        late = setTimeout(leave, LEAVE_GRACE_MS);
      }, LEAVE_LIMIT_MS);
      // Node.js closes the channel itself once the last connection has ended.
      process.once('disconnect', leave);
      say({ type: 'leaving' });
      await left;
      clearTimeout(late);
    },
    replaced,
  };
}

/**
 * Lets the process itself close the connections that are too many. Node.js would hand them back, and from one process that
 * is full to the next, without an end.
 */
export function closeTooMany(server: Server): void {
  const most = server.maxConnections;
  server.maxConnections = Number.POSITIVE_INFINITY;
  let open = 0;
  server.prependListener('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
    });
    if (open <= most) return;
    server.emit('drop');
    socket.destroy();
  });
}

/** A supervisor that has just gone hears nothing more; that it has gone, another event says. */
function say(word: ProcessWord): void {
  if (process.connected) process.send?.(word, undefined, undefined, () => undefined);
}
