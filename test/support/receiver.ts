/**
 * A merchant's webhook receiver: a real HTTP server on a free port that answers as the test says, and keeps what it is sent.
 *
 * Invariant: a webhook is kept before it is answered, so that every delivery that the gateway counts is here.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { portOf } from './listening.ts';
import { slowness } from './slow-world.ts';

/** A webhook as it came. */
export interface Hook {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  /** `raw`, parsed. */
  readonly body: { readonly transaction_id: string; readonly status: string };
}

export interface Receiver {
  readonly url: string;
  /** What has come, in order. */
  readonly hooks: readonly Hook[];
  /** How many connections were made to it. */
  connections(): number;
  /** How many posts are held open, unanswered. */
  held(): number;
  /** Resolves when `done` returns true; it is called after every webhook. */
  until(done: (hooks: readonly Hook[]) => boolean): Promise<void>;
  /** Resolves once `count` webhooks have come in total. */
  reached(count: number): Promise<void>;
  /** The first webhook about that transaction, already received or still to come. */
  about(transactionId: string): Promise<Hook>;
  /** Cuts every connection that is still open. */
  close(): Promise<void>;
}

/** Answers a webhook, the `number`th that has come; one that does not end the response leaves the post hanging. */
export type AnswerHook = (response: ServerResponse, hook: Hook, number: number) => unknown;

/** Answers with a status, later in a slow world; `before` is called first. */
export function answering(status: number, before: () => void = () => undefined): AnswerHook {
  return async (response) => {
    before();
    await slowness();
    response.writeHead(status).end();
  };
}

/** The transactions that webhooks are about. */
export function transactionsOf(hooks: readonly Hook[]): ReadonlySet<string> {
  return new Set(hooks.map(({ body }) => body.transaction_id));
}

/** Opens a receiver; it acknowledges at once if no answer is given. */
export async function openReceiver(
  answer: AnswerHook = (response) => response.writeHead(204).end(),
): Promise<Receiver> {
  const hooks: Hook[] = [];
  const waiting = new Set<() => void>();
  let held = 0;
  let connections = 0;
  const server = createServer(async (request, response) => {
    held += 1;
    response.once('close', () => {
      held -= 1;
    });
    const { method, url: path, headers } = request;
    const raw = await text(request).catch(() => undefined);
    // Its sender has gone, or been killed, in the middle of it.
    if (raw === undefined) return;
    const hook = { method, path, headers, raw, body: JSON.parse(raw) as Hook['body'] };
    hooks.push(hook);
    await answer(response, hook, hooks.length);
    for (const look of waiting) look();
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const until: Receiver['until'] = (done) =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!done(hooks)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return {
    url: `http://127.0.0.1:${portOf(server)}/hooks`,
    hooks,
    connections: () => connections,
    held: () => held,
    until,
    reached: (count) => until(() => hooks.length >= count),
    async about(transactionId) {
      const find = (): Hook | undefined => hooks.find(({ body }) => body.transaction_id === transactionId);
      await until(() => find() !== undefined);
      const found = find();
      if (found === undefined) throw new Error('the webhook is gone');
      return found;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Receivers that stay open until all are closed: none gets the port of another, and with it the other's late webhooks. */
export interface Receivers {
  /** Opens one more, as `openReceiver` does. */
  open(answer?: AnswerHook): Promise<Receiver>;
  /** Closes them all. */
  close(): Promise<void>;
}

/** Keeps track of the receivers of a test file. */
export function keepReceivers(): Receivers {
  const opened: Receiver[] = [];
  return {
    async open(answer) {
      const receiver = await openReceiver(answer);
      opened.push(receiver);
      return receiver;
    },
    async close() {
      await Promise.all(opened.map((receiver) => receiver.close()));
    },
  };
}
