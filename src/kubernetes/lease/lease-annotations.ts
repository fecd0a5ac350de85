// Decides which Lease annotations to write for the next leader. They travel with renewals and must never fail one:
// after a refusal, the next attempts omit them.
import type { ApiRefusal } from '../transport/api-reply.ts';
import { annotationOf, type LeaseRecord } from './lease-record.ts';

export type AnnotationChanges = ReadonlyMap<string, string | undefined>;

/** Pause after a definite refusal, in ms. */
const refusedPause = 60_000;

export class LeaseAnnotations {
  readonly #wanted = new Map<string, string | undefined>();
  /** Pause after any other failure, in ms: attempts in it carry no annotation changes. */
  readonly #failedPause: number;
  /** Monotonic ms. */
  #pausedUntil = -Infinity;

  constructor(failedPause: number) {
    this.#failedPause = failedPause;
  }

  /** Keeps `text` under this key from now on; undefined removes the annotation. */
  want(key: string, text: string | undefined): void {
    this.#wanted.set(key, text);
  }

  /** The changes for the next write; undefined when there are none. */
  changesTo(lease: LeaseRecord | undefined, now: number): AnnotationChanges | undefined {
    if (now < this.#pausedUntil) return undefined;
    const changes = [...this.#wanted].filter(
      ([key, text]) => (lease === undefined ? undefined : annotationOf(lease, key)) !== text,
    );
    return changes.length === 0 ? undefined : new Map(changes);
  }

  /** Records that an attempt with changes failed, or is late. */
  failed({ kind }: Pick<ApiRefusal, 'kind'>, now: number): void {
    this.#pausedUntil = now + (kind === 'unavailable' ? this.#failedPause : refusedPause);
  }
}
