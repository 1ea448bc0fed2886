/** Who connects to the server, and what is reported while that is in vain. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDialler } from './dialler.ts';
import { StoreUnavailable } from './errors.ts';

/** A dialler whose attempts end as the test says. */
function desk() {
  const attempts: { succeed(connection: string): void; fail(): void }[] = [];
  const errors: Error[] = [];
  const here: { connection: string | undefined } = { connection: undefined };
  const dialler = openDialler<string>({
    open: () =>
      new Promise((resolve, reject) => {
        const fail = () => reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
        attempts.push({ succeed: resolve, fail });
      }),
    current: () => here.connection,
    onError: (error) => errors.push(error),
  });
  /** Dials with no time but the least that each attempt gets. */
  const dial = (): Promise<string> => dialler.dial(performance.now());
  return { attempts, errors, here, dialler, dial };
}

const failureOf = (dialled: Promise<string>): Promise<unknown> => dialled.catch((error: unknown) => error);

test('all who wait share one attempt, and who has given up leaves it to the next', async () => {
  const { attempts, dial } = desk();
  expect(await failureOf(dial())).toBeInstanceOf(StoreUnavailable);
  const [second, third] = [dial(), dial()];
  attempts[0]?.succeed('a connection');
  expect(await Promise.all([second, third])).toEqual(['a connection', 'a connection']);
  expect(attempts).toHaveLength(1);
});

test('an attempt that fails when nobody waits for it any more is no error, and another one is made', async () => {
  const { attempts, dial } = desk();
  expect(await failureOf(dial())).toBeInstanceOf(StoreUnavailable);
  attempts[0]?.fail();
  // A rejection that nobody has handled by then would end the process.
  await nextTurn();
  const dialled = dial();
  attempts[1]?.succeed('a connection');
  expect(await dialled).toBe('a connection');
});

test('a connection that is there already is taken, and no other made', async () => {
  const { attempts, here, dial } = desk();
  here.connection = 'made meanwhile';
  expect(await dial()).toBe('made meanwhile');
  expect(attempts).toEqual([]);
});

test('an outage is reported once, and the next one again', async () => {
  const { attempts, errors, dial } = desk();
  const outage = async (): Promise<void> => {
    const dialled = failureOf(dial());
    attempts.pop()?.fail();
    expect(await dialled).toMatchObject({ name: 'StoreUnavailable', code: 'ECONNREFUSED' });
  };
  await outage();
  await outage();
  expect(errors.map(({ message }) => message)).toEqual(['the database cannot be reached (ECONNREFUSED)']);
  const dialled = dial();
  attempts.pop()?.succeed('a connection');
  await dialled;
  await outage();
  expect(errors).toHaveLength(2);
});
