/**
 * The messages between a supervisor and its processes over their IPC channel.
 *
 * Invariant: every message has a `type`, which is checked before the message is used: the channel also carries Node.js's own
 * messages. While processes are replaced, a supervisor talks to processes of a later build, so types keep their names and fields.
 */

/** What a process tells its supervisor. */
export type ProcessMessage =
  /** It serves; `url` is where it listens. */
  | { readonly type: 'ready'; readonly url?: string }
  /** It could not start, and why, in one line. */
  | { readonly type: 'failed'; readonly message: string }
  /** It wants the metrics of all processes. */
  | { readonly type: 'numbers_asked'; readonly ask: number }
  /** Its own metrics, as text for Prometheus. */
  | { readonly type: 'numbers'; readonly ask: number; readonly text: string }
  /** It stops: the supervisor should hand it no more connections. */
  | { readonly type: 'leaving' };

/** What a supervisor tells a process. */
export type SupervisorMessage =
  /** Send your own metrics. */
  | { readonly type: 'numbers_wanted'; readonly ask: number }
  /** The metrics of all processes, as requested. */
  | { readonly type: 'numbers_of_all'; readonly ask: number; readonly text: string }
  /** You get no more connections; those in transit have arrived. */
  | { readonly type: 'left' }
  /** Another process has taken your place: accept no more connections, and stop. */
  | { readonly type: 'replaced' };

/** The environment variable that holds a process's name, for example `api-2`. */
export const PROCESS_NAME = 'MBONGO_PROCESS';

const FROM_PROCESS = new Set<string>([
  'ready',
  'failed',
  'numbers_asked',
  'numbers',
  'leaving',
] satisfies ProcessMessage['type'][]);
const FROM_SUPERVISOR = new Set<string>([
  'numbers_wanted',
  'numbers_of_all',
  'left',
  'replaced',
] satisfies SupervisorMessage['type'][]);

/** Whether a message from the channel is one of ours from a process, by its `type`; the fields are not checked. */
export function isProcessMessage(message: unknown): message is ProcessMessage {
  return isMessageOf(FROM_PROCESS, message);
}

/** Whether a message from the channel is one of ours from the supervisor, by its `type`; the fields are not checked. */
export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return isMessageOf(FROM_SUPERVISOR, message);
}

function isMessageOf(types: ReadonlySet<string>, message: unknown): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'type' in message &&
    typeof message.type === 'string' &&
    types.has(message.type)
  );
}
