import pg from 'pg';
import { expect, test } from 'vitest';
import { serverErrorOf } from './errors.ts';

const said = (severity: string, code: string): pg.DatabaseError =>
  Object.assign(new pg.DatabaseError('could not write', 0, 'error'), { severity, code });

test('a server’s last message leaves a commit in doubt, whatever its code', () => {
  for (const code of ['58030', '53100', 'XX000', '57P01']) {
    for (const severity of ['PANIC', 'FATAL']) expect(serverErrorOf(said(severity, code))).toBeUndefined();
  }
  expect(serverErrorOf(said('ERROR', '57P01'))).toBeUndefined();
  expect(serverErrorOf(said('ERROR', '53100'))).toMatchObject({ code: '53100' });
});
