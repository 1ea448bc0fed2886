/**
 * A client that repeats a call, with the same Idempotency-Key, whenever an answer was lost, and records what it was told.
 *
 * Invariant: a request is repeated byte for byte under its key until it has a final answer; nothing else is repeated.
 */
import { setTimeout as pause } from 'node:timers/promises';

/** One POST as it was repeated, and its final answer. */
export interface Step {
  readonly path: string;
  readonly bearer: string;
  readonly key: string;
  readonly body: string;
  first?: { readonly status: number; readonly text: string };
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
}

export interface SteadyClient {
  /** Answers that no fault explains, and answers that differ from the first under the same key. */
  readonly wrongs: string[];
  /** How often each call got each answer: for the report. */
  readonly seen: ReadonlyMap<string, number>;
  /** Repeats the step until it has a final answer. */
  post(step: Step): Promise<Answer>;
  /** Sends a step again, unchanged; records what differs. */
  replay(step: Step): Promise<void>;
  /** Reads, and repeats while the gateway sheds the read or the connection breaks. */
  get(path: string, bearer: string): Promise<Answer>;
}

export interface ClientOptions {
  /** The gateway's address, once it has one; called for every try. */
  readonly url: () => string | Promise<string>;
  /** Called before every request and after every answer. */
  readonly heard?: () => void;
}

/** 15 000 ms, after which an answer counts as lost. */
const MAX_ANSWER_MS = 15_000;
/** 3 000 tries cover minutes without a gateway, and give up on one that never comes. */
const TRIES = 3_000;
const PAUSE_MS = 60;
/** 200 ms: an overloaded gateway sheds reads first, and refuses only reads. */
const READ_PAUSE_MS = 200;
const READS = 900;

export function openClient({ url, heard = () => undefined }: ClientOptions): SteadyClient {
  const wrongs: string[] = [];
  const seen = new Map<string, number>();
  const note = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

  const send = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
    const address = await url();
    heard();
    const response = await fetch(`${address}/api/v1${path}`, {
      method,
      signal: AbortSignal.timeout(MAX_ANSWER_MS),
      headers: { 'accept-language': 'en', ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    heard();
    const code = response.status < 300 ? '' : ` ${codeOf(text)}`;
    note(`${method} ${path.replace(/\/(txn|pay|rfd)_.*/, '')} ${response.status}${code}`);
    return { status: response.status, text, replayed: response.headers.get('idempotent-replayed') === 'true' };
  };

  /** Undefined if the connection broke. */
  const tryOnce = async ({ path, bearer, key, body }: Step): Promise<Answer | undefined> => {
    try {
      const json = { 'content-type': 'application/json', 'idempotency-key': key };
      return await send('POST', path, { authorization: `Bearer ${bearer}`, ...json }, body);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      note(`POST ${path} ${error.name === 'TimeoutError' ? 'no answer' : 'connection lost'}`);
      return undefined;
    }
  };

  const post = async (step: Step): Promise<Answer> => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const answer = await tryOnce(step);
      if (answer !== undefined && !mayTryAgain(answer)) {
        step.first ??= answer;
        return answer;
      }
      if (answer !== undefined && answer.status >= 500 && !/^(1402|1404)$/.test(codeOf(answer.text))) {
        wrongs.push(`${step.path} answered ${answer.status} ${answer.text}`);
      }
      await pause(PAUSE_MS);
    }
    throw new Error(`${step.path} was not answered in ${TRIES} tries`);
  };

  const get = async (path: string, bearer: string): Promise<Answer> => {
    for (let tries = 1; ; tries += 1) {
      // A kept-alive connection may be closed by the other side just as it is used again.
      const answer = await send('GET', path, { authorization: `Bearer ${bearer}` }).catch((error: unknown) => {
        if (tries === READS) throw error;
      });
      if (answer !== undefined && (answer.status !== 503 || tries === READS)) return answer;
      await pause(READ_PAUSE_MS);
    }
  };

  return {
    wrongs,
    seen,
    post,
    async replay(step) {
      const { path, key, first } = step;
      const again = await post({ ...step });
      if (first === undefined) return;
      if (again.status !== first.status || again.text !== first.text) {
        wrongs.push(`a replay of ${path} ${key} answered ${again.status}, and other bytes`);
      } else if (!again.replayed) wrongs.push(`a replay of ${path} ${key} did not say so`);
    },
    get,
  };
}

/** Whether the same request may be sent again: the answer says that it is retryable, or is a server error. */
function mayTryAgain({ status, text }: Answer): boolean {
  if (status >= 500) return true;
  return status >= 400 && text.includes('"retryable":true');
}

function codeOf(text: string): string {
  return /"error_code":"(\d{4})"/.exec(text)?.[1] ?? 'no code';
}
