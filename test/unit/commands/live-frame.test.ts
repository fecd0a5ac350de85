import { describe, expect, test } from '@jest/globals';
import { LiveFrame } from '../../../src/commands/live-frame.ts';
import { frameOf } from '../../../src/commands/status/print-lines.ts';
import { watchedLines } from '../../../src/commands/status/watch.ts';

describe('a live frame', () => {
  test('erases the lines it drew before, and none that it leaves', () => {
    let written = '';
    const frame = new LiveFrame((text) => (written += text));

    frame.draw(['a', 'b']);
    frame.draw(['c']);
    frame.leave(['d']);
    frame.draw(['e']);

    expect(written).toBe('a\nb\n\u001b[2A\u001b[0Jc\n\u001b[1A\u001b[0Jd\ne\n');
  });

  test('says what it leaves out for lack of rows', () => {
    const lines = ['a', 'b', 'c', 'd'].map((text) => ({ text }));

    expect(frameOf(lines, 4)).toEqual(['a', 'b', 'c', 'd']);
    expect(frameOf(lines, 3)).toEqual(['a', 'b', 'and 2 more lines']);
    expect(frameOf(lines, 0)).toEqual(['and 4 more lines']);
  });

  test('keeps the last answer while none comes, and says so first', () => {
    const last = [{ text: 'a-1: leading' }];

    expect(watchedLines(last, undefined, 80)).toEqual(last);
    expect(watchedLines(last, 'cannot read a', 80).map(({ text }) => text)).toEqual([
      'no answer   cannot read a',
      'a-1: leading',
    ]);
  });
});
