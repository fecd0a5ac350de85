// promtool, as a command.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface PromtoolAnswer {
  readonly ok: boolean;
  /** All that it said. */
  readonly text: string;
}

export async function promtool(args: readonly string[], directory: string): Promise<PromtoolAnswer> {
  try {
    const { stdout, stderr } = await execute('promtool', args, { cwd: directory, maxBuffer: 2 ** 26 });
    return { ok: true, text: stdout + stderr };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    return { ok: false, text: stdout + stderr + (error instanceof Error ? error.message : '') };
  }
}
