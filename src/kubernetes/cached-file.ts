// A file that somebody else rewrites from time to time, such as a service account's token.
import { readFile } from 'node:fs/promises';
import type { Clock } from '../scheduling/clock.ts';
import { KubernetesError } from './kubernetes-error.ts';

/** For how long a content is believed, in ms. Kubelets rewrite tokens long before the old ones end. */
const maxAge = 60_000;

export class CachedFile {
  readonly #path: string;
  readonly #clock: Clock;
  #content: { readonly text: string; readonly readAt: number } | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Its content, at most a minute old. Rejects with a KUBERNETES_CREDENTIALS error when it cannot be read. */
  async read(): Promise<string> {
    const now = this.#clock.monotonic();
    if (this.#content !== undefined && now - this.#content.readAt < maxAge) return this.#content.text;
    try {
      const text = await readFile(this.#path, 'utf8');
      this.#content = { text, readAt: now };
      return text;
    } catch (cause) {
      const details = { path: this.#path };
      throw new KubernetesError('KUBERNETES_CREDENTIALS', `cannot read ${this.#path}`, { details, cause });
    }
  }

  /** The next read goes to the disk. */
  forget(): void {
    this.#content = undefined;
  }
}
