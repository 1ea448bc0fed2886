/**
 * The hosted page's script: counts down, shows changes by itself, sends a form once, copies values.
 *
 * Invariant: the page works without it. It decides nothing: what is shown comes from the server, whole.
 */

import { follow, isAnswered, load } from './page/loading.ts';
import { countDown, localTimes } from './page/times.ts';

/** Milliseconds that a sent form waits for its answer: a load that was stopped raises no event. Sending again is safe. */
const MAX_SENT_MS = 20_000;
/** Milliseconds that a sent file waits for its answer, longer than the gateway waits for one: sent again, it would begin anew. */
const MAX_FILE_SENT_MS = 125_000;

/** A second press while the first is under way does nothing, until something in the form is changed. */
function sendOnce(): void {
  const status = document.querySelector<HTMLElement>('[data-sending]');
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.dataset.once === undefined) return;
    if (form.dataset.sent !== undefined) return event.preventDefault();
    const button = form.querySelector('button');
    const isSure = navigator.onLine || form.dataset.answered !== undefined;
    delete form.dataset.answered;
    if (!isSure) {
      event.preventDefault();
      void sendIfAnswered(form, status?.dataset.offline ?? '');
      return;
    }
    document.querySelector('[data-is-offline]')?.remove();
    form.dataset.sent = '';
    button?.setAttribute('aria-busy', 'true');
    // A screen reader announces what the turning button shows.
    if (status !== null) status.textContent = status.dataset.sending ?? '';
    const release = (): void => {
      clearTimeout(timer);
      form.removeEventListener('input', release);
      delete form.dataset.sent;
      button?.removeAttribute('aria-busy');
      if (status !== null) status.textContent = '';
    };
    const timer = setTimeout(release, form.enctype === 'multipart/form-data' ? MAX_FILE_SENT_MS : MAX_SENT_MS);
    form.addEventListener('input', release);
  });
  // A page that is shown again from the browser's memory is loaded, so that its forms can be sent again.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void load();
  });
}

/** Some browsers say for ever that they have no connection: only if the gateway does not answer is the form not sent. */
async function sendIfAnswered(form: HTMLFormElement, otherwise: string): Promise<void> {
  if (!(await isAnswered())) return sayOffline(form.querySelector('button'), otherwise);
  form.dataset.answered = '';
  form.requestSubmit();
}

/** Says below a pressed button that there is no connection: the browser's own error would take the place of what was typed. */
function sayOffline(button: HTMLButtonElement | null, text: string): void {
  document.querySelector('[data-is-offline]')?.remove();
  const line = document.createElement('p');
  line.className = 'fault';
  line.setAttribute('role', 'alert');
  line.dataset.isOffline = '';
  line.textContent = text;
  button?.after(line);
  addEventListener('online', () => line.remove(), { once: true });
}

/** Refuses a file that is too large before it is sent: over a slow line that takes minutes, and the customer pays for every byte. */
function refuseLargeFile(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target instanceof HTMLFormElement ? event.target : null;
    const field = form?.querySelector<HTMLInputElement>('input[data-most]');
    const size = field?.files?.[0]?.size ?? 0;
    if (field === null || field === undefined || size <= Number(field.dataset.most)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    document.querySelector('#file-fault')?.remove();
    const line = Object.assign(document.createElement('p'), { className: 'fault', id: 'file-fault' });
    line.setAttribute('role', 'alert');
    line.textContent = field.dataset.large ?? '';
    field.after(line);
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-describedby', line.id);
    field.focus();
  });
}

/** Buttons that copy a value and say so for a moment. Browsers in apps may refuse that: then the value is selected, to be copied by hand. */
function copyOnPress(): void {
  // Elsewhere the browser has no clipboard, and the buttons stay hidden.
  if (!isSecureContext || !('clipboard' in navigator)) return;
  const status = document.querySelector<HTMLElement>('[data-copy-status]');
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    button.hidden = false;
    const label = button.textContent;
    const { copied = '', name = '' } = button.dataset;
    button.addEventListener('click', () => {
      const say = (): void => {
        button.textContent = copied;
        // A screen reader announces which value was copied.
        if (status !== null) status.textContent = `${copied}: ${name}`;
        setTimeout(() => {
          button.textContent = label;
        }, 1_500);
      };
      const select = (): void => {
        const value = button.previousElementSibling;
        if (value !== null) getSelection()?.selectAllChildren(value);
      };
      void navigator.clipboard.writeText(button.dataset.copy ?? '').then(say, select);
    });
  }
}

/** Digits that make a number worth asking about. */
const ENOUGH_DIGITS = 8;

