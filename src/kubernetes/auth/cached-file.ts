// Caches a file that another process rewrites, such as a service account token.
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../runtime/clock.ts';
import { KubernetesError } from '../transport/kubernetes-error.ts';

/** Maximum age of the cached content, in ms. Kubelets rotate tokens long before they expire. */
const maxAge = 60_000;

export class CachedFile {
  readonly #path: string;
  readonly #clock: Clock;
  #content: { readonly text: string; readonly readAt: number } | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** The content, at most a minute old. Rejects with KUBERNETES_CREDENTIALS when the file is unreadable. */
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

  /** Drops the cached content: the next read goes to disk. */
  forget(): void {
    this.#content = undefined;
  }
}
