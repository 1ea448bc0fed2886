/**
 * The times on the hosted page: those that count down, and instants in the reader's own time zone.
 *
 * Invariant: what the server wrote stays until something better can be written. A time that has run out decides nothing: the page
 * is loaded.
 */

import { load } from './loading.ts';

/** The circle's circumference. */
const ROUND = 377;

/** Counts milliseconds from now on. Most browsers stop `performance.now()` while the device sleeps; its wall clock goes on. */
function stopwatch(): () => number {
  const [started, date] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - started, Date.now() - date);
}

/**
 * Starts the countdowns that the page has, if any: once a second each is written anew from the milliseconds that the server has
 * put into it. Once a time in `data-left` is over, the page is loaded.
 */
export function countDown(): void {
  const sinceShown = stopwatch();
  const ring = document.querySelector<HTMLElement>('[data-ring]');
  const times = document.querySelectorAll<HTMLElement>('[data-left], [data-counts]');
  if (ring === null && times.length === 0) return;
  const tick = (): void => {
    const passed = sinceShown();
    if (ring !== null) drawRing(ring, Number(ring.dataset.ring) - passed);
    for (const time of times) {
      const left = Number(time.dataset.left ?? time.dataset.counts) - passed;
      if (left > 0) writeTime(time, left);
      // What was offered until then is over. Where a time is only counted down, the browser goes on by itself. A form on its way
      // is waited for: the wall clock may have been set forward.
      else if (time.dataset.left !== undefined && document.querySelector('form[data-sent]') === null) void load();
    }
  };
  setInterval(tick, 1_000);
}

function drawRing(ring: HTMLElement, left: number): void {
  // Nobody knows what the carrier does from now on: the page goes on waiting, without naming a time.
  if (left <= 0) {
    ring.remove();
    return;
  }
  const part = left / Number(ring.dataset.whole);
  ring.querySelector('.arc')?.setAttribute('stroke-dasharray', `${Math.round(ROUND * part)} ${ROUND}`);
  const time = clockText(left);
  const clock = ring.querySelector('.clock');
  if (clock !== null) clock.textContent = time;
  // A screen reader reads the label.
  ring.setAttribute('aria-label', ring.dataset.label?.replace('{time}', time) ?? '');
}

function clockText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Writes a time in the page's language, as the server wrote the first: seconds, minutes, or the hours of a session of a day. */
function writeTime(time: HTMLElement, left: number): void {
  const seconds = Math.ceil(left / 1_000);
  const minutes = Math.ceil(seconds / 60);
  // A customer who relies on the hours that are left must not be late, nor early for what has to be waited for.
  const whole = time.dataset.left === undefined ? Math.ceil : Math.floor;
  const [count, unit] =
    seconds < 90 ? [seconds, 'second'] : minutes <= 120 ? [minutes, 'minute'] : [whole(minutes / 60), 'hour'];
  const text = new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'short' }).format(count);
  if (time.textContent !== text) time.textContent = text;
}

/** Browsers know no Lingala; its readers read French figures. */
function locale(): string {
  const { lang } = document.documentElement;
  return lang === 'ln' ? 'fr' : lang;
}

/** Times in the reader's own time zone, which the server does not know. */
export function localTimes(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-clock], time[data-moment]')) {
    const options: Intl.DateTimeFormatOptions =
      time.dataset.clock === undefined ? { dateStyle: 'medium', timeStyle: 'short' } : { timeStyle: 'medium' };
    time.textContent = new Intl.DateTimeFormat(locale(), options).format(new Date(time.dateTime));
  }
}
