// Decides which nodes are this release's, where several share a cluster: those whose Node has the labels of --node-selector.
// While no Node is known, the labels count that its agent copied to the CiliumNode. A node that moves in is served once
// nothing can take effect any more that its former release began. A node that an older release chooses as well is left to it.
import type { Labels, NodeSelector } from '../config/node-selector.ts';
import type { Options } from '../config/option-table.ts';
import { mayTakeEffectFor } from '../providers/contract/operations.ts';
import type { Clock } from '../runtime/clock.ts';
import {
  maxListed,
  type OverlapReport,
  type ScopeReport,
  type Unserved,
} from './reporting/process-status-report.ts';

/** Another release of the cluster, by its Lease. */
export interface OtherRelease {
  readonly lease: string;
  /** Undefined: it chooses every node. */
  readonly selector: NodeSelector | undefined;
  /** Whether it serves what both choose. */
  readonly isOlder: boolean;
}

/** `contested`: an older release chooses it, too. `settling`: it moved in, and its former release may still act on it. */
type Side = 'ours' | 'others' | 'contested' | 'settling';

interface KnownNode {
  /** Undefined while there is no such object. */
  node: Labels | undefined;
  copy: Labels | undefined;
  /** The labels that the Node showed last, also if it is gone. */
  last: Labels | undefined;
  side: Side;
}

const noLabels: Labels = {};
const nothing = (): void => undefined;

/** Other releases have options of their own: a minute is more than any call of a usual one lasts. */
export function settleTimeOf({
  cloudCallTimeout: callTimeout,
  consistencyWindow,
}: Pick<Options, 'cloudCallTimeout' | 'consistencyWindow'>): number {
  return Math.max(60_000, mayTakeEffectFor({ callTimeout, consistencyWindow }));
}

export class NodeScope {
  readonly #selector: NodeSelector | undefined;
  readonly #settleTime: number;
  readonly #clock: Pick<Clock, 'schedule'>;
  readonly #known = new Map<string, KnownNode>();
  /** Ends the wait of each node that settles. */
  readonly #cancels = new Map<string, () => void>();
  #others: readonly OtherRelease[] = [];
  /** Set while younger releases may still serve what both choose, but for what the selector of our former leader chose. */
  #former: { readonly selector: NodeSelector | undefined; readonly cancel: () => void } | undefined;
  /** Learns which node moved although no object of it changed. */
  onMove: (name: string) => void = nothing;

  /** `selector`: undefined if every node is ours. `settleTime`: how long what another release began may take effect, in ms. */
  constructor(selector: NodeSelector | undefined, settleTime: number, clock: Pick<Clock, 'schedule'>) {
    this.#selector = selector;
    this.#settleTime = settleTime;
    this.#clock = clock;
  }

  /** Whether labels count: nobody has to keep them otherwise. */
  get isSelective(): boolean {
    return this.#selector !== undefined;
  }

  /** Whether nothing of the node may be read, written or counted. */
  isOutside(name: string): boolean {
    return this.isSelective && this.#known.get(name)?.side !== 'ours';
  }

  /** Why a node gets nothing here; undefined if it is ours, or not known. */
  unserved(name: string): Unserved | undefined {
    const side = this.#known.get(name)?.side ?? 'ours';
    const { text: nodeSelector = '' } = this.#selector ?? {};
    if (side === 'ours') return undefined;
    if (side === 'contested') return { standing: 'contested', why: this.#overlapOf(name)?.why ?? '' };
    return { standing: side === 'others' ? 'leftToOthers' : side, nodeSelector };
  }

  /** Nodes that another release chooses, too, whichever serves them. */
  overlaps(): readonly OverlapReport[] {
    return this.#others.length === 0
      ? []
      : [...this.#known.keys()].flatMap((name) => this.#overlapOf(name) ?? []);
  }

  /** The other releases, as far as they are known. */
  setOthers(others: readonly OtherRelease[]): void {
    this.#others = others;
    this.#noteAll();
  }

  /** For `ms`, nodes that younger releases choose are left to them, unless the former leader of this release chose them. */
  awaitYounger(former: NodeSelector | undefined, ms: number): void {
    const cancel = this.#clock.schedule(ms, () => {
      this.#former = undefined;
      this.#noteAll();
    });
    this.#former = { selector: former, cancel };
    this.#noteAll();
  }

  #noteAll(): void {
    for (const [name, known] of this.#known) {
      this.#note(name, known);
      if (this.#known.get(name)?.side !== known.side) this.onMove(name);
    }
  }

