// Keeps the output of the demonstration's controllers in one file on disk. The file stays when the demonstration fails
// and is removed otherwise.
import { createWriteStream, rmSync, type WriteStream } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCode } from '../exit-code.ts';

export class ControllerLog {
  readonly path: string;
  readonly #stream: WriteStream;

  private constructor(directory: string) {
    this.path = join(directory, 'controller.log');
    this.#stream = createWriteStream(this.path, { flags: 'a' });
    // A full disk must cost only the log, not the demonstration.
    this.#stream.on('error', () => undefined);
    process.once('exit', (code) => {
      if (code !== exitCode.failure && code !== exitCode.tooSlow)
        rmSync(directory, { recursive: true, force: true });
    });
  }

  /** In a directory of its own. */
  static async create(): Promise<ControllerLog> {
    return new ControllerLog(await mkdtemp(join(tmpdir(), 'headwater-demo-log-')));
  }

  write(text: string): void {
    this.#stream.write(text);
  }
}
