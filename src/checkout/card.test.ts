import { expect, test } from 'vitest';
import { challengePosts } from './card.ts';

test('in production a challenge may lead to any host, and only over TLS', () => {
  expect(challengePosts({ mode: 'production' })).toBe('https:');
});
