// What controllers did, apart from how they came to it: calls to the cloud with all arguments, and what CiliumNodes show after
// each write of theirs, without texts. Two versions of the sources that behave alike have the same acts.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { KubernetesObject } from '../../src/simulator/kubernetes/objects/kubernetes-object.ts';
import { objectAt } from '../../src/simulator/workload/json.ts';

export interface ActDigest {
  readonly digest: string;
  /** A mark of 3 characters for each act, in their order: tells the first one that differs. */
  readonly marks: string;
}

export class Acts {
  /** Empty unless kept. */
  readonly kept: string[] = [];
  readonly #keeps: boolean;
  readonly #digest = createHash('sha256');
  #marks = '';
  #instant = -Infinity;
  #pending: string[] = [];

  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  /** Acts of one instant count in any order. */
  add(now: number, text: string): void {
    if (now !== this.#instant) this.#endInstant();
    this.#instant = now;
    this.#pending.push(text);
  }

  /** To be asked once, at the end. */
  end(): ActDigest {
    this.#endInstant();
    return { digest: this.#digest.digest('hex').slice(0, 16), marks: this.#marks };
  }

  #endInstant(): void {
    for (const text of this.#pending.toSorted()) {
      const line = `${this.#instant} ${text}`;
      this.#digest.update(`${line}\n`);
      this.#marks += createHash('sha256').update(line).digest('base64url').slice(0, 3);
      if (this.#keeps) this.kept.push(line);
    }
    this.#pending = [];
  }
}

/** What a CiliumNode shows to its agent, without texts. */
export function shownText(node: KubernetesObject | undefined): string {
  if (node === undefined) return 'nothing';
  const shown = [
    objectAt(node, 'spec', 'ipam', 'pool'),
    objectAt(node, 'status', 'eni'),
    objectAt(node, 'status', 'ipam', 'release-ips'),
  ];
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 12);
}

export type ActDigests = ReadonlyMap<string, ActDigest>;

export function writeActs(file: string, all: ActDigests): void {
  const lines = [...all].map(([seed, { digest, marks }]) => `${seed} ${digest} ${marks}\n`);
  writeFileSync(file, lines.toSorted().join(''));
}

/** Throws an Error where a line is none of `writeActs`. */
export function readActs(file: string | undefined): ActDigests | undefined {
  if (file === undefined) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return new Map(
    lines.map((line, index) => {
      const [seed, digest, marks = ''] = line.split(' ');
      if (seed === undefined || digest === undefined)
        throw new Error(`${file}:${index + 1} is not a seed, a digest and the marks of its acts`);
      return [seed, { digest, marks }];
    }),
  );
}

/** The place of the first act that differs; undefined where none does. */
export function firstDifference(before: ActDigest, after: ActDigest): number | undefined {
  if (before.digest === after.digest) return undefined;
  const length = Math.max(before.marks.length, after.marks.length) / 3;
  const markAt = ({ marks }: ActDigest, index: number): string => marks.slice(index * 3, index * 3 + 3);
  const index = Array.from({ length }, (_, place) => place).find(
    (place) => markAt(before, place) !== markAt(after, place),
  );
  return index ?? length;
}
