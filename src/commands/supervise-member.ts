/**
 * A process that the supervisor runs: how it is launched, and what is passed between the two.
 *
 * Invariant: its output is passed on whole, and a connection that was handed to it is never left open by its death.
 */
import cluster, { type Worker } from 'node:cluster';
import type { OpenLog } from '../platform/log.ts';
import { NODE_FLAGS } from '../platform/node-flags.ts';
import type { Slot } from './serve-processes.ts';
import { wholeLines } from './supervise-lines.ts';
import { isProcessMessage, PROCESS_NAME, type ProcessMessage, type SupervisorMessage } from './supervise-messages.ts';

/** How a start went: where it listens once it serves (`url` is undefined for a worker), or why it did not start. */
export type Started = { readonly url: string | undefined } | { readonly failed: string };

/** A process in a slot, as its supervisor sees it. */
export interface Member {
  readonly slot: Slot;
  readonly started: Promise<Started>;
  readonly ended: Promise<void>;
  /** Resolves when it has ended, and everything that it printed has been passed on. */
  readonly printed: Promise<void>;
  isConnected(): boolean;
  tell(message: SupervisorMessage): void;
  signal(name: NodeJS.Signals): void;
}

/** Where a process's output and messages go. */
export interface MemberOptions {
  /** The log that all processes write through: lines of several writers to one pipe would be mixed up. */
  readonly log: Omit<OpenLog, 'close'>;
  readonly writeError: (text: string) => void;
  /** Called with a process's messages, except those about its start and stop. */
  readonly heard: (member: Member, message: ProcessMessage) => void;
}

/** Starts this program as a child process, in the slot's role. */
export function launch(slot: Slot, { log, writeError, heard }: MemberOptions): Member {
  cluster.setupPrimary({
    args: ['serve', '--role', slot.role],
    execArgv: [...NODE_FLAGS, ...process.execArgv],
    // Inherited streams would become blocking for all processes that share them as soon as the first one ends.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const worker = cluster.fork({ [PROCESS_NAME]: slot.name });
  closeWhatIsLost(worker);
  worker.process.stdout?.setEncoding('utf8').on('data', wholeLines(log.pass));
  worker.process.stderr?.setEncoding('utf8').on('data', writeError);
  const printed = new Promise<void>((resolve) => worker.process.once('close', () => resolve()));
  const { name } = slot;
  const pid = worker.process.pid ?? null;
  log.info('process_starting', { process: name, pid });
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) => {
      log.info('process_ended', { process: name, pid, code, signal });
      resolve();
    });
    // If the process could not be created, there is no exit event.
    worker.on('error', () => {
      if (worker.process.pid === undefined) resolve();
    });
  });
  let tellStarted: (outcome: Started) => void = () => undefined;
  const started = new Promise<Started>((resolve) => {
    tellStarted = resolve;
  });
  void ended.then(() => tellStarted({ failed: `the process ${name} ended before it was ready` }));
  const member: Member = {
    slot,
    started,
    ended,
    printed,
    isConnected: () => worker.isConnected(),
    tell: (message) => tell(worker, message),
    signal: (signal) => void worker.process.kill(signal),
  };
  worker.on('message', (message: unknown) => {
    if (!isProcessMessage(message)) return;
    if (message.type === 'ready') tellStarted({ url: message.url });
    else if (message.type === 'failed') tellStarted({ failed: message.message });
    else if (message.type === 'leaving') takePort(worker);
    else heard(member, message);
  });
  return member;
}

/**
 * Closes a connection that was being handed to a process when the process was killed. Node.js hands over one connection at a
 * time, each after the previous one was accepted, and leaves the last one open if the process dies before accepting it: its
 * client would wait for as long as the supervisor lives. Closing one that was accepted does nothing.
 */
function closeWhatIsLost(worker: Worker): void {
  const { process: child } = worker;
  const send = child.send.bind(child) as (...words: unknown[]) => boolean;
  let last: unknown;
  child.send = (...words: unknown[]): boolean => {
    const [, handle] = words;
    if (hasClose(handle)) last = handle;
    return send(...words);
  };
  worker.once('exit', () => {
    if (hasClose(last)) last.close();
  });
}

function hasClose(handle: unknown): handle is { close(): void } {
  return typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function';
}

/**
 * Hands no more connections to a process that stops. The channel keeps messages in order: when the process is told, all
 * connections sent before have arrived, and none is in transit that it would turn away.
 */
function takePort(worker: Worker): void {
  worker.disconnect();
  tell(worker, { type: 'left' });
}

/** Sends a message. A failure means that the process is gone, which another event reports. */
function tell(worker: Worker, message: SupervisorMessage): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}
