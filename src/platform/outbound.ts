/**
 * The one door to the network: small HTTP requests over pooled connections.
 *
 * Invariant: `not_sent` is reported only for a request of which no byte was written, or ever will be; everything else without the
 * answer that was asked for is `lost`. No request outlives its deadline, follows a redirect or uses a proxy.
 */
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { createCache } from './cache.ts';
import { systemClock } from './clock.ts';
import { BLOCKED, guardedConnector, MAX_CONNECT_MS, nameServers, type Resolve } from './outbound-dial.ts';
import { createLanes, LANE_WIDTH, type Lanes } from './outbound-lanes.ts';
import { READ_BYTES, withSmallReads } from './outbound-small-reads.ts';
import { takingBack } from './outbound-take-back.ts';
import { type DialRules, type Target, targetOfMerchant, targetOfUpstream } from './outbound-url.ts';
import type { Clock, Outbound, OutboundAnswer, OutboundRequest } from './platform.ts';
import { systemCodeOf } from './system-code.ts';
import { VERSION } from './version.ts';

/** The User-Agent of every request that does not set its own. */
const USER_AGENT = `Mbongo/${VERSION}`;

export interface OutboundOptions extends DialRules {
  /** The clock that measures the deadlines; the machine's when absent. */
  readonly clock?: Clock;
  /** How a merchant's host name becomes addresses; the machine's name servers when absent. */
  readonly resolve?: Resolve;
}

/**
 * How many responses may still be arriving although nobody waits for their end, over all origins; beyond that the oldest
 * connection is closed. Normal ones end at once and free their connection; endless ones must not occupy an origin's slots.
 */
const MAX_UNFINISHED = 64;

/** How many interim responses (1xx) may come before an answer; more are sent only to keep the gateway busy. */
const MAX_INTERIM = 64;
/** Of an answer's header: more than receivers behind large proxies send. An upstream may send twice as much. */
const HEADER_BYTES = 8_192;
/** How many more pieces an answer may have than twice those in which one of the longest is read. */
const PIECES_BESIDES = 1_024;

/** Idle connections are closed after 4 s; the receiver may ask for less, or for more, up to 30 s. */
const POOL_OPTIONS = {
  connections: LANE_WIDTH,
  pipelining: 1,
  keepAliveTimeout: 4000,
  keepAliveMaxTimeout: 30_000,
  // The deadline of a request covers these, with one timer instead of two.
  headersTimeout: 0,
  bodyTimeout: 0,
} as const;

const TO_UPSTREAMS = { timeout: MAX_CONNECT_MS, rejectUnauthorized: true } as const;

/** Opens the door. `close` cuts what is still in flight (which becomes `lost`): a caller that wants it finished waits first. */
export function createOutbound(options: OutboundOptions): Outbound {
  const { allowLoopback, requireHttps, networks = [] } = options;
  const rules: DialRules = { allowLoopback, requireHttps, networks };
  const clock = options.clock ?? systemClock();
  const resolve = options.resolve ?? nameServers({ alsoSystem: rules.allowLoopback });
  // Apart from each other: a merchant's request must never travel over a connection that was made without the guard.
  const pools = {
    merchant: openPools(guardedConnector(rules, resolve), HEADER_BYTES),
    upstream: openPools(takingBack(buildConnector(TO_UPSTREAMS)), 2 * HEADER_BYTES),
  };
  const judged = remembering((url) => targetOfMerchant(url, rules));
  const judgedForBrowsers = remembering((url) => targetOfMerchant(url, rules, 'browser'));
  let closed = false;
  return {
    request(request) {
      const isMerchant = request.trust === 'merchant';
      const target = isMerchant ? judged(request.url) : targetOfUpstream(request.url);
      if ('refused' in target) return Promise.resolve(notSent(`the address is refused: ${target.refused}`));
      if (closed) return Promise.resolve(notSent('the gateway is stopping'));
      return new Promise((settle) => exchange({ pools: pools[request.trust], clock, target, request, settle }));
    },
    refuses(url, opener) {
      const target = opener === 'browser' ? judgedForBrowsers(url) : judged(url);
      return 'refused' in target ? target.refused : undefined;
    },
    async close() {
      closed = true;
      await Promise.all([pools.merchant.agent.destroy(), pools.upstream.agent.destroy()]);
    },
  };
}