  /** Undefined where every node is ours. */
  report(): ScopeReport | undefined {
    const selector = this.#selector;
    const overlaps = this.overlaps();
    return (
      selector && {
        nodeSelector: selector.text,
        leftToOthers: this.#leftToOthers,
        ...(overlaps.length > 0 && { overlaps: overlaps.slice(0, maxListed) }),
      }
    );
  }

  get #leftToOthers(): number {
    let count = 0;
    for (const { side } of this.#known.values()) if (side === 'others') count++;
    return count;
  }

  /** Takes in the labels of a Node; undefined once it is gone. */
  noteNode(name: string, labels: Labels | undefined): void {
    const known = this.#known.get(name);
    this.#note(name, { node: labels, copy: known?.copy, last: labels ?? known?.last });
  }

  /** Takes in all Nodes that there are: while they could not be read, some may have gone. */
  noteNodes(nodes: ReadonlyMap<string, { readonly labels?: Labels }>): void {
    for (const [name, { labels }] of nodes) this.noteNode(name, labels);
    for (const [name, { node }] of this.#known)
      if (node !== undefined && !nodes.has(name)) this.noteNode(name, undefined);
  }

  /** Takes in the labels of a CiliumNode; undefined once it is gone. */
  noteCiliumNode(name: string, labels: Labels | undefined): void {
    const known = this.#known.get(name);
    this.#note(name, { node: known?.node, copy: labels, last: known?.last });
  }

  stop(): void {
    this.#former?.cancel();
    for (const cancel of this.#cancels.values()) cancel();
  }

  #note(name: string, shown: Pick<KnownNode, 'node' | 'copy' | 'last'>): void {
    const selector = this.#selector;
    if (selector === undefined) return;
    if (shown.node === undefined && shown.copy === undefined) {
      this.#endWait(name);
      this.#known.delete(name);
      return;
    }
    const labels = labelsOf(shown);
    const isNew = this.#former !== undefined && this.#former.selector?.matches(labels) !== true;
    const isContested = this.#others.some((other) => (other.isOlder || isNew) && chooses(other, labels));
    const claim = isContested ? 'contested' : 'ours';
    const side = selector.matches(labels) ? claim : 'others';
    this.#place(name, shown, sideAfter(this.#known.get(name), side));
  }

  #overlapOf(name: string): OverlapReport | undefined {
    const known = this.#known.get(name);
    if (known === undefined || known.side === 'others') return undefined;
    const other = this.#others.find((each) => chooses(each, labelsOf(known)));
    if (other === undefined) return undefined;
    const { lease, selector, isOlder } = other;
    const chosen = selector === undefined ? 'it has no node-selector' : `node-selector ${selector.text}`;
    const since = known.side === 'contested' ? ', once that one has seen so' : '';
    const who = isOlder
      ? 'that one serves it, because its Lease is older'
      : `this one serves it, because its Lease is older${since}`;
    const why = `the release of the Lease ${lease} chooses the node, too (${chosen}), and ${who}: make the selectors disjoint, or delete the Lease ${lease} if that release is gone`;
    return { node: name, lease, reason: 'NodeSelectorsOverlap', why };
  }

  #place(name: string, shown: Pick<KnownNode, 'node' | 'copy' | 'last'>, side: Side): void {
    const before = this.#known.get(name)?.side;
    this.#known.set(name, { ...shown, side });
    if (side === before) return;
    this.#endWait(name);
    if (side === 'settling')
      this.#cancels.set(
        name,
        this.#clock.schedule(this.#settleTime, () => this.#settle(name)),
      );
  }

  #endWait(name: string): void {
    this.#cancels.get(name)?.();
    this.#cancels.delete(name);
  }

  #settle(name: string): void {
    this.#cancels.delete(name);
    const known = this.#known.get(name);
    if (known === undefined) return;
    known.side = 'ours';
    this.onMove(name);
  }
}

/** An agent may copy labels late: a CiliumNode that has none does not say that the node was another release's. */
function sideAfter(known: KnownNode | undefined, side: Exclude<Side, 'settling'>): Side {
  if (known === undefined || side !== 'ours') return side;
  const isSaid = known.last !== undefined || Object.keys(known.copy ?? noLabels).length > 0;
  return isSaid && known.side !== 'ours' ? 'settling' : 'ours';
}

function labelsOf({ last, copy = noLabels }: Pick<KnownNode, 'copy' | 'last'>): Labels {
  return last ?? copy;
}

function chooses({ selector }: OtherRelease, labels: Labels): boolean {
  return selector?.matches(labels) !== false;
}
