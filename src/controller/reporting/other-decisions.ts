// Records what another program decided while a dry run would have decided: of each node, the last time.
import type { Logger } from '../../observability/logger.ts';
import { counted } from './dry-run-verdict.ts';
import { maxListed } from './process-status-report.ts';

export interface OtherDecision {
  readonly node: string;
  readonly would: string;
  readonly did: string;
}

export type DryRunOutcome =
  | { readonly kind: 'same' }
  | { readonly kind: 'otherwise'; readonly would: string; readonly did: string };

export interface OtherDecisionsReport {
  /** Nodes where another program did last as Headwater would have done, since the dry run or this leader began. */
  readonly same: number;
  /** Nodes where it did something else last. */
  readonly otherwise: number;
  readonly decidedOtherwise: readonly OtherDecision[];
}

export class OtherDecisions {
  readonly #log: Pick<Logger, 'info'>;
  readonly #otherwise = new Map<string, OtherDecision>();
  readonly #same = new Set<string>();

  /** Call `drop` or `keepOnly` as nodes go: another node may come under the name of one. */
  constructor(log: Pick<Logger, 'info'>) {
    this.#log = log;
  }

  /** Logs a decision that is news. */
  note(node: string, outcome: DryRunOutcome): void {
    const before = this.#otherwise.get(node);
    this.drop(node);
    if (outcome.kind === 'same') {
      this.#same.add(node);
      return;
    }
    const { would, did } = outcome;
    this.#otherwise.set(node, { node, would, did });
    if (before?.would === would && before.did === did) return;
    this.#log.info('another program decided otherwise than the dry run', { node, would, did });
  }

  /** The last decision on a node; undefined if it was the same, or nothing is known of any. */
  on(node: string): Omit<OtherDecision, 'node'> | undefined {
    const decided = this.#otherwise.get(node);
    return decided && { would: decided.would, did: decided.did };
  }

  /** `nodes`: names of those that count. */
  report(nodes: ReadonlySet<string>): OtherDecisionsReport {
    const decided = [...this.#otherwise.values()].filter(({ node }) => nodes.has(node));
    return {
      same: [...this.#same].filter((node) => nodes.has(node)).length,
      otherwise: decided.length,
      decidedOtherwise: decided.slice(0, maxListed),
    };
  }

  drop(node: string): void {
    this.#otherwise.delete(node);
    this.#same.delete(node);
  }

  /** `nodes`: names of those that are there. */
  keepOnly(nodes: ReadonlySet<string>): void {
    for (const node of [...this.#otherwise.keys(), ...this.#same]) if (!nodes.has(node)) this.drop(node);
  }

  forget(): void {
    this.#otherwise.clear();
    this.#same.clear();
  }
}

/** Worded to follow "after a look at". */
export function looksAt(otherwise: number): readonly string[] {
  return otherwise === 0 ? [] : [`${counted(otherwise, 'node')} where another program decided otherwise`];
}
