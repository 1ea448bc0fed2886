import { expect, test } from 'vitest';
import { codingFor, prefersHtml, wantsHtml } from './accept.ts';

test.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true, true],
  ['text/html', true, true],
  ['TEXT/HTML ; Q=0.5', true, true],
  ['application/json, text/html', true, false],
  ['application/json;q=0.5, text/html', true, true],
  ['text/html;q=0.5, application/json', true, false],
  ['text/html, application/json', true, true],
  ['text/html;q=0, application/json', false, false],
  ['text/html;q=0.000', false, false],
  ['text/html;q=x', false, false],
  ['application/json;q=0, text/html;q=0.1', true, true],
  ['text/htmlx, application/json', false, false],
  ['*/*', false, false],
  ['', false, false],
  [undefined, false, false],
])('%s: accepts HTML %s, prefers it %s', (accept, wants, prefers) => {
  expect([wantsHtml(accept), prefersHtml(accept)]).toEqual([wants, prefers]);
});

test.each([
  ['gzip, deflate, br', 'br'],
  ['br;q=0.5, gzip', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['gzip;q=0.0, BR; q=0', undefined],
  ['identity', undefined],
  ['brotli', undefined],
  [undefined, undefined],
])('%s is compressed as %s', (acceptEncoding, coding) => {
  expect(codingFor(acceptEncoding)).toBe(coding);
});
