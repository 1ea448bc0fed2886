/** The search for secrets finds what looks like one, and nothing else. */

import { describe, expect, it } from 'vitest';
import { findSecrets } from './secrets-in-logs.ts';

const SECRETS = { token: ['sess_a+b/c=='], PIN: ['73914628'], phone: ['+243810000142'] };
const line = (text: string): string => `{"event":"first"}\n{"text":"${text}","event":"second"}\n`;

describe('the search for secrets', () => {
  it.each([
    ['as it is', 'sess_a+b/c==', 'token'],
    ['in base64', Buffer.from('sess_a+b/c==').toString('base64'), 'token'],
    ['in an address', '?t=sess_a%2Bb%2Fc%3D%3D&x', 'token'],
    ['a PIN', 'pin 73914628.', 'PIN'],
    ['a number with its plus', '+243810000142', 'phone'],
    ['a number without', 'to 243810000142', 'phone'],
  ])('finds a secret %s, and says which secret is where', (_form, text, kind) => {
    expect(findSecrets(line(text), SECRETS)).toEqual([`${kind} in second`]);
  });

  it.each(['173914628', '2438100001420', '•••• 0142', ''])('leaves %j alone', (text) => {
    expect(findSecrets(line(text), SECRETS)).toEqual([]);
  });
});
