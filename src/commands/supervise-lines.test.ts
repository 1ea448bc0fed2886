import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wholeLines } from './supervise-lines.ts';

it('passes on whole lines, all of them and in order, in whatever pieces they arrive', () => {
  const text = fc.array(fc.constantFrom('a', 'b', '\n'), { maxLength: 30 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(text), (arriving) => {
      const passed: string[] = [];
      const take = wholeLines((lines) => passed.push(lines));
      for (const part of arriving) take(part);
      const all = arriving.join('');
      expect(passed.join('')).toBe(all.slice(0, all.lastIndexOf('\n') + 1));
      expect(passed.every((lines) => lines.endsWith('\n'))).toBe(true);
    }),
  );
});
