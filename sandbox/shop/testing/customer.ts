/**
 * A customer's browser without script, for tests: it keeps cookies and submits forms.
 * Invariant: it follows no redirect by itself, so that a test sees each answer.
 */

export type Seen = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it is redirected to; empty for a page. */
  readonly location: string;
};

export type Customer = {
  readonly get: (path: string) => Promise<Seen>;
  readonly post: (path: string, fields?: Readonly<Record<string, string>>) => Promise<Seen>;
  /** Waits until the shop's stream at `path` is open; the returned promise settles with the first change. */
  readonly hear: (path: string) => Promise<{ readonly changed: Promise<void> }>;
};

export function openCustomer(url: string, language = 'en'): Customer {
  const cookies = new Map<string, string>();

  const visit = async (path: string, more: RequestInit): Promise<Seen> => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { 'accept-language': language, ...(cookie !== '' && { cookie }) };
    const answer = await fetch(new URL(path, url), { ...more, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      cookies.set(name, value);
    }
    const { status, headers: given } = answer;
    return { status, headers: given, text: await answer.text(), location: given.get('location') ?? '' };
  };

  return {
    get: (path) => visit(path, {}),
    post: (path, fields = {}) => visit(path, { method: 'POST', body: new URLSearchParams(fields) }),
    hear: async (path) => {
      const stream = await fetch(new URL(path, url));
      const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
      if (reader === undefined) throw new Error(`${path} is no stream`);
      await reader.read();
      const listen = async () => {
        for (;;) {
          const { value, done } = await reader.read();
          if (done) throw new Error(`${path} ended before anything changed`);
          if (value.includes('event: changed')) return reader.cancel();
        }
      };
      return { changed: listen() };
    },
  };
}
