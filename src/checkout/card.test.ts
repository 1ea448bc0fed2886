import { expect, test } from 'vitest';
import { challengePosts } from './card.ts';

test('a challenge may lead to any host over TLS; in the sandbox also, without TLS, to this machine', () => {
  expect(challengePosts({ mode: 'production' })).toBe('https:');
  expect(challengePosts({ mode: 'sandbox' })).toBe('https: http://127.0.0.1:* http://localhost:*');
});
