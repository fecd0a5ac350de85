// Records what controllers do: each cloud call with all its arguments, and what each CiliumNode shows after their
// writes, without messages. Two versions of the sources that behave alike record the same actions.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { KubernetesObject } from '../../src/simulator/kubernetes/objects/kubernetes-object.ts';
import { objectAt } from '../../src/simulator/workload/json.ts';

export interface ActionDigest {
  readonly digest: string;
  /** A mark of 3 characters per action, in order. It locates the first action that differs. */
  readonly marks: string;
}

export class ActionRecorder {
  /** Empty unless traced. */
  readonly log: string[] = [];
  readonly #isTraced: boolean;
  readonly #digest = createHash('sha256');
  #marks = '';
  #instant = -Infinity;
  #pending: string[] = [];

  constructor(isTraced: boolean) {
    this.#isTraced = isTraced;
  }

  /** The order of actions within one instant does not count. */
  add(now: number, text: string): void {
    if (now !== this.#instant) this.#endInstant();
    this.#instant = now;
    this.#pending.push(text);
  }

  /** Call it once, at the end. */
  end(): ActionDigest {
    this.#endInstant();
    return { digest: this.#digest.digest('hex').slice(0, 16), marks: this.#marks };
  }

  #endInstant(): void {
    for (const text of this.#pending.toSorted()) {
      const line = `${this.#instant} ${text}`;
      this.#digest.update(`${line}\n`);
      this.#marks += createHash('sha256').update(line).digest('base64url').slice(0, 3);
      if (this.#isTraced) this.log.push(line);
    }
    this.#pending = [];
  }
}

/** What a CiliumNode shows to its agent, without messages. */
export function shownText(node: KubernetesObject | undefined): string {
  if (node === undefined) return 'nothing';
  const shown = [
    objectAt(node, 'spec', 'ipam', 'pool'),
    objectAt(node, 'status', 'eni'),
    objectAt(node, 'status', 'ipam', 'release-ips'),
  ];
  for (const cloud of ['azure', 'alibaba-cloud']) {
    const own = objectAt(node, 'status', cloud);
    if (Object.keys(own).length > 0) shown.push(own);
  }
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 12);
}

export type ActionDigests = ReadonlyMap<string, ActionDigest>;

export function writeActionDigests(file: string, all: ActionDigests): void {
  const lines = [...all].map(([seed, { digest, marks }]) => `${seed} ${digest} ${marks}\n`);
  writeFileSync(file, lines.toSorted().join(''));
}

/** Throws an Error for a line that `writeActionDigests` did not write. */
export function readActionDigests(file: string | undefined): ActionDigests | undefined {
  if (file === undefined) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return new Map(
    lines.map((line, index) => {
      const [seed, digest, marks = ''] = line.split(' ');
      if (seed === undefined || digest === undefined)
        throw new Error(`${file}:${index + 1} is not a seed, a digest and the marks of its actions`);
      return [seed, { digest, marks }];
    }),
  );
}

/** Index of the first action that differs; undefined if none does. */
export function firstDifference(before: ActionDigest, after: ActionDigest): number | undefined {
  if (before.digest === after.digest) return undefined;
  const length = Math.max(before.marks.length, after.marks.length) / 3;
  const markAt = ({ marks }: ActionDigest, index: number): string => marks.slice(index * 3, index * 3 + 3);
  const index = Array.from({ length }, (_, place) => place).find(
    (place) => markAt(before, place) !== markAt(after, place),
  );
  return index ?? length;
}
