/**
 * Keeps a process running in each place: starts them, restarts those that end, and replaces them one by one.
 *
 * Invariant: a place has one current process, or is waiting to start one; after a stop, none of the processes is left.
 */
import cluster, { type Worker } from 'node:cluster';
import type { OpenLog } from '../platform/log.ts';
import { NODE_FLAGS } from '../platform/node-flags.ts';
import type { Clock } from '../platform/platform.ts';
import type { Place } from './serve-processes.ts';
import { REPLACED_MS, STOP_LIMIT_MS, STOP_MARGIN_MS } from './serve-told.ts';
import { wholeLines } from './supervise-lines.ts';
import { isProcessWord, PROCESS_NAME, type ProcessWord, type SupervisorWord } from './supervise-words.ts';

/** A process in a place, as its supervisor sees it. */
export interface Member {
  readonly place: Place;
  /** Resolves with where it listens once it serves (`url` is undefined for a worker), or with why it did not start. */
  readonly started: Promise<{ readonly url: string | undefined } | { readonly failed: string }>;
  readonly ended: Promise<void>;
  /** Resolves when it has ended, and everything that it printed has been passed on. */
  readonly printed: Promise<void>;
  isConnected(): boolean;
  tell(word: SupervisorWord): void;
  signal(name: NodeJS.Signals): void;
}

export interface Places {
  /** The current process of each place that has one. */
  members(): readonly Member[];
  /** How often a process had to be restarted, by the place's name. */
  readonly restarts: ReadonlyMap<string, number>;
  /** Puts a new process into each place, one place after the other, each new process before the old one leaves. */
  replaceAll(): Promise<void>;
  /** Stops all processes and starts no more. Resolves when all have ended; those that take longer than `limitMs` are killed. */
  stop(limitMs: number): Promise<void>;
}

export interface PlacesOptions {
  readonly clock: Pick<Clock, 'after' | 'wall'>;
  /** The log that all processes write through: lines of several writers to one pipe would be mixed up. */
  readonly log: Omit<OpenLog, 'close'>;
  readonly writeError: (text: string) => void;
  /** Called with a process's messages, except those about its start and stop. */
  readonly heard: (member: Member, word: ProcessWord) => void;
}

/** 10 s: a process that ends sooner than this after it was ready counts as a failed start, and the next one waits longer. */
const STEADY_MS = 10_000;
/** Backoff before a restart, by the number of failed starts in a row; then `PAUSE_MOST_MS`. */
const PAUSES_MS = [0, 250, 500, 1_000, 2_000, 5_000] as const;
const PAUSE_MOST_MS = 10_000;
/** 60 s: a replacement that does not serve by then is given up, and the old process stays. */
const REPLACE_LIMIT_MS = 60_000;
/** A process that has reported a failed start has nothing left to do, and is killed if it has not ended by then. */
const FAILED_LIMIT_MS = STOP_LIMIT_MS + STOP_MARGIN_MS;

/** 1 s for a process's last output, which follows its end at once unless another process holds its streams. */
const LAST_LINES_MS = 1_000;

/** Milliseconds to wait before the next start. */
export function pauseBefore(failures: number): number {
  return PAUSES_MS[failures] ?? PAUSE_MOST_MS;
}

interface Slot {
  readonly place: Place;
  member: Member | undefined;
  /** How many starts in a row have failed. */
  failures: number;
  /** A replacement is starting: a process that ends meanwhile is not restarted. */
  isReplacing: boolean;
}

