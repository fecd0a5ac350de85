import { describe, expect, test } from '@jest/globals';
import { problemLine } from '../../../src/commands/problem-line.ts';

const clock = { wall: () => Date.UTC(2026, 0, 2) };

describe('the line with the reason why a command cannot start', () => {
  test.each([
    ['run', 'headwater run: no "way"\n'],
    ['demo', 'headwater demo: no "way"\n'],
    [undefined, 'headwater: no "way"\n'],
  ])('names the command for people: %s', (command, line) => {
    expect(problemLine(command, 'no "way"', 'people', clock)).toBe(line);
  });

  test('is JSON for programs, as the log is', () => {
    expect(JSON.parse(problemLine('run', 'no\n"way"', 'programs', clock))).toEqual({
      level: 'error',
      time: '2026-01-02T00:00:00.000Z',
      problem: 'no\n"way"',
      msg: 'cannot start',
    });
  });

  test.each(['simulate', 'demo', undefined])(
    'is plain text for programs, too, if the command has no log: %s',
    (command) => {
      const [programs, people] = (['programs', 'people'] as const).map((readers) =>
        problemLine(command, 'no', readers, clock),
      );

      expect(programs).toBe(people);
    },
  );
});
