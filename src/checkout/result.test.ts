import { expect, test } from 'vitest';
import { REASONS } from '../domain/reason.ts';
import { whyText } from './result.ts';

test('a line of French that says why it ended never begins with its punctuation', () => {
  for (const reason of REASONS) {
    expect(whyText('fr', { status: 'failed', reason }), reason).not.toMatch(/ [:;?!»]|« /);
  }
  expect(whyText('fr', { status: 'failed', reason: 'form_unusable' })).toContain('utilisable\u00a0; aucun');
});