/** Starts a process in each place. */
export function openPlaces(places: readonly Place[], options: PlacesOptions): Places {
  const { clock, log } = options;
  const live = new Set<Member>();
  const printing = new Set<Promise<void>>();
  const restarts = new Map(places.map(({ name }) => [name, 0]));
  const pauses = new Set<() => void>();
  let stopped = false;

  /** Kills a process that stays too long, since its place cannot be filled before it has ended. */
  const endWithin = (member: Member, limitMs: number): void => {
    const cancel = clock.after(limitMs, () => member.signal('SIGKILL'));
    void member.ended.then(cancel);
  };
  const start = (slot: Slot): Member => {
    const member = launch(slot.place, options);
    live.add(member);
    printing.add(member.printed);
    void member.printed.then(() => printing.delete(member.printed));
    let readyAt: number | undefined;
    void member.started.then((outcome) => {
      if ('failed' in outcome) {
        // A process that is stopped while it starts has not failed.
        if (!stopped) log.error('process_not_started', { process: slot.place.name, reason: outcome.failed });
        endWithin(member, FAILED_LIMIT_MS);
      } else {
        readyAt = clock.wall();
        log.info('process_ready', { process: slot.place.name });
      }
    });
    void member.ended.then(() => {
      live.delete(member);
      if (slot.member !== member || slot.isReplacing) return;
      slot.member = undefined;
      const steady = readyAt !== undefined && clock.wall() - readyAt >= STEADY_MS;
      if (steady) slot.failures = 0;
      startAnew(slot);
      slot.failures += 1;
    });
    return member;
  };
  const startAnew = (slot: Slot): void => {
    if (stopped) return;
    const { name } = slot.place;
    const pause = pauseBefore(slot.failures);
    restarts.set(name, (restarts.get(name) ?? 0) + 1);
    log.warn('process_restarting', { process: name, pause_ms: pause });
    const cancel = clock.after(pause, () => {
      pauses.delete(cancel);
      slot.member = start(slot);
    });
    pauses.add(cancel);
  };
  const slots = places.map((place): Slot => ({ place, member: undefined, failures: 0, isReplacing: false }));
  for (const slot of slots) slot.member = start(slot);

  /** Replaces a place's process. Returns whether that succeeded. */
  const replace = async (slot: Slot): Promise<boolean> => {
    const old = slot.member;
    if (old === undefined) return true; // It is being restarted anyway, and from the present build.
    slot.isReplacing = true;
    const next = start(slot);
    let cancel: () => void = () => undefined;
    const late = new Promise<{ failed: string }>((resolve) => {
      cancel = clock.after(REPLACE_LIMIT_MS, () => resolve({ failed: 'it was not ready in time' }));
    });
    const outcome = await Promise.race([next.started, late]);
    // The timer would keep this process from ending.
    cancel();
    slot.isReplacing = false;
    if (!('failed' in outcome)) slot.member = next;
    else if (live.has(old)) next.signal('SIGKILL');
    else {
      slot.member = undefined;
      next.signal('SIGKILL');
      startAnew(slot);
    }
    if ('failed' in outcome) return false;
    old.tell({ type: 'replaced' });
    endWithin(old, REPLACED_MS + STOP_LIMIT_MS + STOP_MARGIN_MS);
    await old.ended;
    return true;
  };
  return {
    members: () => slots.flatMap(({ member }) => (member === undefined ? [] : [member])),
    restarts,
    async replaceAll() {
      for (const slot of slots) {
        if (stopped) return;
        if (await replace(slot)) log.info('process_replaced', { process: slot.place.name });
        else if (stopped) return;
        else return log.error('process_not_replaced', { process: slot.place.name });
      }
    },
    async stop(limitMs) {
      stopped = true;
      for (const cancel of pauses) cancel();
      for (const member of live) member.signal('SIGTERM');
      const cancel = clock.after(limitMs, () => {
        for (const member of live) member.signal('SIGKILL');
      });
      await Promise.all([...live].map(({ ended }) => ended));
      cancel();
      await new Promise<void>((resolve) => {
        const giveUp = clock.after(LAST_LINES_MS, resolve);
        void Promise.all(printing).then(() => resolve(giveUp()));
      });
    },
  };
}

/** Starts this program as a child process, in the place's role. */
function launch(place: Place, { log, writeError, heard }: PlacesOptions): Member {
  cluster.setupPrimary({
    args: ['serve', '--role', place.role],
    execArgv: [...NODE_FLAGS, ...process.execArgv],
    // Inherited streams would become blocking for all processes that share them as soon as the first one ends.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const worker = cluster.fork({ [PROCESS_NAME]: place.name });
  closeWhatIsLost(worker);
  worker.process.stdout?.setEncoding('utf8').on('data', wholeLines(log.pass));
  worker.process.stderr?.setEncoding('utf8').on('data', writeError);
  const printed = new Promise<void>((resolve) => worker.process.once('close', () => resolve()));
  const { name } = place;
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
  let tellStarted: (outcome: { url: string | undefined } | { failed: string }) => void = () => undefined;
  const started = new Promise<{ readonly url: string | undefined } | { readonly failed: string }>((resolve) => {
    tellStarted = resolve;
  });
  void ended.then(() => tellStarted({ failed: `the process ${name} ended before it was ready` }));
  const member: Member = {
    place,
    started,
    ended,
    printed,
    isConnected: () => worker.isConnected(),
    tell: (word) => tell(worker, word),
    signal: (signal) => void worker.process.kill(signal),
  };
  worker.on('message', (word: unknown) => {
    if (!isProcessWord(word)) return;
    if (word.type === 'ready') tellStarted({ url: word.url });
    else if (word.type === 'failed') tellStarted({ failed: word.message });
    else if (word.type === 'leaving') takePort(worker);
    else heard(member, word);
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
function tell(worker: Worker, word: SupervisorWord): void {
  if (worker.isConnected()) worker.send(word, () => undefined);
}
