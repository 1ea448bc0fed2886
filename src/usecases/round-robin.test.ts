import { describe, expect, it } from 'vitest';
import { createRoundRobin } from './round-robin.ts';

describe('queues in rotation', () => {
  it('are served one piece of work each, each queue’s in order of arrival', () => {
    const queues = createRoundRobin<string>();
    for (const work of ['a1', 'a2', 'a3']) queues.add('a', work);
    queues.add('b', 'b1');
    expect([queues.take(), queues.take(), queues.take()]).toEqual(['a1', 'b1', 'a2']);
    queues.add('b', 'b2');
    expect([queues.take(), queues.take(), queues.take()]).toEqual(['a3', 'b2', undefined]);
  });

  it('forget what is dropped', () => {
    const queues = createRoundRobin<string>();
    for (const work of ['a1', 'a2']) queues.add('a', work);
    queues.add('b', 'b1');
    expect(queues.take()).toBe('a1');
    queues.drop('a');
    queues.drop('c');
    expect([queues.take(), queues.take()]).toEqual(['b1', undefined]);
  });
});
