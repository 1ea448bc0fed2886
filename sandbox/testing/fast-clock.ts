/**
 * Makes time pass faster in the process that loads it ahead of its program (`node --import`), so that waits of a minute
 * are over within seconds while nothing in the program changes.
 *
 * Invariant: time is one for all processes of a run, before and after a restart: FAST_CLOCK_FROM is the instant
 * (milliseconds since 1970) from which on it runs FAST_CLOCK times as fast. A timer that was
 * set before the program has said that it is ready keeps the machine's pace: the start is the machine's work, and would be cut
 * off by patience that passes too fast.
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
/** Where nobody is told, and where time passes slower, the start has no less of it. */
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
