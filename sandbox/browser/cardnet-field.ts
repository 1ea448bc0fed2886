/**
 * One card field, inside a frame of the card network's origin.
 * Invariant: what is typed goes only to the network's own server and to the other frames of the same form; the surrounding page
 * learns that something happened, never what was typed.
 */

type Message = { readonly cardnet?: unknown; readonly type?: unknown; readonly [name: string]: unknown };
type Answer = { readonly status: string; readonly errors?: Readonly<Record<string, string>> };

const input = document.querySelector<HTMLInputElement>('#value');
if (input !== null) run(input, input.dataset);

function run(box: HTMLInputElement, { field = '', form = '', origin = '', target = '' }: DOMStringMap): void {
  const siblings = new BroadcastChannel(form);
  const tellPage = (type: string, answer?: Answer) => parent.postMessage({ cardnet: form, type, answer }, origin);
  const markWrong = (errors: Answer['errors'] = {}) => {
    if (errors[field] === undefined) box.removeAttribute('aria-invalid');
    else box.setAttribute('aria-invalid', 'true');
  };

  siblings.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data.type === 'collect') siblings.postMessage({ type: 'value', round: data.round, field, value: box.value });
    if (data.type === 'errors') markWrong(textsIn(data.errors));
  });
  addEventListener('message', ({ data, origin: from, source }: MessageEvent<Message>) => {
    if (from !== origin || source !== parent || data.cardnet !== form) return;
    if (data.type === 'style') wear(box, textsIn(data.looks));
    if (data.type === 'focus') box.focus();
    if (data.type !== 'submit') return;
    const names = Array.isArray(data.fields) ? data.fields.map(String) : [];
    void submit(siblings, names, { ownName: field, ownValue: box.value, target }).then((answer) => {
      markWrong(answer.errors);
      siblings.postMessage({ type: 'errors', errors: answer.errors ?? {} });
      tellPage('updated', answer);
    });
  });

  box.addEventListener('focus', () => tellPage('focus'));
  box.addEventListener('blur', () => tellPage('blur'));
  box.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') tellPage('enter');
  });
  box.addEventListener('change', () => tellPage('change'));
  box.addEventListener('input', () => {
    box.removeAttribute('aria-invalid');
    if (field === 'cardNumber') groupByFour(box);
    else if (field !== 'nameOnCard') box.value = box.value.replace(/\D/g, '');
  });
  addEventListener('focus', () => box.focus());
  tellPage('ready');
}

function textsIn(value: unknown): Record<string, string> {
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** Groups digits in fours while the customer types at the end; a correction in the middle is left alone. */
function groupByFour(box: HTMLInputElement): void {
  if (box.selectionStart !== box.value.length) return;
  const digits = box.value.replace(/\D/g, '').slice(0, 19);
  box.value = digits.replace(/(\d{4})(?=\d)/g, '$1 ');
}

/** The styles that a page may give its fields: only those that cannot load or hide anything. */
const wearable = new Set([
  'color',
  'font-family',
  'font-size',
  'font-weight',
  'letter-spacing',
  'text-align',
  'padding-left',
  'padding-right',
]);

function wear(box: HTMLInputElement, looks: Record<string, string>): void {
  for (const [name, value] of Object.entries(looks)) {
    if (wearable.has(name) && !value.includes('url(')) box.style.setProperty(name, value);
  }
  const { 'color-scheme': scheme = '', 'accent-color': accent = 'auto', color = '' } = looks;
  // The same colour scheme as the surrounding page, or the browser would paint an opaque background behind the field.
  document.documentElement.style.setProperty('color-scheme', scheme);
  box.style.setProperty('outline-color', accent === 'auto' ? color : accent);
}

type Own = { readonly ownName: string; readonly ownValue: string; readonly target: string };

/** Gathers what the other frames of the form hold, and sends it to the server that served the frames. */
async function submit(siblings: BroadcastChannel, names: readonly string[], own: Own): Promise<Answer> {
  const { ownName, ownValue, target } = own;
  try {
    const others = await collect(
      siblings,
      names.filter((name) => name !== ownName),
    );
    const answer = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...others, [ownName]: ownValue }),
      signal: AbortSignal.timeout(30_000),
    });
    return answerIn(await answer.json());
  } catch (error) {
    const late = error instanceof DOMException && error.name === 'TimeoutError';
    return {
      status: late ? 'request_timeout' : 'system_error',
      errors: { message: 'The card network did not answer.' },
    };
  }
}

function answerIn(given: unknown): Answer {
  const answer: object = typeof given === 'object' && given !== null ? given : {};
  if ('status' in answer && typeof answer.status === 'string')
    return { ...answer, status: answer.status, ...('errors' in answer && { errors: textsIn(answer.errors) }) };
  return { status: 'system_error', errors: { message: 'The card network answered something else.' } };
}

function collect(siblings: BroadcastChannel, names: readonly string[]): Promise<Record<string, string>> {
  const round = crypto.getRandomValues(new Uint32Array(2)).join('-');
  const values = new Map<string, string>();
  return new Promise((resolve, reject) => {
    const end = new AbortController();
    const finish = () => {
      if (names.some((name) => !values.has(name))) return;
      end.abort();
      resolve(Object.fromEntries(values));
    };
    const onValue = ({ data }: MessageEvent<Message>) => {
      if (data.type !== 'value' || data.round !== round || typeof data.value !== 'string') return;
      values.set(String(data.field), data.value);
      finish();
    };
    siblings.addEventListener('message', onValue, { signal: end.signal });
    setTimeout(() => {
      end.abort();
      reject(new Error('a frame is missing'));
    }, 5_000);
    siblings.postMessage({ type: 'collect', round });
    finish();
  });
}