/** Says which carrier a number belongs to, once it has been typed, or stands there already, as after a change of the language. */
function nameCarrier(): void {
  const line = document.querySelector<HTMLElement>('[data-carrier]');
  const form = line?.closest('form');
  const phone = form?.querySelector<HTMLInputElement>('input[name="phone"]');
  if (line === null || form === null || form === undefined || phone === null || phone === undefined) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = '';
  const entered = (): URLSearchParams =>
    new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value : '']));
  const tell = (carrier: string | undefined): void => {
    const text = carrier === undefined ? line.dataset.help : line.dataset.known?.replace('{carrier}', carrier);
    if (line.textContent !== text) line.textContent = text ?? '';
  };
  const ask = async (body: URLSearchParams): Promise<void> => {
    const answer = await fetch(line.dataset.carrier ?? '', { method: 'POST', body }).catch(() => undefined);
    const found: unknown = answer?.ok === true ? await answer.json().catch(() => undefined) : undefined;
    if (body.toString() === latest) tell(carrierIn(found));
  };
  const look = (): void => {
    const fields = entered();
    if (fields.toString() === latest) return;
    latest = fields.toString();
    clearTimeout(timer);
    if (phone.value.replace(/\D/g, '').length < ENOUGH_DIGITS) tell(undefined);
    else timer = setTimeout(() => void ask(fields), 400);
  };
  // A change of the country counts as one of the number: the carrier that was named before would be wrong.
  form.addEventListener('input', look);
  look();
}

function carrierIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('carrier' in value)) return undefined;
  return typeof value.carrier === 'string' ? value.carrier : undefined;
}

/** The menu of languages closes when the reader goes elsewhere. */
function closeMenu(): void {
  const menu = document.querySelector<HTMLDetailsElement>('.languages details');
  if (menu === null) return;
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !menu.open) return;
    menu.open = false;
    menu.querySelector('summary')?.focus();
  });
  const leave = (target: EventTarget | null): void => {
    if (target instanceof Node && !menu.contains(target)) menu.open = false;
  };
  document.addEventListener('click', ({ target }) => leave(target));
  menu.addEventListener('focusout', ({ relatedTarget }) => leave(relatedTarget));
}

/** Takes along what has been typed when the language is changed, except a PIN: a link would have to carry it in its address. */
function keepTyped(): void {
  const menu = document.querySelector<HTMLElement>('.languages[data-keeps]');
  menu?.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    // With a key held down, the language is opened in another window, and this one stays as it is.
    const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    const within = document.querySelector('.pick:checked')?.closest('.method') ?? document.querySelector('#main');
    const typed = within?.querySelector<HTMLFormElement>('form[data-once]');
    if (link === null || isElsewhere || typed === null || typed === undefined) return;
    event.preventDefault();
    const sent = document.createElement('form');
    Object.assign(sent, { method: 'post', action: menu.dataset.keeps });
    const add = (name: string, value: string): void => {
      const field = Object.assign(document.createElement('input'), { type: 'hidden', name, value });
      sent.append(field);
    };
    const secret = typed.querySelector<HTMLInputElement>('[type=password]')?.name;
    for (const [name, value] of new FormData(typed)) {
      if (name !== secret && typeof value === 'string') add(name, value);
    }
    add('lang', link.lang);
    document.body.append(sent);
    sent.submit();
  });
}

/** Gives the answer to a form its page's address: no browser goes back to such an answer, and to load it again sends the form again. */
function takeAddress(): void {
  const own = document.body.dataset.page ?? '';
  const areOfPayment = [own, location.pathname].every((path) => path.startsWith('/checkout/chk_'));
  if (areOfPayment && !own.startsWith(location.pathname)) history.replaceState(null, '', own);
}

/** Removes a field's fault once the field is changed: its new content has not been checked. */
function forgetFaults(): void {
  document.addEventListener('input', ({ target }) => {
    const field = target instanceof HTMLElement ? target.closest('[aria-invalid="true"]') : null;
    if (field === null) return;
    field.removeAttribute('aria-invalid');
    const described = (field.getAttribute('aria-describedby') ?? '').split(' ').filter((id) => {
      const fault = document.querySelector(`.fault[id="${id}"]`);
      fault?.remove();
      return fault === null;
    });
    if (described.join('') === '') field.removeAttribute('aria-describedby');
    else field.setAttribute('aria-describedby', described.join(' '));
  });
}

/** Submits a challenge's form at once, but never a code's: a customer who mistypes the last digit would lose a try. */
function submitChallenge(): void {
  document.querySelector<HTMLFormElement>('form[data-submit]')?.requestSubmit();
}

/**
 * Says that the network's form is loading, which may take long. The card form's script clears this; if that script did not arrive,
 * the form stays hidden, and a button opens another one.
 */
function announceCardForm(): void {
  const status = document.querySelector<HTMLElement>('[data-card-status]');
  const form = document.querySelector<HTMLElement>('form[data-card]');
  if (status === null || form === null) return;
  status.textContent = status.dataset.loading ?? '';
  addEventListener('load', () => {
    if (!form.hidden) return;
    status.textContent = status.dataset.failed ?? '';
    document.querySelector('[data-card-renewal]')?.removeAttribute('hidden');
  });
}

announceCardForm();
takeAddress();
const { state, version } = document.body.dataset;
if (state !== undefined && version !== undefined) follow(state, version);
countDown();
localTimes();
// Before the form counts as sent.
refuseLargeFile();
sendOnce();
copyOnPress();
nameCarrier();
closeMenu();
keepTyped();
forgetFaults();
submitChallenge();
