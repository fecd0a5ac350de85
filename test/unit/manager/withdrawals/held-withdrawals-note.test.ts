import { describe, expect, test } from '@jest/globals';
import { noteText, readNote } from '../../../../src/manager/withdrawals/withdrawal-brake.ts';

const note = { since: Date.UTC(2026, 0, 1), token: '0123456789', nodes: 4, sentence: 'much is missing' };

describe('the note of held withdrawals that a leader leaves', () => {
  test('is read as it was written', () => {
    expect(readNote(noteText(note))).toEqual(note);
    expect(readNote(noteText({ ...note, since: undefined }))).toEqual({ ...note, since: undefined });
  });

  test('has a bounded length', () => {
    expect(noteText({ ...note, sentence: 'x'.repeat(100_000) }).length).toBeLessThan(1200);
  });

  test.each(['', '{', 'null', '[]', '7', '{"since":7,"token":{},"nodes":-1,"sentence":[]}'])(
    'still says that withdrawals were held when it cannot be read: %s',
    (text) => {
      expect(readNote(text)).toEqual({
        since: undefined,
        token: '',
        nodes: 0,
        sentence: 'its reason cannot be read',
      });
    },
  );
});
