/**
 * The side of a supervised process: what it tells its supervisor, and what it is told.
 *
 * Invariant: it ends when its supervisor does, after finishing what is in flight, as when it is told to stop.
 */
import cluster from 'node:cluster';
import type { Server, Socket } from 'node:net';
import type { Metrics } from '../platform/platform.ts';
import { isSupervisorMessage, type ProcessMessage, type SupervisorMessage } from './supervise-messages.ts';

/** A process's link to the supervisor that started it. */
export interface Supervised {
  /** Tells the supervisor that this process serves. */
  ready(url: string | undefined): void;
  /** Tells the supervisor that this process could not start, and why. */
  failed(message: string): void;
  /** Sets how this process's metrics are read, whenever the supervisor asks for them. */
  answerWith(own: () => Promise<string>): void;
  /** `metrics` to write into, with a page that shows those of all processes. */
  joined(metrics: Metrics): Metrics;
  /**
   * Has the supervisor take the port away, and resolves when this process no longer listens, or when the supervisor does not
   * answer. If the process gave the port up itself, Node.js would hand a connection in transit to the next process, and if none
   * is left that responds, hold it unanswered for as long as the supervisor lives.
   */
  leave(): Promise<void>;
  /** Resolves when another process has taken this one's place. */
  readonly replaced: Promise<void>;
}

/** 5 s, a little longer than the supervisor waits for the slowest process. */
const MAX_ANSWER_MS = 5_000;
/** 1 s and a little grace: a supervisor that answers at all does so at once. */
const MAX_LEAVE_MS = 1_000;
const LEAVE_GRACE_MS = 50;

/** This process's link to its supervisor; undefined if it has none. */
export function openSupervised(): Supervised | undefined {
  const { worker } = cluster;
  if (worker === undefined) return undefined;
  // Otherwise Node.js would end the process in the middle of its work when the channel closes; we stop gracefully.
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

  const hear = async (message: SupervisorMessage): Promise<void> => {
    if (message.type === 'replaced') replace();
    else if (message.type === 'left') leave();
    else if (message.type === 'numbers_of_all') asked.get(message.ask)?.(message.text);
    else if (own !== undefined) say({ type: 'numbers', ask: message.ask, text: await own() });
  };
  process.on('message', (message: unknown) => {
    if (isSupervisorMessage(message)) void hear(message);
  });

  const askAll = (): Promise<string> => {
    asks += 1;
    const ask = asks;
    return new Promise<string>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the supervisor does not answer')), MAX_ANSWER_MS);
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
    answerWith: (read) => {
      own = read;
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
      // Two timers: if this process was blocked, messages that arrived meanwhile are read before the second one fires.
      let late = setTimeout(() => {
        late = setTimeout(leave, LEAVE_GRACE_MS);
      }, MAX_LEAVE_MS);
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
 * Makes the process itself close connections beyond `maxConnections`. Node.js would hand them back to the supervisor, which would
 * pass them from one full process to the next without end.
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

/** Sends a message. A failure means that the supervisor is gone, which another event reports. */
function say(message: ProcessMessage): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
