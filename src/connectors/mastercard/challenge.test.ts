import fc from 'fast-check';
import { expect, test } from 'vitest';
import { challengeIn } from './challenge.ts';

const FORM =
  '<div id="threedsChallengeRedirect" xmlns="http://www.w3.org/1999/html"><form id="f" method="POST" action="https://acs.example/c?a=1&amp;b=2" target="challengeFrame">' +
  '<input type="hidden" name="creq" value="eyJ0aHJlZQ&#61;&#61;"/><input type="submit" value="Go"></form>' +
  '<iframe name="challengeFrame"></iframe><script>document.getElementById("f").submit()</script></div>';

test('the issuer’s form becomes an address and its fields', () => {
  expect(challengeIn(FORM)).toEqual({
    action: 'https://acs.example/c?a=1&b=2',
    fields: [{ name: 'creq', value: 'eyJ0aHJlZQ==' }],
  });
});

test.each([
  ['nothing', ''],
  ['no form', '<p>SUCCESS</p>'],
  ['a form that does not post', FORM.replace('POST', 'GET')],
  ['a form without fields', FORM.replace('name="creq"', '')],
  ['a script for an address', FORM.replace('https://acs.example/c?a=1&amp;b=2', 'javascript:alert(1)')],
  ['a data address', FORM.replace('https://acs.example/c?a=1&amp;b=2', 'data:text/html,x')],
  ['a relative address', FORM.replace('https://acs.example/c?a=1&amp;b=2', '/c')],
  ['credentials in the address', FORM.replace('acs.example', 'a:b@acs.example')],
  ['too long a value', FORM.replace('eyJ0aHJlZQ', 'x'.repeat(70_000))],
])('%s is not a challenge', (_name, html) => {
  expect(challengeIn(html)).toBeUndefined();
});

test('whatever is written, no markup and no other scheme comes out, and nothing is thrown', () => {
  const piece = fc.constantFrom(
    '<form method=post action=',
    'javascript:x',
    'https://a.example/',
    '>',
    '<input name=a value=',
    '"',
    '</form>',
    '<script>',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 12 }), (pieces) => {
      const found = challengeIn(pieces.join(''));
      if (found !== undefined) expect(found.action).toMatch(/^https?:/i);
    }),
  );
});