/** URLs whose judgement is remembered: a payment's URL is judged three times, and the next payment's is usually the same. */
const MAX_JUDGED = 1_000;
/** Characters; longer URLs are judged anew, so that strangers cannot fill the memory. */
const MAX_JUDGED_LENGTH = 256;

function remembering(judge: (url: string) => Target): (url: string) => Target {
  const known = createCache<Target>(MAX_JUDGED);
  return (url) => {
    const found = known.get(url);
    if (found !== undefined) return found;
    const target = judge(url);
    if (url.length <= MAX_JUDGED_LENGTH) known.set(url, target);
    return target;
  };
}

/** The connections to all origins of one kind of receiver. */
interface Pools {
  readonly agent: Agent;
  readonly lanes: Lanes;
  /** Functions that cut off the answers that have been handed over but have not ended, the oldest first. */
  readonly unfinished: Set<() => void>;
}

function openPools(dial: buildConnector.connector, maxHeaderSize: number): Pools {
  const agent = new Agent({ ...POOL_OPTIONS, maxHeaderSize, connect: withSmallReads(dial) });
  return { agent, lanes: createLanes(), unfinished: new Set() };
}

interface Exchange {
  readonly pools: Pools;
  readonly clock: Clock;
  readonly target: { readonly origin: string; readonly path: string };
  readonly request: OutboundRequest;
  readonly settle: (answer: OutboundAnswer) => void;
}

/**
 * One request and its outcome. The first of answer, failure and deadline settles it. If the status is enough, the rest of the
 * answer is read and dropped, within the same limit and deadline.
 */
function exchange(parts: Exchange): void {
  const { clock, request } = parts;
  const { agent, lanes, unfinished } = parts.pools;
  const { origin, path } = parts.target;
  const begun = clock.wall();
  let settled = false;
  let controller: Dispatcher.DispatchController | undefined;

  const cut = (): void => controller?.abort(new Error('the rest is not wanted'));
  const settle = (answer: OutboundAnswer): void => {
    if (settled) return;
    settled = true;
    if (!unfinished.has(cut)) cancelDeadline();
    parts.settle(answer);
  };
  const leave = (): void => {
    cancelDeadline();
    unfinished.delete(cut);
    lanes.leave(origin);
  };
  const giveUp = (): void => {
    leaveQueue?.();
    settle(controller === undefined ? notSent('no connection in time') : lost('no answer in time'));
    controller?.abort(new Error('deadline'));
  };
  const cancelDeadline = startDeadline(clock, request.timeout, () => controller !== undefined, giveUp);
  /** Timers stand still while the machine sleeps, or its host pauses it, but its clock does not. */
  const isOverdue = (): boolean => Math.abs(clock.wall() - begun) > request.timeout;

  const answer = createAnswerReader(request.answerLimit);
  const start = (): void => {
    agent.dispatch(dispatchOptions(origin, path, request), {
      // Called on an established connection, right before the first byte. Aborting here keeps it from being written.
      onRequestStart(started) {
        if (controller === undefined && isOverdue()) settle(notSent('no connection in time'));
        // A second start means that the library sends again after a cut connection: never, the request may have been delivered.
        if (settled || controller !== undefined) started.abort(new Error('not to be sent'));
        else controller = started;
      },
      onResponseStart(current, status, headers) {
        if (!answer.start(status, headers)) {
          current.abort(Object.assign(new Error('too many interim responses'), { code: 'INTERIM_WITHOUT_END' }));
          return;
        }
        if (request.enough !== 'status' || status < 200) return;
        unfinished.add(cut);
        settle(answer.whole());
        const [oldest] = unfinished;
        if (unfinished.size > MAX_UNFINISHED) oldest?.();
      },
      onResponseData(current, chunk) {
        if (answer.data(chunk)) return;
        settle(answer.whole());
        current.abort(new Error('answer limit'));
      },
      onResponseEnd() {
        settle(answer.whole());
        leave();
      },
      onResponseError(_, error) {
        const reason = reasonOf(error);
        settle(controller === undefined ? notSent(reason) : lost(reason));
        leave();
      },
    });
  };
  const leaveQueue = lanes.enter(origin, start);
  if (leaveQueue === undefined) settle(notSent('too many requests wait for this address'));
}

