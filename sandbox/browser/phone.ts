/**
 * The virtual phone's script: prompts appear by themselves, focus moves through the PIN boxes, time counts down, codes copy.
 * Invariant: the page works without it, with plain forms and links; the script never decides anything.
 */
import { copyOnClick, goLive } from './live.ts';

const pinBoxes = (near: Element): HTMLInputElement[] => [
  ...(near.closest('form')?.querySelectorAll<HTMLInputElement>('input[name="pin"]') ?? []),
];

function focusFirstBox(): void {
  const busy = document.activeElement;
  // Focus moves to the PIN only if the person is not busy elsewhere on the page.
  if (busy !== null && busy !== document.body) return;
  document.querySelector<HTMLInputElement>('input[name="pin"]')?.focus({ preventScroll: true });
}

const live = goLive((parts) => {
  if (!parts.includes('sheet')) return;
  document.querySelector('.sheet')?.scrollIntoView({ block: 'nearest' });
  focusFirstBox();
});

const isPinBox = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.name === 'pin';

document.addEventListener('input', ({ target }) => {
  if (!isPinBox(target)) return;
  target.value = target.value.replace(/\D/g, '').slice(-1);
  const boxes = pinBoxes(target);
  if (target.value !== '') boxes[boxes.indexOf(target) + 1]?.focus();
});
document.addEventListener('keydown', (event) => {
  const { target, key } = event;
  if (!isPinBox(target)) return;
  const boxes = pinBoxes(target);
  const at = boxes.indexOf(target);
  const goesBack = key === 'ArrowLeft' || (key === 'Backspace' && target.value === '');
  if (!goesBack && key !== 'ArrowRight') return;
  const next = boxes[goesBack ? at - 1 : at + 1];
  if (next === undefined) return;
  next.focus();
  event.preventDefault();
});
document.addEventListener('paste', (event) => {
  const { target } = event;
  const digits = event.clipboardData?.getData('text').replace(/\D/g, '') ?? '';
  if (!isPinBox(target) || digits.length !== 4) return;
  event.preventDefault();
  pinBoxes(target).forEach((box, index) => {
    box.value = digits.charAt(index);
    box.focus();
  });
});

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (live === undefined || !(form instanceof HTMLFormElement) || !form.hasAttribute('data-answer')) return;
  event.preventDefault();
  const answer = event.submitter?.getAttribute('value') ?? 'approve';
  const pin = [...form.querySelectorAll<HTMLInputElement>('input[name="pin"]')].map((box) => box.value).join('');
  const body = JSON.stringify({ answer, pin });
  void fetch(form.action, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    .catch(() => undefined)
    .then(() => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      return live.refresh();
    });
});
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('[data-hide], [data-show]') : null;
  if (live === undefined || link === null) return;
  event.preventDefault();
  const hidden = new URLSearchParams(live.address.search).get('hide')?.split(',') ?? [];
  const id = link.getAttribute('data-hide');
  if (id === null) live.address.searchParams.delete('hide');
  else live.address.searchParams.set('hide', [...hidden, id].join(','));
  void live.refresh();
});

/** Shows the minutes and seconds left in every countdown; at zero the screen is fetched again. */
function tick(): void {
  for (const counter of document.querySelectorAll('[data-until]')) {
    const left = Math.max(0, Math.ceil((Number(counter.getAttribute('data-until')) - Date.now()) / 1_000));
    const text = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
    if (counter.textContent === text) continue;
    counter.textContent = text;
    if (left === 0) void live?.refresh();
  }
  setTimeout(tick, 1_000 - (Date.now() % 1_000));
}
tick();

function keepClock(): void {
  setTimeout(
    () => {
      void live?.refresh();
      keepClock();
    },
    60_000 - (Date.now() % 60_000) + 50,
  );
}
keepClock();
copyOnClick();
