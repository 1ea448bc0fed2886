/** An answer whose header cannot be written is a failure like any other, and is sent in the usual form. */

import { Type } from 'typebox';
import { expect, test } from 'vitest';
import type { Pages } from '../messages/page.ts';
import { defineRoute } from './route.ts';
import { smallWorld } from './testing/small-world.ts';

const ODD = 'https://shop.example/заказ';

test('a route whose answer has an unwritable header sends the envelope of a failure', async () => {
  const route = defineRoute({
    method: 'GET',
    path: '/odd',
    operationId: 'odd',
    summary: 'Odd',
    description: 'Sends its caller to an address that no header can carry.',
    credential: 'none',
    limit: 'none',
    loadClass: 'read',
    answers: { 303: Type.Object({}) },
    refusals: [],
    run: async (call) => ({ ...call.reply(303, {}), location: ODD }),
  });
  const answer = await smallWorld({ routes: [route] }).app.inject('/api/v1/odd');
  expect([answer.statusCode, answer.json().error_code, answer.headers.location]).toEqual([500, '1401', undefined]);
});

test('a page whose answer has an unwritable header reports the failure in words', async () => {
  const pages: Pages = {
    root: '/pages/',
    list: [
      {
        method: 'GET',
        path: '/pages/odd',
        show: () => ({ status: 303, type: 'text/plain', body: '', headers: { Location: ODD } }),
      },
    ],
    failed: ({ http }) => ({ status: http, type: 'text/html', body: 'in words' }),
  };
  const answer = await smallWorld({ pages }).app.inject({ url: '/pages/odd', headers: { accept: 'text/html' } });
  expect([answer.statusCode, answer.body, answer.headers.location]).toEqual([500, 'in words', undefined]);
});
