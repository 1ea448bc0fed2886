/**
 * How the store fails, in words that hold no values: what a row held never reaches a message or a log.
 *
 * Invariant: `CommitUnknown` is the only failure of a commit after which it may have happened; after every other one
 * nothing was written.
 */

import pg from 'pg';

/** The connection was lost while the commit was under way: it happened whole, or not at all. Decide again. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown';
  constructor() {
    super('the database connection was lost before the commit was answered');
  }
}

/** Too many changes or reads wait already. Nothing was written; try later. */
export class StoreBusy extends Error {
  override readonly name = 'StoreBusy';
  constructor() {
    super('the store has too much to do');
  }
}

/** The database cannot be reached, or the store is closed. Nothing was written; try later. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** The code of what kept us from connecting, or the server from reading or writing, if it has one. */
  readonly code: string | undefined;
  constructor(message = 'the database cannot be reached', code?: string) {
    super(message);
    this.code = code;
  }
}

/** Commits wait for a synchronous standby. Nothing was written; reads go on. */
export class CommitsStalled extends StoreUnavailable {
  constructor() {
    super('the database waits for a synchronous standby to confirm commits');
  }
}

/** A new connection does not begin with our settings: a pooler that stands in between has dropped them. */
export class SettingsDropped extends Error {
  override readonly name = 'SettingsDropped';
  readonly code = 'SETTINGS_DROPPED';
}

/** The database refused a statement. `code` is the SQLSTATE, `constraint` the constraint's name if one was broken. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
  readonly code: string;
  readonly constraint: string | undefined;
  constructor(code: string, constraint: string | undefined) {
    super(`the database refused: SQLSTATE ${code}${constraint === undefined ? '' : `, constraint ${constraint}`}`);
    this.code = code;
    this.constraint = constraint;
  }
}

/** Whether a store failure is transient, so that the same work can be tried again; the work may even have been done. */
export function isTransient(error: unknown): error is Error {
  return error instanceof CommitUnknown || error instanceof StoreUnavailable || error instanceof StoreBusy;
}

/** Whether a commit that failed with this error has certainly written nothing. */
export function isUnwritten(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof StoreBusy || error instanceof StoreRefused;
}

/** The connection broke, or was broken. `sent` says whether the statements may have reached the server. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly sent: boolean;
  /** A system or SQLSTATE code, for the log. */
  readonly code: string | undefined;
  constructor({ sent, code }: { readonly sent: boolean; readonly code: string | undefined }) {
    super(`the database connection was lost${code === undefined ? '' : ` (${code})`}`);
    this.sent = sent;
    this.code = code;
  }
}

/** The server's error for a pipeline, not yet interpreted. */
export interface ServerError {
  readonly code: string;
  readonly message: string;
  readonly detail: string | undefined;
  readonly constraint: string | undefined;
}

/** The server has refused one of the statements, and rolled the pipeline back. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly server: ServerError;
  constructor(server: ServerError) {
    super(`SQLSTATE ${server.code}`);
    this.server = server;
  }
}

/** The server's error if it leaves the connection usable; undefined if the connection is lost. */
export function serverErrorOf(error: unknown): ServerError | undefined {
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return undefined;
  const { code, message, detail, constraint } = error;
  const isLast = ENDS_THE_CONNECTION.test(code) || ENDS_THE_SERVER.has(error.severity ?? '');
  return isLast ? undefined : { code, message, detail, constraint };
}

/**
 * Severities that end the connection, whatever the code: the server may have committed before it found that it could not go on.
 */
const ENDS_THE_SERVER: ReadonlySet<string> = new Set(['PANIC', 'FATAL']);

/** Class 08, an administrator's or a crash's shutdown, an idle session's end. */
const ENDS_THE_CONNECTION = /^(08...|57P0[1235]|25P03)$/;

/**
 * Two transactions collided, or a prepared statement is no longer usable (the connection prepares it again): the same batch may well
 * pass when it is sent again.
 */
export function isCollision(code: string): boolean {
  return code === '40001' || code === DEADLOCK || isUnprepared(code);
}

/** Whether the statements of a connection have to be prepared anew. */
export function isUnprepared(code: string): boolean {
  return code === STATEMENT_UNKNOWN || code === STATEMENT_OUTDATED;
}

/** The server ended a statement because it took longer than the connection allows; everything was rolled back. */
export const QUERY_CANCELED = '57014';

/** The server knows no prepared statement of that name. */
const STATEMENT_UNKNOWN = '26000';

/** `cached plan must not change result type`: a migration has widened a column that a prepared statement returns. */
const STATEMENT_OUTDATED = '0A000';

/** `deadlock_detected`: each of two transactions waited for the other, and the server ended this one. */
export const DEADLOCK = '40P01';

/** `lock_not_available`: another transaction holds the lock, and we do not wait for it, or no longer. */
export const LOCKED = '55P03';

/** `transaction_timeout`, which PostgreSQL has since 17; it ends the connection. */
const TRANSACTION_ENDED = '25P04';

/** A write to a standby. */
export const READ_ONLY = '25006';

/** Raised by the schema when a transfer would be written into a closed day. */
const DAY_CLOSED = 'DAY01';

/** Raised by our own statements when changes have lost, with the keys of these changes. */
export const LOST = 'LOST1';

/**
 * The server is in trouble (resources, timeouts, standby, internal): no single change is to blame, and halving the batch to look
 * for one would only add load.
 */
export function isServerTrouble(code: string): boolean {
  return /^(25|53|55|57|58|F0|XX)/.test(code);
}

/** Trouble that an operator has to end: the server lacks disk or memory, cannot read or write its files, or contradicts itself. */
export function needsOperator(code: string): boolean {
  return /^(53|58|F0|XX)/.test(code);
}

/** The error for the callers of a pipeline that has failed without writing anything. */
export function errorForCaller(failure: unknown, purpose: 'read' | 'write'): Error {
  if (failure instanceof ConnectionLost) {
    // The server is there: its administrator has to allow more time.
    return failure.code === TRANSACTION_ENDED
      ? new StoreUnavailable("the database's transaction_timeout has ended it", failure.code)
      : new StoreUnavailable();
  }
  if (!(failure instanceof Refused)) return failure instanceof Error ? failure : new StoreUnavailable();
  const { code, constraint } = failure.server;
  if (code === QUERY_CANCELED) return new StoreUnavailable('the database takes too long');
  // The change was decided on a day that has been closed since, while its process stalled: it must be decided again, today.
  if (code === DAY_CLOSED) return new StoreUnavailable('the day of that movement is closed');
  // The request is not to blame: the server is a standby, or short of memory or disk, or other transactions hold their locks.
  if (isCollision(code) || isServerTrouble(code))
    return new StoreUnavailable(`the database cannot ${purpose} now`, code);
  return new StoreRefused(code, constraint);
}

/** The code of a system error (`ECONNRESET`) or a server's, if it has one. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
