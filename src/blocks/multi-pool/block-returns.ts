// When the blocks of one node go back that its agent no longer lists: once no pod of the node shows an address of them. A list
// that is empty has to stay so for a while before it counts.
import type { PodReading, ShownPod } from '../../kubernetes/watch/shown-pods.ts';
import type { Change } from '../allocation/allocation-policy.ts';
import { addressCidr, type Cidr, isAmong, isSame, overlaps } from '../set/cidr.ts';
import type { ListedBlock } from './pool-book.ts';
import type { PoolNodeHolder } from './pool-node-holder.ts';

/** Blocks that a node shows, and showed. */
export interface ShownBlocks {
  readonly holder: PoolNodeHolder;
  readonly listed: readonly ListedBlock[];
  /** Blocks that it listed before its list was emptied, or too long to be read: no agent lists nothing, so it may still use them. */
  readonly unlisted: readonly ListedBlock[];
}

/** How long an agent lists nothing and asks for nothing before that counts, in ms: it looks at its object twice meanwhile. */
const emptyFor = 150_000;

/** Failures in a row after which the node says that its pods cannot be read. */
const patience = 3;

export class BlockReturns {
  /** Blocks that its agent no longer lists, and that stay its own until no pod of its node shows an address of them. */
  #waiting: readonly ListedBlock[] = [];
  /** Blocks that waited when the look began that is under way: only for those its answer counts. */
  #asked: readonly ListedBlock[] = [];
  /** Undefined before the first look. */
  #look: DropLook | undefined;
  /** Looks in a row that failed. */
  #failures = 0;
  /** How often its agent began to list nothing and to ask for nothing; odd while it does. */
  #emptied = 0;

  get areWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Addresses of the blocks that wait, as pods of the node show them, or why pods cannot be read. */
  get look(): DropLook | undefined {
    return this.areWaiting ? this.#look : undefined;
  }

  /** `offered`: by a write that may take effect yet. The look shows nothing of pods that use it by then. */
  beginLook(offered: readonly Cidr[]): void {
    this.#asked = this.#waiting.filter(({ cidr }) => !isAmong(offered, cidr));
  }

  /** A write offers these again. They go by no look that began before it is answered. */
  noteOffer(offered: readonly Cidr[]): void {
    this.#asked = this.#asked.filter(({ cidr }) => !isAmong(offered, cidr));
  }

  /** A block that was dropped meanwhile may be in use by a pod that the answer does not show yet. */
  lookedAt(reading: PodReading): void {
    this.#failures = reading.kind === 'unreadable' ? this.#failures + 1 : 0;
    const look = dropLook(this.#waiting, reading);
    const isTold = this.#look?.problem !== undefined || this.#failures >= patience;
    if (reading.kind === 'unreadable' && !reading.isDenied && !isTold)
      this.#look = { unused: [], kept: this.#look?.kept ?? [], problem: undefined };
    else this.#look = { ...look, unused: look.unused.filter((block) => this.#asked.includes(block)) };
  }

  /** Lets blocks wait that its agent dropped just now. Returns those that waited, and go now. */
  wait(dropped: readonly ListedBlock[], listed: readonly ListedBlock[]): readonly Cidr[] {
    const waiting = this.#waiting.filter((block) => !isListed(listed, block));
    const gone = waiting.filter((block) => this.#look?.unused.includes(block));
    this.#waiting = [...waiting.filter((block) => !gone.includes(block)), ...dropped];
    if (!this.areWaiting) {
      this.#look = undefined;
      this.#failures = 0;
    }
    return gone.map(({ cidr }) => cidr);
  }

  /** A pod of its node showed an address of it, and its agent does not list it. */
  keep(block: ListedBlock): void {
    this.#waiting = [...this.#waiting, block];
  }

  /** An agent that holds nothing lists nothing, and asks for nothing. So does an object of which somebody removed that. */
  noteEmpty({ holder, listed, unlisted }: ShownBlocks): Change['confirmIn'] {
    const { problem, requestProblem, requested } = holder;
    const isWhole = problem === undefined && requestProblem === undefined;
    const isEmpty = isWhole && requested.length === 0 && listed.length === 0 && unlisted.length > 0;
    if (isEmpty === (this.#emptied % 2 === 1)) return undefined;
    this.#emptied++;
    return isEmpty ? { ms: emptyFor, episode: this.#emptied } : undefined;
  }

  /** Whether its agent has listed nothing and asked for nothing all the time. Ends the episode if so. */
  confirm(episode: number): boolean {
    if (this.#emptied !== episode) return false;
    this.#emptied++;
    return true;
  }
}

/** A list without any block is no evidence that its agent gave them back: agents write none until they have one. */
export function shownBlocks({ listed, unlisted }: ShownBlocks): readonly ListedBlock[] {
  return unlisted.length === 0 ? listed : [...listed, ...unlisted];
}

export function isListed(blocks: readonly ListedBlock[], { cidr }: Pick<ListedBlock, 'cidr'>): boolean {
  return blocks.some((each) => isSame(each.cidr, cidr));
}

export interface DropLook {
  /** Dropped blocks of which no running pod has an address. */
  readonly unused: readonly ListedBlock[];
  /** Addresses of the others that running pods show, sorted. */
  readonly kept: readonly ShownPod[];
  /** Why pods cannot be read, and what to do; then none counts as unused. */
  readonly problem: string | undefined;
}

/** Decides which of the blocks that an agent no longer lists are in use by pods of its node. Pure. */
function dropLook(dropped: readonly ListedBlock[], reading: PodReading): DropLook {
  if (reading.kind === 'unreadable') return { unused: [], kept: [], problem: reading.problem };
  const shown = reading.shown.flatMap((each) => {
    const place = addressCidr(each.address);
    return place === undefined ? [] : [{ each, place }];
  });
  const used = (block: ListedBlock): readonly ShownPod[] =>
    shown.filter(({ place }) => overlaps(block.cidr, place)).map(({ each }) => each);
  const kept = dropped.flatMap(used).toSorted((a, b) => (a.pod + a.address < b.pod + b.address ? -1 : 1));
  return { unused: dropped.filter((block) => used(block).length === 0), kept, problem: undefined };
}
