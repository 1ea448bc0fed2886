/**
 * The script of the shop's order pages: an order's end appears by itself, whether a webhook brought it or the question did.
 * Invariant: the page shows the same without it, where it loads itself anew while an order waits.
 */
import { goLive } from './live.ts';

const live = goLive(() => lookWhileWaiting());
let timer: ReturnType<typeof setTimeout> | undefined;

/** Asks again as long as the page says that something waits; a webhook that comes first needs no question. */
function lookWhileWaiting(): void {
  clearTimeout(timer);
  const seconds = document.querySelector('[data-every]')?.getAttribute('data-every');
  if (live === undefined || seconds === null || seconds === undefined) return;
  timer = setTimeout(() => {
    if (document.visibilityState === 'visible') void live.refresh();
    lookWhileWaiting();
  }, Number(seconds) * 1_000);
}

lookWhileWaiting();
