// The completion of shells: bash runs it here; the scripts of the others are compared by what they must name.
import { describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { headwater, linesOf, program } from './child.ts';

const run = promisify(execFile);

/** What bash offers for the last of these words. */
async function offered(words: readonly string[]): Promise<readonly string[]> {
  const script = [
    `source <(${program} completion bash)`,
    `COMP_WORDS=(headwater ${words.map((word) => `'${word}'`).join(' ')})`,
    `COMP_CWORD=${words.length}`,
    '_headwater',
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join('\n');
  return linesOf((await run('bash', ['-c', script])).stdout).filter((line) => line !== '');
}

describe('headwater completion', () => {
  test.each([
    [['sta'], ['status']],
    [['explain', '--out'], ['--output']],
    [['status', '--w'], ['--watch']],
    [['no-such-command', '--'], []],
  ])('makes bash complete %j', async (words, expected) => {
    expect(await offered(words)).toEqual(expected);
  });

  test.each([
    [
      'zsh',
      [/^#compdef headwater kubectl-headwater$/, /'status:show whether/, /explain\) compadd -- .*--address/],
    ],
    ['fish', [/--command kubectl-headwater .* --arguments status/, /from status' --long-option watch$/]],
  ])('names commands and options for %s', async (shell, expected) => {
    const { code, out, err } = await headwater(['completion', shell]);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const line of expected) expect(linesOf(out)).toContainEqual(expect.stringMatching(line));
  });

  test.each([
    [['completion', 'csh'], 'headwater completion: accepted: bash, zsh, fish'],
    [['completion'], "headwater completion: missing required argument 'shell'"],
  ])('ends with exit code 2 and one line: %j', async (args, line) => {
    expect(await headwater(args)).toMatchObject({ code: 2, out: '', err: `${line}\n` });
  });
});
