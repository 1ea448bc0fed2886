/**
 * Makes time pass faster in the process that loads this before its program (`node --import`), so that waits of a minute
 * are over within seconds while nothing in the program changes.
 *
 * Invariant: all processes of a run share one time, before and after a restart: FAST_CLOCK_FROM is the instant
 * (milliseconds since 1970) from which it runs FAST_CLOCK times as fast. A timer set before the program has reported ready
 * keeps real time: starting takes real time, and sped-up timeouts would cut it off.
 */
const from = Number(process.env.FAST_CLOCK_FROM);
const factor = Number(process.env.FAST_CLOCK);
const MachineDate = Date;
const machineNow = Date.now;

const fastNow = (): number => Math.floor(from + (machineNow() - from) * factor);

class FastDate extends MachineDate {
  constructor(...given: [] | [value: number | string | Date]) {
    super(given[0] ?? fastNow());
  }

  static override now(): number {
    return fastNow();
  }
}

Object.assign(globalThis, {
  Date: FastDate,
  setTimeout: hastened(setTimeout),
  setInterval: hastened(setInterval),
});

const { send } = process;
/** Timers are scaled at once if there is no channel to report ready on, or if time is slowed, which cuts nothing off. */
let isReady = send === undefined || factor < 1;
if (send !== undefined) {
  process.send = new Proxy(send, {
    apply(target, self, given: [word?: { readonly type?: string }]) {
      isReady ||= given[0]?.type === 'ready';
      return Reflect.apply(target, self, given);
    },
  });
}

type Timer = (task: (...given: unknown[]) => void, milliseconds?: number, ...given: unknown[]) => NodeJS.Timeout;

function hastened(timer: Timer): Timer {
  return (task, milliseconds = 0, ...given) => timer(task, isReady ? milliseconds / factor : milliseconds, ...given);
}
