/**
 * What a supervisor and its processes say to each other over their channel.
 *
 * Invariant: every word has its `type`, and what arrives is judged by it before it is believed: the channel also carries
 * words of Node.js.
 */

/** What a process tells its supervisor. */
export type ProcessWord =
  /** It serves; `url` where it listens. */
  | { readonly type: 'ready'; readonly url?: string }
  /** It could not start, and why, in one line. */
  | { readonly type: 'failed'; readonly message: string }
  /** It was asked for the numbers of all processes. */
  | { readonly type: 'numbers_asked'; readonly ask: number }
  /** Its own numbers, as text for Prometheus. */
  | { readonly type: 'numbers'; readonly ask: number; readonly text: string }
  /** It stops: its port is to be taken from it. */
  | { readonly type: 'leaving' };

/** What a supervisor tells a process. */
export type SupervisorWord =
  /** Say your own numbers. */
  | { readonly type: 'numbers_wanted'; readonly ask: number }
  /** The numbers of all, as you have asked. */
  | { readonly type: 'numbers_of_all'; readonly ask: number; readonly text: string }
  /** You get no more connections; those that were on their way have come. */
  | { readonly type: 'left' }
  /** Another one has taken your place: take no more connections, and stop. */
  | { readonly type: 'replaced' };

/** In which environment variable a process finds its name, for example `api-2`. */
export const PROCESS_NAME = 'MBONGO_PROCESS';

const OF_PROCESS = new Set<string>([
  'ready',
  'failed',
  'numbers_asked',
  'numbers',
  'leaving',
] satisfies ProcessWord['type'][]);
const OF_SUPERVISOR = new Set<string>([
  'numbers_wanted',
  'numbers_of_all',
  'left',
  'replaced',
] satisfies SupervisorWord['type'][]);

export function isProcessWord(word: unknown): word is ProcessWord {
  return isWordOf(OF_PROCESS, word);
}

export function isSupervisorWord(word: unknown): word is SupervisorWord {
  return isWordOf(OF_SUPERVISOR, word);
}

function isWordOf(types: ReadonlySet<string>, word: unknown): boolean {
  return (
    typeof word === 'object' && word !== null && 'type' in word && typeof word.type === 'string' && types.has(word.type)
  );
}
