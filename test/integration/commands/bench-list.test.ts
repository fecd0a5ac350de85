import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '..', '..', '..');

test('the list of figures ends without a complaint when its reader is gone', async () => {
  const child = spawn(process.execPath, ['bench/run.ts', '--list'], { cwd: root });
  child.stdout.destroy();

  const [err] = await Promise.all([text(child.stderr), once(child, 'close')]);

  expect({ code: child.exitCode, err }).toEqual({ code: 0, err: '' });
});
