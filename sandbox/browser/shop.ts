/**
 * The script of the shop's order pages: an order's outcome appears by itself, whether a webhook or an inquiry brought it.
 * Invariant: the page shows the same without it; it then reloads itself while an order is waiting.
 */
import { goLive } from './live.ts';

const live = goLive(() => lookWhileWaiting());
let timer: ReturnType<typeof setTimeout> | undefined;

/** Asks again as long as the page says that something is waiting; a webhook that arrives first makes asking unnecessary. */
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
