/**
 * Reads settings from environment variables and collects what is wrong with them.
 *
 * Invariant: every problem is one line that names the variable, says what is wrong and shows an example; the value of
 * a secret, or of an address (which may hold a password), is never part of it. An empty variable counts as absent.
 */
import { isIP } from 'node:net';

/** The variables: `process.env`, or any table of texts. */
export type Environment = { readonly [name: string]: string | undefined };

/** What makes an address acceptable. */
export interface UrlRules {
  readonly example: string;
  /** Refuse `http:`. `unless-local` lets it pass for this machine itself. */
  readonly https?: boolean | 'unless-local';
  /** Refuse a path, for this reason. */
  readonly noPath?: string;
}

export interface EnvironmentReader {
  /** The trimmed value, or undefined when it is absent or empty. */
  text(name: string): string | undefined;
  /** One of several words. */
  word<W extends string>(name: string, words: readonly W[], fallback: W): W;
  /** A whole number within bounds. */
  whole(name: string, bounds: { readonly from: number; readonly to: number }, fallback: number): number;
  /** A decimal number from 0 up. */
  decimal(name: string, fallback: number): number;
  /** An http(s) address without credentials, query, fragment or trailing slash. */
  url(name: string, rules: UrlRules): string | undefined;
  /** A list of IP addresses and networks, separated by commas. */
  networks(name: string): readonly string[];
  /** Notes a problem: `what` says what is wrong with the variable. */
  problem(name: string, what: string): void;
  /** All problems, one line, in the order of the variables' names; undefined when there is none. */
  problems(): string | undefined;
}

/** Makes a reader of the given variables. It throws nothing: what is wrong with a variable is noted, and told by `problems`. */
export function readEnvironment(environment: Environment): EnvironmentReader {
  const found = new Map<string, string>();
  const problem = (name: string, what: string): void => {
    if (!found.has(name)) found.set(name, `${name} ${what}`);
  };
  const text = (name: string): string | undefined => {
    const value = environment[name]?.trim();
    return value === '' ? undefined : value;
  };
  return {
    text,
    problem,
    word(name, words, fallback) {
      const value = text(name);
      const word = words.find((candidate) => candidate === value);
      if (value !== undefined && word === undefined) {
        problem(name, `is ${quoted(value)}: it must be one of ${words.join(', ')}, for example ${name}=${fallback}`);
      }
      return word ?? fallback;
    },
    whole(name, { from, to }, fallback) {
      const value = text(name);
      if (value === undefined) return fallback;
      const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= from && number <= to) return number;
      problem(
        name,
        `is ${quoted(value)}: it must be a whole number from ${from} to ${to}, for example ${name}=${fallback}`,
      );
      return fallback;
    },
    decimal(name, fallback) {
      const value = text(name);
      if (value === undefined) return fallback;
      if (/^\d{1,6}(\.\d{1,6})?$/.test(value)) return Number(value);
      problem(name, `is ${quoted(value)}: it must be a number from 0 up, for example ${name}=${fallback}`);
      return fallback;
    },
    url(name, rules) {
      const value = text(name);
      if (value === undefined) return undefined;
      const wrong = wrongUrl(value, rules);
      if (wrong === undefined) return value.replace(/\/+$/, '');
      problem(name, `${wrong}, for example ${name}=${rules.example}`);
      return undefined;
    },
    networks(name) {
      const parts = (text(name) ?? '')
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
      const wrong = parts.find((part) => !isNetwork(part));
      if (wrong === undefined) return parts;
      const rule = 'must list IP addresses or networks, separated by commas';
      problem(name, `contains ${quoted(wrong)}: it ${rule}, for example ${name}=10.0.0.0/8,192.0.2.7`);
      return [];
    },
    problems() {
      if (found.size === 0) return undefined;
      const names = [...found.keys()].sort();
      return names.map((name) => found.get(name)).join('; ');
    },
  };
}

function wrongUrl(value: string, rules: UrlRules): string | undefined {
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    return 'is not an address';
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https:// or http://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (url.search !== '' || url.hash !== '') return 'must not have a query or a fragment';
  if (rules.noPath !== undefined && !/^\/*$/.test(url.pathname)) return `must not have a path, because ${rules.noPath}`;
  if (url.protocol === 'https:' || rules.https === undefined || rules.https === false) return undefined;
  if (rules.https === 'unless-local' && isLocal(url.hostname)) return undefined;
  return 'must begin with https:// in production';
}

/** Whether a host is this machine itself. A name may begin like its address (127.example.com), and be anybody's. */
function isLocal(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}

/** The value on one line, truncated if it is long. */
function quoted(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
