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
