/**
 * When the hosted page is loaded again: once the server would show another one, and never before the gateway answers.
 *
 * Invariant: a load that is under way is not begun again, and no failure of the network takes the page away.
 */

/** Milliseconds between two polls, and the most to which failures lengthen them. A hidden page does not poll. */
const ASK_EVERY_MS = 3_000;
const MAX_ASK_EVERY_MS = 15_000;
/** Milliseconds after which a poll is given up: a connection that a phone has lost may stay silent for minutes. */
const MAX_ANSWER_MS = 15_000;

/** Polls whether another page would be shown, and loads it if so: the link for that is no longer needed. */
export function follow(address: string, shown: string): void {
  document.querySelector('[data-refresh]')?.remove();
  let pause = ASK_EVERY_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newest: AbortController | undefined;
  const ask = async (): Promise<void> => {
    const asking = new AbortController();
    newest?.abort();
    newest = asking;
    clearTimeout(timer);
    timer = setTimeout(() => asking.abort(), MAX_ANSWER_MS);
    const options = { headers: { accept: 'application/json' }, signal: asking.signal };
    const answer = await fetch(address, options).catch(() => undefined);
    const news: unknown = answer?.ok === true ? await answer.json().catch(() => undefined) : undefined;
    // Asks on: a load can fail, and the page would then stay as it is.
    if (isNews(news) && news.version !== shown) leave();
    // Another poll has taken this one's place.
    if (asking !== newest) return;
    // A server that limits the polls, or does not answer, is polled less often.
    pause = answer?.ok === true ? ASK_EVERY_MS : Math.min(pause * 2, MAX_ASK_EVERY_MS);
    wait();
  };
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => (document.hidden ? wait() : void ask()), pause);
  };
  /** The customer looks again, or the connection is back: a poll that began before may wait on a connection that is gone. */
  const askNow = (): void => {
    if (document.hidden) return;
    pause = ASK_EVERY_MS;
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
const MAX_LOAD_MS = 30_000;

let leftAt = -MAX_LOAD_MS;
let isLoading = false;

/** Loads the page once the gateway answers: without an answer the browser would put its own error in the page's place. */
export async function load(): Promise<void> {
  if (isLoading || performance.now() - leftAt < MAX_LOAD_MS) return;
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
  if (now - leftAt < MAX_LOAD_MS) return;
  leftAt = now;
  location.replace(document.body.dataset.page ?? '');
}

/** Whether the gateway answers for this page. What the browser says of its connection is not enough: it may be wrong both ways. */
export async function isAnswered(): Promise<boolean> {
  const asking = new AbortController();
  const timer = setTimeout(() => asking.abort(), MAX_ANSWER_MS);
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
    const timer = setTimeout(goOn, MAX_ASK_EVERY_MS);
    addEventListener('online', goOn);
  });
}
