/**
 * The card network's `session.js`: replaces each card field of a page with a frame of the network's own origin.
 * Invariant: nothing that is typed reaches this script or its page; it learns only of errors, the card's brand and a masked
 * number. It is a classic script without imports, as the real one is, and sets styles only through the CSSOM, so that a
 * page may forbid inline styles.
 */
{
  type Role = 'number' | 'securityCode' | 'expiryMonth' | 'expiryYear' | 'nameOnCard';
  type Answer = { readonly status: string; readonly [field: string]: unknown };
  type Callback = (answer: Answer) => void;
  type ChangeCallback = (selector: string) => void;
  type Configuration = {
    readonly session?: string;
    readonly fields?: { readonly card?: Partial<Record<Role, string>> };
    readonly frameEmbeddingMitigation?: readonly string[];
    readonly callbacks?: { readonly initialized?: Callback; readonly formSessionUpdate?: Callback };
  };
  type Field = {
    readonly role: Role;
    readonly selector: string;
    readonly proxy: HTMLElement;
    readonly frame: HTMLIFrameElement;
    ready: boolean;
  };
  type Form = {
    readonly id: string;
    readonly session: string;
    readonly fields: readonly Field[];
    readonly initialized: Callback;
    readonly updated: Callback;
    waiting: number | undefined;
    /** Undoes what the form did to its page. */
    readonly end: AbortController;
  };
  /** A message from a frame; `field` is the name that errors use. */
  type Told = { readonly cardnet: string; readonly type: string; readonly answer?: Answer };

  // The frames come from the same place as this script.
  const script = document.currentScript;
  const base = new URL('field', script instanceof HTMLScriptElement ? script.src : location.href);
  const answerWithin = 60_000;
  const startWithin = 15_000;

  /** The names that the frames and the errors use. */
  const errorNames: Record<Role, string> = {
    number: 'cardNumber',
    securityCode: 'securityCode',
    expiryMonth: 'expiryMonth',
    expiryYear: 'expiryYear',
    nameOnCard: 'nameOnCard',
  };
  /** Styles that the frame copies from the field it replaces, and styles that the field inside the frame copies. */
  const boxLooks = ['border', 'border-radius', 'background-color', 'box-shadow', 'margin', 'color-scheme'];
  const textLooks = [
    'color',
    'color-scheme',
    'accent-color',
    'font-family',
    'font-size',
    'font-weight',
    'letter-spacing',
    'text-align',
    'padding-left',
    'padding-right',
  ];
  const roles = Object.keys(errorNames).filter((name): name is Role => name in errorNames);
  let form: Form | undefined;
  /** Whom to tell that a field was changed, by the field's name for the page. */
  const changeCallbacks = new Map<string, ChangeCallback>();

  function randomId(): string {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  function labelOf(proxy: HTMLElement): string {
    const label = proxy instanceof HTMLInputElement ? proxy.labels?.[0]?.textContent : undefined;
    return (proxy.getAttribute('aria-label') ?? label ?? proxy.title).trim();
  }

  function tell(field: Field, id: string, message: object): void {
    field.frame.contentWindow?.postMessage({ cardnet: id, ...message }, base.origin);
  }

  /** Styles the frame as the page's style sheet styles the field that it replaces; called again after a change. */
  function dress(field: Field, id: string): void {
    const worn = getComputedStyle(field.proxy);
    const { style } = field.frame;
    for (const name of boxLooks) style.setProperty(name, worn.getPropertyValue(name));
    const looks = Object.fromEntries(textLooks.map((name) => [name, worn.getPropertyValue(name)]));
    // `normal` means: as the whole page declares.
    const ofPage = document.querySelector<HTMLMetaElement>('meta[name="color-scheme"]')?.content ?? 'normal';
    if (looks['color-scheme'] === 'normal') looks['color-scheme'] = ofPage;
    if (field.ready) tell(field, id, { type: 'style', looks });
  }

  function place(role: Role, selector: string, session: string, id: string): Field | undefined {
    const proxy = document.querySelector(selector);
    if (!(proxy instanceof HTMLElement)) return undefined;
    const frame = document.createElement('iframe');
    const label = labelOf(proxy);
    const asked = { field: errorNames[role], session, form: id, origin: location.origin, label };
    const address = new URL(base);
    for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
    if (document.documentElement.lang !== '') address.searchParams.set('lang', document.documentElement.lang);
    frame.src = address.href;
    frame.id = `gw-proxy-${proxy.id || role}`;
    frame.className = proxy.className;
    frame.title = label || errorNames[role];
    frame.setAttribute('allowtransparency', 'true');
    const height = Math.max(44, Math.round(proxy.getBoundingClientRect().height));
    Object.assign(frame.style, {
      display: 'block',
      boxSizing: 'border-box',
      width: '100%',
      height: `${height}px`,
      padding: '0',
    });
    proxy.after(frame);
    proxy.style.setProperty('display', 'none', 'important');
    return { role, selector, proxy, frame, ready: false };
  }

  function focus(field: Field | undefined, id: string): void {
    if (field === undefined) return;
    field.frame.focus();
    tell(field, id, { type: 'focus' });
  }

  function mark(made: Form, errors: unknown): void {
    const wrong = typeof errors === 'object' && errors !== null ? errors : {};
    for (const field of made.fields) {
      if (errorNames[field.role] in wrong) field.proxy.setAttribute('aria-invalid', 'true');
      else field.proxy.removeAttribute('aria-invalid');
      field.frame.toggleAttribute('data-invalid', errorNames[field.role] in wrong);
      dress(field, made.id);
    }
  }

  function hear(made: Form, event: MessageEvent<Told>): void {
    if (event.origin !== base.origin || event.data?.cardnet !== made.id) return;
    const field = made.fields.find(({ frame }) => frame.contentWindow === event.source);
    if (field === undefined) return;
    const { type, answer } = event.data;
    if (type === 'ready') {
      field.ready = true;
      dress(field, made.id);
      if (made.fields.every(({ ready }) => ready)) made.initialized({ status: 'ok', session: { id: made.session } });
    } else if (type === 'focus' || type === 'blur') {
      field.frame.toggleAttribute('data-focused', type === 'focus');
    } else if (type === 'change') {
      changeCallbacks.get(`card.${field.role}`)?.(field.selector);
    } else if (type === 'enter') {
      const around = field.proxy.closest('form');
      if (around !== null) around.requestSubmit();
    } else if (type === 'updated' && answer !== undefined && made.waiting !== undefined) {
      clearTimeout(made.waiting);
      made.waiting = undefined;
      mark(made, answer.status === 'fields_in_error' ? answer.errors : {});
      made.updated(answer);
    }
  }

  function listen(made: Form): void {
    const { signal } = made.end;
    const dressAll = () => {
      for (const field of made.fields) dress(field, made.id);
    };
    addEventListener('message', (event) => hear(made, event), { signal });
    addEventListener('resize', dressAll, { signal });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', dressAll, { signal });
    for (const field of made.fields) {
      if (!(field.proxy instanceof HTMLInputElement)) continue;
      for (const label of field.proxy.labels ?? [])
        label.addEventListener('click', () => focus(field, made.id), { signal });
    }
    const late = setTimeout(() => {
      if (made.fields.some(({ ready }) => !ready))
        made.initialized({ status: 'system_error', message: 'The card fields could not be loaded.' });
    }, startWithin);
    signal.addEventListener('abort', () => clearTimeout(late));
  }

  function remove(old: Form | undefined): void {
    old?.end.abort();
    clearTimeout(old?.waiting);
    for (const { frame, proxy } of old?.fields ?? []) {
      frame.remove();
      proxy.style.removeProperty('display');
    }
  }

  function configure(configuration: Configuration): void {
    const nothing: Callback = () => undefined;
    const { session = '', fields, callbacks, frameEmbeddingMitigation = [] } = configuration;
    const { initialized = nothing, formSessionUpdate: updated = nothing } = callbacks ?? {};
    const refuse = (message: string) => initialized({ status: 'system_error', message });
    remove(form);
    form = undefined;
    if (frameEmbeddingMitigation.includes('javascript') && self !== top) {
      refuse('A payment page must not be framed.');
      return;
    }
    const id = randomId();
    const asked = roles.filter((role) => fields?.card?.[role] !== undefined);
    const placed = asked.map((role) => place(role, fields?.card?.[role] ?? '', session, id));
    const found = placed.filter((field) => field !== undefined);
    form = { id, session, fields: found, initialized, updated, waiting: undefined, end: new AbortController() };
    if (session === '' || asked.length === 0 || found.length < asked.length)
      refuse('A session and the selector of each field are needed.');
    else listen(form);
  }

  function updateSessionFromForm(paymentType: string): void {
    const made = form;
    if (made === undefined) throw new Error('PaymentSession.configure must be called first.');
    const { fields, id, updated } = made;
    const session = { id: made.session };
    const [first] = fields;
    if (made.waiting !== undefined) return;
    if (paymentType !== 'card') {
      updated({ status: 'payment_type_required', session });
    } else if (first === undefined || fields.some(({ ready }) => !ready)) {
      updated({ status: 'system_error', session, errors: { message: 'The card fields are not loaded.' } });
    } else {
      made.waiting = setTimeout(() => {
        made.waiting = undefined;
        updated({ status: 'request_timeout', session, errors: { message: 'The card network did not answer.' } });
      }, answerWithin);
      tell(first, id, { type: 'submit', fields: fields.map(({ role }) => errorNames[role]) });
    }
  }

  /** `card.number` and its neighbours. */
  function setFocus(name: string): void {
    const made = form;
    if (made !== undefined)
      focus(
        made.fields.find(({ role }) => `card.${role}` === name),
        made.id,
      );
  }

  /** Calls back once a field was changed and left, as a browser's own `change` event does. */
  function onChange(names: readonly string[], callback: ChangeCallback): void {
    for (const name of names) changeCallbacks.set(name, callback);
  }

  Object.assign(window, { PaymentSession: { configure, updateSessionFromForm, setFocus, onChange } });
}
