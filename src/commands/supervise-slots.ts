/**
 * Keeps a process running in each slot: starts them, restarts those that end, and replaces them one by one.
 *
 * Invariant: a slot has one current process, or is waiting to start one; after a stop, none of the processes is left.
 */
import type { Clock } from '../platform/platform.ts';
import type { Slot } from './serve-processes.ts';
import { MAX_STOP_MS, REPLACED_MS, STOP_MARGIN_MS } from './serve-told.ts';
import { launch, type Member, type MemberOptions, type Started } from './supervise-member.ts';

/** All slots of a supervisor, with the processes in them. */
export interface Slots {
  /** The current process of each slot that has one. */
  members(): readonly Member[];
  /** How often a process had to be restarted, by the slot's name. */
  readonly restarts: ReadonlyMap<string, number>;
  /** Puts a new process into each slot, one slot after the other, each new process before the old one leaves. */
  replaceAll(): Promise<void>;
  /** Stops all processes and starts no more. Resolves when all have ended; those that take longer than `limitMs` are killed. */
  stop(limitMs: number): Promise<void>;
}

/** What each slot's processes get, and the clock for backoff and limits: the machine's, not the test clock. */
export interface SlotsOptions extends MemberOptions {
  readonly clock: Pick<Clock, 'after' | 'wall'>;
}

/** 10 s: a process that ends sooner than this after it was ready counts as a failed start, and the next one waits longer. */
const STEADY_MS = 10_000;
/** Backoff before a restart, by the number of failed starts in a row; then `MAX_PAUSE_MS`. */
const PAUSES_MS = [0, 250, 500, 1_000, 2_000, 5_000] as const;
const MAX_PAUSE_MS = 10_000;
/** 60 s: a replacement that does not serve by then is given up, and the old process stays. */
const MAX_REPLACE_MS = 60_000;
/** A process that has reported a failed start has nothing left to do, and is killed if it has not ended by then. */
const MAX_FAILED_MS = MAX_STOP_MS + STOP_MARGIN_MS;

/** 1 s for a process's last output, which follows its end at once unless another process holds its streams. */
const LAST_LINES_MS = 1_000;

/** Milliseconds to wait before the next start. */
export function pauseBefore(failures: number): number {
  return PAUSES_MS[failures] ?? MAX_PAUSE_MS;
}

interface SlotState {
  readonly slot: Slot;
  member: Member | undefined;
  /** How many starts in a row have failed. */
  failures: number;
  /** A replacement is starting: a process that ends meanwhile is not restarted. */
  isReplacing: boolean;
}

/** Starts a process in each slot. */
export function openSlots(slots: readonly Slot[], options: SlotsOptions): Slots {
  const { clock, log } = options;
  const live = new Set<Member>();
  const printing = new Set<Promise<void>>();
  const restarts = new Map(slots.map(({ name }) => [name, 0]));
  const pauses = new Set<() => void>();
  let stopped = false;

  /** Kills a process that stays too long, since its slot cannot be filled before it has ended. */
  const endWithin = (member: Member, limitMs: number): void => {
    const cancel = clock.after(limitMs, () => member.signal('SIGKILL'));
    void member.ended.then(cancel);
  };
  const start = (state: SlotState): Member => {
    const member = launch(state.slot, options);
    live.add(member);
    printing.add(member.printed);
    void member.printed.then(() => printing.delete(member.printed));
    let readyAt: number | undefined;
    void member.started.then((outcome) => {
      if ('failed' in outcome) {
        // A process that is stopped while it starts has not failed.
        if (!stopped) log.error('process_not_started', { process: state.slot.name, reason: outcome.failed });
        endWithin(member, MAX_FAILED_MS);
      } else {
        readyAt = clock.wall();
        log.info('process_ready', { process: state.slot.name });
      }
    });
    void member.ended.then(() => {
      live.delete(member);
      if (state.member !== member || state.isReplacing) return;
      state.member = undefined;
      const steady = readyAt !== undefined && clock.wall() - readyAt >= STEADY_MS;
      if (steady) state.failures = 0;
      startAnew(state);
      state.failures += 1;
    });
    return member;
  };
  const startAnew = (state: SlotState): void => {
    if (stopped) return;
    const { name } = state.slot;
    const pause = pauseBefore(state.failures);
    restarts.set(name, (restarts.get(name) ?? 0) + 1);
    log.warn('process_restarting', { process: name, pause_ms: pause });
    const cancel = clock.after(pause, () => {
      pauses.delete(cancel);
      state.member = start(state);
    });
    pauses.add(cancel);
  };
  const states = slots.map((slot): SlotState => ({ slot, member: undefined, failures: 0, isReplacing: false }));
  for (const state of states) state.member = start(state);

  /** Replaces a slot's process. Returns whether that succeeded. */
  const replace = async (state: SlotState): Promise<boolean> => {
    const old = state.member;
    if (old === undefined) return true; // It is being restarted anyway, and from the present build.
    state.isReplacing = true;
    const next = start(state);
    const outcome = await startedInTime(next, clock);
    state.isReplacing = false;
    if ('failed' in outcome) {
      next.signal('SIGKILL');
      if (!live.has(old)) {
        state.member = undefined;
        startAnew(state);
      }
      return false;
    }
    state.member = next;
    old.tell({ type: 'replaced' });
    endWithin(old, REPLACED_MS + MAX_STOP_MS + STOP_MARGIN_MS);
    await old.ended;
    return true;
  };

  return {
    members: () => states.flatMap(({ member }) => (member === undefined ? [] : [member])),
    restarts,
    async replaceAll() {
      for (const state of states) {
        if (stopped) return;
        if (await replace(state)) log.info('process_replaced', { process: state.slot.name });
        else if (stopped) return;
        else return log.error('process_not_replaced', { process: state.slot.name });
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

/** How the start of a replacement went; one that takes longer than `MAX_REPLACE_MS` counts as failed. */
async function startedInTime({ started }: Member, clock: Pick<Clock, 'after'>): Promise<Started> {
  let cancel: () => void = () => undefined;
  const late = new Promise<Started>((resolve) => {
    cancel = clock.after(MAX_REPLACE_MS, () => resolve({ failed: 'it was not ready in time' }));
  });
  // The timer would keep this process from ending.
  return Promise.race([started, late]).finally(cancel);
}
