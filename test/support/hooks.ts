/**
 * Merchants' webhook receivers that keep what they are sent: one that answers, and ones that misbehave.
 *
 * Invariant: a webhook is kept before it is answered, so that every delivery that the gateway counts is here.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { portOf } from './listening.ts';

export interface Caught {
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly transactionId: string;
  readonly status: string;
}

export interface Hooks {
  readonly url: string;
  readonly caught: readonly Caught[];
  /** How many posts are held open, unanswered. */
  held(): number;
  /** Resolves when `done` returns true; it is called after every webhook. */
  until(done: (caught: readonly Caught[]) => boolean): Promise<void>;
  close(): Promise<void>;
}

/** `answers` ends the response; one that does not leaves the post hanging. */
export async function openHooks(
  answers: (response: ServerResponse) => void = (response) => void response.writeHead(204).end(),
  heard: () => void = () => undefined,
): Promise<Hooks> {
  const caught: Caught[] = [];
  const waiting = new Set<() => void>();
  let held = 0;
  const server = createServer(async (request, response) => {
    held += 1;
    response.once('close', () => {
      held -= 1;
    });
    let raw = '';
    for await (const chunk of request.setEncoding('utf8')) raw += chunk;
    const { transaction_id, status } = JSON.parse(raw) as { transaction_id: string; status: string };
    caught.push({ headers: request.headers, raw, transactionId: transaction_id, status });
    heard();
    answers(response);
    for (const look of waiting) look();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}/hook`,
    caught,
    held: () => held,
    until: (done) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!done(caught)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
