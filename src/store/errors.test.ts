import pg from 'pg';
import { expect, test } from 'vitest';
import {
  CommitsStalled,
  CommitUnknown,
  errorForCaller,
  isTransient,
  isUnwritten,
  Refused,
  StoreBusy,
  StoreRefused,
  StoreUnavailable,
  serverErrorOf,
} from './errors.ts';

const said = (severity: string, code: string): pg.DatabaseError =>
  Object.assign(new pg.DatabaseError('could not write', 0, 'error'), { severity, code });

test('a server’s last message leaves a commit in doubt, whatever its code', () => {
  for (const code of ['58030', '53100', 'XX000', '57P01']) {
    for (const severity of ['PANIC', 'FATAL']) expect(serverErrorOf(said(severity, code))).toBeUndefined();
  }
  expect(serverErrorOf(said('ERROR', '57P01'))).toBeUndefined();
  expect(serverErrorOf(said('ERROR', '53100'))).toMatchObject({ code: '53100' });
});

test('what the operating system says of a connection is no answer of the server, though it has a code', () => {
  expect(serverErrorOf(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))).toBeUndefined();
});

test('of the failures of a commit, only an unknown outcome may have written; all but a refusal may be tried again', () => {
  const failures = [
    new CommitUnknown(),
    new StoreUnavailable(),
    new CommitsStalled(),
    new StoreBusy(),
    new StoreRefused('23514', undefined),
    new Error('a bug'),
  ];
  expect(failures.map(isUnwritten)).toEqual([false, true, true, true, true, false]);
  expect(failures.map(isTransient)).toEqual([true, true, true, true, false, false]);
});

test.each(['53100', '25006', 'XX001'])('a caller that has to wait can tell why: %s', (code) => {
  const failure = new Refused({ code, message: 'could not write', detail: undefined, constraint: undefined });
  expect(errorForCaller(failure, 'write')).toMatchObject({
    name: 'StoreUnavailable',
    message: 'the database cannot write now',
    code,
  });
});
