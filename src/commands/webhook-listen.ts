/**
 * `mbongo webhook listen`: a receiver on this machine that shows each webhook, for developers who write a receiver.
 *
 * Invariant: it cannot be reached from other machines, no body grows without bound, and the secret is never printed.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../platform/clock.ts';
import { equal, hmac } from '../platform/secrets.ts';
import { OperatorError, UsageError } from '../usecases/operator-error.ts';
import { keyOfWebhookSecret } from '../usecases/webhook-sign.ts';
import { type Arrived, whyNotVerified } from '../usecases/webhook-verify.ts';
import { listenProblem } from './listen-problem.ts';
import { readSecret, readWhole } from './options.ts';
import { type Io, type Output, printError, printOutput, timeOf } from './output.ts';
import { whenToldToStop } from './serve-told.ts';

const HOST = '127.0.0.1';
/** 256 KiB at most for a body; our own webhooks have a few hundred bytes. */
const MAX_BYTES = 256 * 1024;
/** 15 s for a whole request, from its first byte to its last. */
const MAX_REQUEST_MS = 15_000;

/**
 * The options of `mbongo webhook listen`. `port`: 0 takes any free one. `secret`: the signing secret to verify with, or `-` for the
 * first line of the input; undefined: nothing is verified.
 */
export interface WebhookListenOptions {
  readonly port: string;
  readonly secret?: string;
  readonly json?: boolean;
}

/**
 * Listens until `told` resolves. Returns the exit status. With `json` each line is one document: the first says where it
 * listens, and each webhook is another.
 */
export async function webhookListen(
  io: Io,
  options: WebhookListenOptions,
  told: () => Promise<unknown> = () => whenToldToStop(io.env),
): Promise<number> {
  const json = options.json === true;
  try {
    const port = readWhole(options.port, 'port', 0, 65_535);
    const key = options.secret === undefined ? undefined : requireKey(await readSecret(options.secret, io.input));
    const stopped = told();
    const server = createServer({ requestTimeout: MAX_REQUEST_MS }, (request, response) => {
      receive(request, response, (arrived) => printOutput(io, outputOf(arrived, key), json));
    });
    server.listen(port, HOST);
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      throw new OperatorError(listenProblem(error.code ?? error.message, { host: HOST, port, variable: '--port' }));
    });
    const { port: own } = server.address() as AddressInfo;
    const url = `http://${HOST}:${own}/`;
    const lines = [`listening on ${url}`, 'Use this address, with any path, as notify_url.'];
    printOutput(io, { document: { type: 'ready', url }, lines }, json);
    await stopped;
    server.close();
    server.closeAllConnections();
    return 0;
  } catch (error) {
    return printError(io, error, json);
  }
}

function requireKey(secret: string): Uint8Array {
  const key = /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret) ? keyOfWebhookSecret(secret) : undefined;
  if (key === undefined) throw new UsageError('the secret must be whsec_ followed by base64');
  return key;
}

/** Reads one request to its end, shows it, and acknowledges it. */
function receive(request: IncomingMessage, response: ServerResponse, show: (arrived: Arrived) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  // A sender that breaks the request off gets no response, and tries again.
  request.on('error', () => undefined);
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BYTES) chunks.push(chunk);
    else if (!response.headersSent) response.writeHead(413, { connection: 'close' }).end(() => request.destroy());
  });
  request.on('end', () => {
    if (response.headersSent) return;
    if (request.method !== 'POST') {
      response.writeHead(405, { allow: 'POST' }).end();
      return;
    }
    show({ headers: request.headers, body: Buffer.concat(chunks).toString(), at: systemClock().wall() });
    response.writeHead(200).end();
  });
}

function outputOf(arrived: Arrived, key: Uint8Array | undefined): Output {
  const { headers, body, at } = arrived;
  const [id, event, sequence] = ['webhook-id', 'webhook-event', 'webhook-sequence'].map((name) =>
    String(headers[name] ?? ''),
  );
  const reason = key === undefined ? 'no --secret was given' : whyNotVerified({ hmac, equal }, key, arrived);
  const word = key === undefined ? 'not checked' : 'NOT verified';
  const verdict = reason === undefined ? 'verified' : `${word}: ${reason}`;
  return {
    document: {
      type: 'webhook',
      at: timeOf(at),
      id,
      event,
      sequence,
      verified: key === undefined ? null : reason === undefined,
      reason: reason ?? null,
      body,
    },
    lines: [`${timeOf(at)}  ${event}  ${sequence}  ${id}  ${verdict}`, body],
  };
}
