/**
 * Keeps a process running in each of its places: starts them, starts anew those that end, and replaces them one by one.
 *
 * Invariant: a place has one process that counts, or waits for one; told to stop, none of its processes is left.
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
  /** Where it listens, once it serves; undefined when it ended before, and for one that does not listen. */
  readonly started: Promise<{ readonly url: string | undefined } | { readonly failed: string }>;
  readonly ended: Promise<void>;
  /** It has ended, and everything that it printed has been passed on. */
  readonly printed: Promise<void>;
  isConnected(): boolean;
  tell(word: SupervisorWord): void;
  signal(name: NodeJS.Signals): void;
}

export interface Places {
  /** The process that counts, of each place that has one. */
  members(): readonly Member[];
  /** How often a process had to be started anew, by the place's name. */
  readonly restarts: ReadonlyMap<string, number>;
  /** Puts a new process into each place, one after the other, each before the old one leaves. */
  replaceAll(): Promise<void>;
  /** Starts none any more, and resolves when all have ended; whoever takes longer is killed. */
  stop(limitMs: number): Promise<void>;
}

export interface PlacesOptions {
  readonly clock: Pick<Clock, 'after' | 'wall'>;
  /** All of them write through this one: lines of several writers to one pipe would be cut into each other. */
  readonly log: Omit<OpenLog, 'close'>;
  readonly writeError: (text: string) => void;
  /** Told of what a process says, but for how its start went. */
  readonly heard: (member: Member, word: ProcessWord) => void;
}

/** Whoever ends sooner than this after it was ready has not worked: the next start waits longer. */
const STEADY_MS = 10_000;
/** Backoff before a restart, by the number of failed starts in a row; then `PAUSE_MOST_MS`. */
const PAUSES_MS = [0, 250, 500, 1_000, 2_000, 5_000] as const;
const PAUSE_MOST_MS = 10_000;
/** A replacement that does not serve by then is given up, and the old process stays. */
const REPLACE_LIMIT_MS = 60_000;
/** Whoever has said that it could not start has nothing left to do, and is killed if it is still there by then. */
const FAILED_LIMIT_MS = STOP_LIMIT_MS + STOP_MARGIN_MS;

/** What a process has printed follows its end at once, unless another holds its streams. */
const LAST_LINES_MS = 1_000;

/** Milliseconds to wait before the next start. */
export function pauseBefore(failures: number): number {
  return PAUSES_MS[failures] ?? PAUSE_MOST_MS;
}

interface Slot {
  readonly place: Place;
  member: Member | undefined;
  /** How many starts in a row have not worked. */
  failures: number;
  /** A replacement is on its way: whoever ends is not started anew. */
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

  /** Its place would be nobody's for as long as it stays. */
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

  /** Whether it was done. */
  const replace = async (slot: Slot): Promise<boolean> => {
    const old = slot.member;
    if (old === undefined) return true; // It is being started anew, and with what there is now.
    slot.isReplacing = true;
    const next = start(slot);
    let cancel: () => void = () => undefined;
    const late = new Promise<{ failed: string }>((resolve) => {
      cancel = clock.after(REPLACE_LIMIT_MS, () => resolve({ failed: 'it was not ready in time' }));
    });
    const outcome = await Promise.race([next.started, late]);
    // It would keep this process from its end.
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

/** Starts this program again, in that role. */
function launch(place: Place, { log, writeError, heard }: PlacesOptions): Member {
  cluster.setupPrimary({
    args: ['serve', '--role', place.role],
    execArgv: [...NODE_FLAGS, ...process.execArgv],
    // Streams that were inherited would block, for all who have them, from the end of the first process on.
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
    // It could not even be made: then there is no exit.
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
 * Ends a connection that was on its way to a process when that was killed. Node.js hands over one after the other, each once
 * the one before has been taken, and forgets the last one open where the process does not live to say so: its client would
 * wait for as long as the supervisor lives. To close one that was taken does nothing.
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
 * Shares out no more connections to a process that stops. The channel keeps the order: those that it was sent before have
 * come when it hears of this, and none is on its way to a process that would turn it away.
 */
function takePort(worker: Worker): void {
  worker.disconnect();
  tell(worker, { type: 'left' });
}

/** One that has just gone hears nothing more; that it has gone, another event says. */
function tell(worker: Worker, word: SupervisorWord): void {
  if (worker.isConnected()) worker.send(word, () => undefined);
}
