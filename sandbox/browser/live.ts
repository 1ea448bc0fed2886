/**
 * Keeps a page's live region up to date: listens for changes, fetches the region again and swaps what changed.
 * Invariant: a part whose version is unchanged is never touched, so that nobody loses what they are typing.
 */

export type Live = {
  /** Fetches the region again and swaps the parts that changed. */
  readonly refresh: () => Promise<void>;
  /** The address that the region is fetched from; may be changed. */
  readonly address: URL;
};

function swapPart(region: Element, next: Element): boolean {
  const now = region.querySelector(`[data-part="${next.getAttribute('data-part') ?? ''}"]`);
  if (now === null || now.getAttribute('data-version') === next.getAttribute('data-version')) return false;
  const open = new Set([...now.querySelectorAll('details[open]')].map((one) => one.getAttribute('data-key')));
  const fresh = document.importNode(next, true);
  for (const details of fresh.querySelectorAll('details')) details.open = open.has(details.getAttribute('data-key'));
  now.replaceWith(fresh);
  return true;
}

function swapAnnouncement(region: Element, page: Document): void {
  const now = region.querySelector('[data-announce]');
  const next = page.querySelector('[data-announce]')?.textContent ?? '';
  // Setting the same text again would make a screen reader repeat it.
  if (now !== null && now.textContent !== next) now.textContent = next;
}

type Listener = { readonly changed: () => void; readonly connected: (yes: boolean) => void };

/** Listens only while the page is visible: a browser allows few streams per server, and hidden tabs would use them up. */
function listen(events: string, { changed, connected }: Listener): void {
  let source: EventSource | undefined;
  const follow = () => {
    if (document.visibilityState === 'hidden') {
      source?.close();
      source = undefined;
    } else if (source === undefined) {
      source = new EventSource(events);
      source.addEventListener('changed', changed);
      source.addEventListener('open', () => connected(true));
      source.addEventListener('error', () => connected(false));
    }
  };
  document.addEventListener('visibilitychange', follow);
  addEventListener('pagehide', () => {
    source?.close();
    source = undefined;
  });
  addEventListener('pageshow', follow);
  follow();
}

/** Starts the live region of this page. `swapped` is called after each change, with the parts that were replaced. */
export function goLive(swapped: (parts: readonly string[]) => void): Live | undefined {
  const region = document.querySelector('[data-live]');
  const events = region?.getAttribute('data-events');
  if (region === null || events === null || events === undefined) return undefined;
  document.documentElement.classList.add('js');
  const address = new URL(region.getAttribute('data-live') ?? '', location.href);
  const offline = region.querySelector('[data-offline]');
  let latest = 0;

  const refresh = async () => {
    latest += 1;
    const mine = latest;
    const answer = await fetch(address, { headers: { accept: 'text/html' } }).catch(() => undefined);
    if (answer === undefined || !answer.ok || mine !== latest) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (mine !== latest) return;
    const parts = [...page.querySelectorAll('[data-part]')].filter((next) => swapPart(region, next));
    const screen = page.querySelector('[data-screen]');
    region.querySelector('[data-screen]')?.setAttribute('class', screen?.className ?? '');
    swapAnnouncement(region, page);
    swapped(parts.map((one) => one.getAttribute('data-part') ?? ''));
  };

  listen(events, {
    changed: () => void refresh(),
    connected: (yes) => {
      if (offline !== null) offline.textContent = yes ? '' : offline.getAttribute('data-offline');
      // Fetches whatever happened while the stream was down.
      if (yes) void refresh();
    },
  });
  return { refresh, address };
}

/** Buttons with `data-copy` copy that text and say so for a moment. */
export function copyOnClick(): void {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-copy]') : null;
    const text = button?.getAttribute('data-copy');
    if (button === null || text === null || text === undefined) return;
    const label = button.textContent;
    void navigator.clipboard.writeText(text).then(() => {
      button.textContent = button.getAttribute('data-copied');
      setTimeout(() => {
        button.textContent = label;
      }, 1_500);
    });
  });
}
