/**
 * Says in one line what is wrong with DATABASE_URL.
 *
 * Invariant: only the host and the port of the address are ever shown, and only if neither can be a part of the password: an
 * @ after the first / ? or # says that the password holds one of these unencoded, so that the parts are not what they seem.
 */

import { systemCodeOf } from '../platform/system-code.ts';
import { messageOf } from './output.ts';

const HINT = 'the characters # % / ? @ in a password must be percent-encoded, for example @ as %40';

const UNTRUSTED =
  'nobody whom this machine trusts has issued its certificate: name the issuer, as in ?sslmode=verify-full&sslrootcert=/etc/mbongo/ca.crt';

/** Codes of the system, of TLS and of the server (SQLSTATE) which mean that the address is wrong, or that nothing answers there. */
const REASONS: { readonly [code: string]: string } = {
  ERR_INVALID_URL: 'it is malformed',
  ENOENT: 'a file or socket that it names does not exist',
  ECONNREFUSED: 'nothing listens there: start PostgreSQL, or correct the host and the port',
  ECONNRESET: 'the connection was cut',
  ENOTFOUND: 'its host is not known',
  EAI_AGAIN: 'its host cannot be looked up, because the name servers do not answer',
  ETIMEDOUT: 'nothing answers there',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its host cannot be reached',
  '28P01': 'the server rejects the user name or the password',
  '28000': 'the server does not let this user connect from here',
  '3D000': 'the server has no such database',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate names other hosts: use one of those',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

/** The server's codes for a state of the server or its roles: the address is right. */
const STATES: { readonly [code: string]: string } = {
  '25006': 'the server accepts no changes: it is a standby or read-only; name the primary',
  '42501':
    'its role lacks a privilege: it must own the database and everything of the gateway in it, or have been granted what docs/deploying.md lists',
  '53100': "the server's disk is full: free some space there",
  '53200': 'the server is out of memory: find out what takes it there',
  '53300': 'the server, or this role, has as many connections as are allowed: plan for ten per process',
  '57P03': 'the server is starting or stopping',
};

/** Classes of the server's codes: it lacks something, cannot read or write its files, or contradicts itself. */
const TROUBLE = /^(53|58|F0|XX)...$/;
const TROUBLE_HINT =
  'its own log says why, and often its disk is full (docs/runbook.md, MbongoDatabaseAway, says what each means)';

/** What poolers between us and the server answer. */
const POOLERS: { readonly [code: string]: string } = {
  '08P01': 'a pooler refuses the settings with which the gateway connects',
  SETTINGS_DROPPED: 'a pooler drops the settings with which the gateway connects, and the role has others',
  '42P05': 'a pooler does not keep prepared statements apart',
};
const POOLER_HINT = 'see “A pooler in between” in docs/deploying.md';

/** Messages of driver errors that have no code. */
const CUT = /^(timeout expired|Connection terminated|Connection ended)/;
const NO_TLS = /does not support SSL/;
const NO_PASSWORD = /^SASL: .*password must be/;

/**
 * Runs the first use of the database. With `url`, the value of DATABASE_URL, an error that the address is to blame for becomes
 * one line.
 *
 * @throws Error `DATABASE_URL cannot be used: …`; every other error as it is.
 */
export async function usingDatabaseUrl<V>(url: string | undefined, run: () => Promise<V>): Promise<V> {
  try {
    return await run();
  } catch (error) {
    const reason = url === undefined ? undefined : reasonOf(error, url);
    // Without its cause: the cause may hold the address.
    throw reason === undefined ? error : new Error(`DATABASE_URL cannot be used: ${reason}`);
  }
}

/**
 * Runs what comes after the first use, when more connections may be opened: only the store's errors can be about the database.
 *
 * @throws Error as `usingDatabaseUrl`
 */
export function stillUsingDatabaseUrl<V>(url: string | undefined, run: () => Promise<V>): Promise<V> {
  // Checked by its name, so that the store need not be loaded for it.
  return run().catch((error: unknown) => {
    const isOfStore = error instanceof Error && error.name === 'StoreUnavailable';
    return isOfStore ? usingDatabaseUrl(url, () => Promise.reject(error)) : Promise.reject(error);
  });
}

function reasonOf(error: unknown, url: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const code = systemCodeOf(error);
  const state = stateOf(error) ?? stateOf(error.cause);
  if (state !== undefined) return state;
  const known = refusalWithoutTls(error) ?? (code === undefined ? undefined : REASONS[code]);
  if (known === undefined && inner !== undefined) return reasonOf(inner, url);
  const said = known ?? reasonOfText(error);
  if (said === undefined) return undefined;
  const server = serverOf(url);
  if (server === undefined) return `${said}; ${HINT}`;
  const isAboutPassword = code === WRONG_PASSWORD && server.hasPercent;
  const isAboutForm = error instanceof URIError || code === 'ERR_INVALID_URL';
  if (isAboutForm || isAboutPassword) return `${said}; ${HINT}`;
  return server.name === undefined ? said : `${server.name}: ${said}`;
}

/** A server's refusal of a connection that is not encrypted; its rules, if it has TLS at all, may let the same user in over that. */
function refusalWithoutTls(error: Error): string | undefined {
  if (systemCodeOf(error) !== NOT_LET_IN || !error.message.endsWith(', no encryption')) return undefined;
  return `${REASONS[NOT_LET_IN]}, at least not without TLS: add ?sslmode=verify-full, or see its pg_hba.conf`;
}

/** What the server's code says of its state, or of a pooler's; a failed migration's cause has one. */
function stateOf(error: unknown): string | undefined {
  const code = systemCodeOf(error);
  const pooler = code === undefined ? undefined : POOLERS[code];
  if (pooler !== undefined) return `${pooler}: ${POOLER_HINT}`;
  return code === undefined ? undefined : (STATES[code] ?? troubleOf(error, code));
}

/** The server's own words are shown, since nothing else says what its trouble is: they hold no part of the address. */
function troubleOf(error: unknown, code: string): string | undefined {
  if (!TROUBLE.test(code)) return undefined;
  return `the server is in trouble (SQLSTATE ${code}, ${messageOf(error)}): ${TROUBLE_HINT}`;
}

const WRONG_PASSWORD = '28P01';
const NOT_LET_IN = '28000';

/**
 * The server that an address certainly names; undefined if the host or the port may be parts of a password. Without its name if
 * the address leaves the host to the driver, or states it in its query. `hasPercent`: the user or the password holds a %, which
 * may be meant as it stands.
 */
function serverOf(url: string): { readonly name: string | undefined; readonly hasPercent: boolean } | undefined {
  const [, authority = '', rest = ''] = /^[a-z]+:\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
  if (rest.includes('@') || !URL.canParse(url)) return undefined;
  const { hostname, host, searchParams } = new URL(url);
  const isElsewhere = hostname === '' || searchParams.has('host') || searchParams.has('port');
  const hasPercent = authority.slice(0, Math.max(0, authority.lastIndexOf('@'))).includes('%');
  return { name: isElsewhere ? undefined : host, hasPercent };
}

/** Errors without a code are recognised by their message. */
function reasonOfText(error: Error): string | undefined {
  if (error instanceof URIError) return 'its percent-encoding is broken';
  if (CUT.test(error.message)) return 'no PostgreSQL server answers there';
  if (NO_TLS.test(error.message)) return 'the server does not offer TLS';
  return NO_PASSWORD.test(error.message) ? 'the server asks for a password, and the URL contains none' : undefined;
}