/** Calls `giveUp` once a request has had its `timeout`, in milliseconds. Returns the function that cancels the deadline. */
function startDeadline(clock: Clock, timeout: number, isSent: () => boolean, giveUp: () => void): () => void {
  let reading: NodeJS.Immediate | undefined;
  const cancel = clock.after(timeout, () => {
    // After a stall, timers run before sockets: an answer that has already arrived is read first. A request not sent by now never
    // is.
    if (isSent()) reading = setImmediate(giveUp);
    else giveUp();
  });
  return () => {
    cancel();
    clearImmediate(reading);
  };
}

function dispatchOptions(origin: string, path: string, request: OutboundRequest): Dispatcher.DispatchOptions {
  return {
    origin,
    path,
    method: request.method,
    headers: { 'user-agent': USER_AGENT, ...request.headers },
    body: request.body ?? null,
  };
}

interface AnswerReader {
  /** Takes the status and headers of a response, interim or final. False once there have been too many interim ones. */
  start(status: number, headers: { readonly [name: string]: string | string[] | undefined }): boolean;
  /** False once the limit is exceeded, or the answer comes in too many pieces: what has come is kept, and no more is wanted. */
  data(chunk: Buffer): boolean;
  whole(): OutboundAnswer;
}

function createAnswerReader(limit: number): AnswerReader {
  let interim = 0;
  let status = 0;
  let headers: { readonly [name: string]: string } = {};
  const chunks: Buffer[] = [];
  let size = 0;
  const mostPieces = PIECES_BESIDES + (2 * limit) / READ_BYTES;
  return {
    start(newStatus, newHeaders) {
      if (newStatus < 200) interim += 1;
      if (interim > MAX_INTERIM) return false;
      // The final answer comes after interim ones (103 Early Hints) and replaces them.
      status = newStatus;
      headers = flat(newHeaders);
      return true;
    },
    data(chunk) {
      const wanted = chunk.length <= limit - size ? chunk : chunk.subarray(0, limit - size);
      chunks.push(wanted);
      size += wanted.length;
      return wanted.length === chunk.length && chunks.length < mostPieces;
    },
    whole: () => ({ kind: 'answered', status, headers, body: Buffer.concat(chunks).toString() }),
  };
}

/** Lower-case names; a header that came several times becomes a list with commas. */
function flat(headers: { readonly [name: string]: string | string[] | undefined }): {
  readonly [name: string]: string;
} {
  const result: { [name: string]: string } = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) result[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return result;
}

function notSent(reason: string): OutboundAnswer {
  return { kind: 'not_sent', reason };
}

function lost(reason: string): OutboundAnswer {
  return { kind: 'lost', reason };
}

/** A reason for people and logs. Never the error's message: it may name addresses that are nobody's business. */
function reasonOf(error: unknown): string {
  const code = systemCodeOf(error);
  if (code === BLOCKED) return 'the address is refused: it is not public';
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'ENOTFOUND') return 'the name has no address';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'no connection in time';
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return 'the connection was cut';
  return code === undefined ? 'the connection failed' : `the connection failed: ${code}`;
}
