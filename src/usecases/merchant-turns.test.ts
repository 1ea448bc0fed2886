import { describe, expect, it } from 'vitest';
import { createMerchantTurns } from './merchant-turns.ts';

describe('merchants in turn', () => {
  it('are served one piece of work each, each merchant’s in order of arrival', () => {
    const turns = createMerchantTurns<string>();
    for (const work of ['a1', 'a2', 'a3']) turns.add('a', work);
    turns.add('b', 'b1');
    expect([turns.take(), turns.take(), turns.take()]).toEqual(['a1', 'b1', 'a2']);
    turns.add('b', 'b2');
    expect([turns.take(), turns.take(), turns.take()]).toEqual(['a3', 'b2', undefined]);
  });

  it('forget what is dropped', () => {
    const turns = createMerchantTurns<string>();
    for (const work of ['a1', 'a2']) turns.add('a', work);
    turns.add('b', 'b1');
    expect(turns.take()).toBe('a1');
    turns.drop('a');
    turns.drop('c');
    expect([turns.take(), turns.take()]).toEqual(['b1', undefined]);
  });
});
