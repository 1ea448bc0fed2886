import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { readProcesses, slotsOf } from './serve-processes.ts';

it('takes a number of processes, or one per core', () => {
  expect([readProcesses('1'), readProcesses('64'), readProcesses('auto')]).toEqual([1, 64, availableParallelism()]);
});

it.each(['0', '65', '-1', '1.5', '1e1', '', ' 2', 'many'])('refuses %j, and says what to write', (text) => {
  expect(() => readProcesses(text)).toThrow('write a whole number from 1 to 64, or auto for one per core.');
});

it('gives each process a name and a role; under the role `all`, one works in the background', () => {
  expect(slotsOf('all', 2)).toEqual([
    { name: 'api-1', role: 'api' },
    { name: 'api-2', role: 'api' },
    { name: 'worker-1', role: 'worker' },
  ]);
  expect(slotsOf('worker', 2).map(({ name }) => name)).toEqual(['worker-1', 'worker-2']);
});
