/**
 * The hosted page's script: counts down, shows changes by itself, sends a form once, copies values.
 *
 * Invariant: the page works without it. It decides nothing: what is shown comes from the server, whole.
 */

/** Milliseconds between two polls, and the most to which failures lengthen them. A hidden page does not poll. */
const ASK_EVERY = 3_000;
const ASK_AT_MOST_EVERY = 15_000;
/** Milliseconds after which a poll is given up: a connection that a phone has lost may stay silent for minutes. */
const ANSWERED_WITHIN = 15_000;

/** Polls whether another page would be shown, and loads it if so: the link for that is no longer needed. */
function follow(address: string, shown: string): void {
  document.querySelector('[data-refresh]')?.remove();
  let pause = ASK_EVERY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newest: AbortController | undefined;
  const ask = async (): Promise<void> => {
    const asking = new AbortController();
    newest?.abort();
    newest = asking;
    clearTimeout(timer);
    timer = setTimeout(() => asking.abort(), ANSWERED_WITHIN);
    const options = { headers: { accept: 'application/json' }, signal: asking.signal };
    const answer = await fetch(address, options).catch(() => undefined);
    const news: unknown = answer?.ok === true ? await answer.json().catch(() => undefined) : undefined;
    // Asks on: a load can fail, and the page would then stay as it is.
    if (isNews(news) && news.version !== shown) leave();
    // Another poll has taken this one's place.
    if (asking !== newest) return;
    // A server that limits the polls, or does not answer, is polled less often.
    pause = answer?.ok === true ? ASK_EVERY : Math.min(pause * 2, ASK_AT_MOST_EVERY);
    wait();
  };
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => (document.hidden ? wait() : void ask()), pause);
  };
  /** The customer looks again, or the connection is back: a poll that began before may wait on a connection that is gone. */
  const askNow = (): void => {
    if (document.hidden) return;
    pause = ASK_EVERY;
    void ask();
  };
  document.addEventListener('visibilitychange', askNow);
  addEventListener('online', askNow);
  wait();
}

function isNews(value: unknown): value is { readonly version: string } {
  return typeof value === 'object' && value !== null && 'version' in value && typeof value.version === 'string';
}

/** Milliseconds that a load may take before another one is begun in its place: the networks that matter are slow. */
const LOAD_AT_MOST = 30_000;

let leftAt = -LOAD_AT_MOST;
let isLoading = false;

/** Loads the page once the gateway answers: without an answer the browser would put its own error in the page's place. */
async function load(): Promise<void> {
  if (isLoading || performance.now() - leftAt < LOAD_AT_MOST) return;
  isLoading = true;
  while (!(await isAnswered())) await later();
  isLoading = false;
  leave();
}

/**
 * Loads the page's own address, by GET: the address with the ticket is left behind, and a page that answered a form does not send
 * the form again. To load again while an answer is on its way would start over every second, and never end.
 */
function leave(): void {
  const now = performance.now();
  if (now - leftAt < LOAD_AT_MOST) return;
  leftAt = now;
  location.replace(document.body.dataset.page ?? '');
}

/** Whether the gateway answers for this page. What the browser says of its connection is not enough: it may be wrong both ways. */
async function isAnswered(): Promise<boolean> {
  const asking = new AbortController();
  const timer = setTimeout(() => asking.abort(), ANSWERED_WITHIN);
  const options = { method: 'HEAD', cache: 'no-store', signal: asking.signal } as const;
  const answer = await fetch(document.body.dataset.page ?? '', options).catch(() => undefined);
  clearTimeout(timer);
  return answer !== undefined && answer.status !== 429 && answer.status < 500;
}

/** After a while, or when the browser has a connection again. */
function later(): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      clearTimeout(timer);
      removeEventListener('online', goOn);
      resolve();
    };
    const timer = setTimeout(goOn, ASK_AT_MOST_EVERY);
    addEventListener('online', goOn);
  });
}

/** The circle's circumference. */
const ROUND = 377;

/** Counts milliseconds from now on. Most browsers stop `performance.now()` while the device sleeps; its wall clock goes on. */
function stopwatch(): () => number {
  const [started, date] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - started, Date.now() - date);
}

function countDown(): void {
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
  const [count, unit] =
    seconds < 90 ? [seconds, 'second'] : minutes <= 120 ? [minutes, 'minute'] : [Math.ceil(minutes / 60), 'hour'];
  const text = new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'short' }).format(count);
  if (time.textContent !== text) time.textContent = text;
}

/** Browsers know no Lingala; its readers read French figures. */
function locale(): string {
  const { lang } = document.documentElement;
  return lang === 'ln' ? 'fr' : lang;
}

/** Times in the reader's own time zone, which the server does not know. */
function localTimes(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-clock], time[data-moment]')) {
    const options: Intl.DateTimeFormatOptions =
      time.dataset.clock === undefined ? { dateStyle: 'medium', timeStyle: 'short' } : { timeStyle: 'medium' };
    time.textContent = new Intl.DateTimeFormat(locale(), options).format(new Date(time.dateTime));
  }
}

/** Milliseconds that a sent form waits for its answer: a load that was stopped raises no event. Sending again is safe. */
const SENT_AT_MOST = 20_000;
/** Milliseconds that a sent file waits for its answer, longer than the gateway waits for one: sent again, it would begin anew. */
const FILE_SENT_AT_MOST = 125_000;

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
    const timer = setTimeout(release, form.enctype === 'multipart/form-data' ? FILE_SENT_AT_MOST : SENT_AT_MOST);
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

/** Buttons that copy a value and say so for a moment. */
function copyOnPress(): void {
  // Elsewhere the browser has no clipboard, and the buttons stay hidden.
  if (!isSecureContext) return;
  const status = document.querySelector<HTMLElement>('[data-copy-status]');
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    button.hidden = false;
    const label = button.textContent;
    const { copied = '', name = '' } = button.dataset;
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(button.dataset.copy ?? '').then(() => {
        button.textContent = copied;
        // A screen reader announces which value was copied.
        if (status !== null) status.textContent = `${copied}: ${name}`;
        setTimeout(() => {
          button.textContent = label;
        }, 1_500);
      });
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
sendOnce();
copyOnPress();
nameCarrier();
closeMenu();
keepTyped();
forgetFaults();
submitChallenge();
