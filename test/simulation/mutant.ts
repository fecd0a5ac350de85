// A deliberate mistake: what it edits in the sources, and what has to detect it.

export interface Edit {
  /** Relative to `src/`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** What detects it, in place of the usual seeds. */
  readonly seeds?: string;
}

/** The last look at the pods would hide most mistakes before it. */
export const withoutLastLook: Edit = {
  file: 'node/release/pod-use.ts',
  from: 'this.#readPods = read;',
  to: 'this.#readPods = undefined;',
};

/** All others have no last look either. */
export const releasedWhileShown: Mutant = {
  name: 'an address is released although a running pod shows it',
  edits: [],
  seeds: 'pods-forgotten-by-their-agent.json',
};
