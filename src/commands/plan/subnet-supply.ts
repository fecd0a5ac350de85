// Free addresses of subnets while a plan takes from them: the ledger that planning asks, and the cloud's part, which counts and
// refuses. No time passes that would lift a refusal.
import type { PlanningSubnet } from './planning-facts.ts';
import type { PlannedStep } from '../../node/allocate/planned-step.ts';
import { prefixesOf, subnetAddressesUsed } from '../../node/allocate/planned-step.ts';
import { SubnetLedger } from '../../providers/catalog/subnet-ledger.ts';
import { prefixSize } from '../../providers/contract/network-interface.ts';

/** Between two counts, in ms: far less than any refusal lasts. */
const tick = 1e-6;

export class SubnetSupply {
  readonly #ledger = new SubnetLedger();
  readonly #free: Map<string, number>;
  /** Whole blocks, where they are known. */
  readonly #blocks: Map<string, number>;
  #now = 0;

  constructor(subnets: readonly Pick<PlanningSubnet, 'id' | 'free' | 'freeBlocks'>[]) {
    this.#free = new Map(subnets.map(({ id, free }) => [id, free]));
    this.#blocks = new Map(
      subnets.flatMap(({ id, freeBlocks }) => (freeBlocks === undefined ? [] : [[id, freeBlocks]])),
    );
    this.#ledger.observe(this.#free, this.#now);
  }

  /** Addresses that planning may request. */
  free(subnetId: string): number {
    return this.#ledger.free(subnetId, this.#now);
  }

  maxPrefixes(subnetId: string): number {
    return this.#ledger.maxPrefixes(subnetId, this.#now);
  }

  /** Addresses that are left. */
  left(subnetId: string): number {
    return this.#free.get(subnetId) ?? 0;
  }

  /** Takes addresses of an instance that is launched. Returns whether there were so many. */
  launch(subnetId: string, count: number): boolean {
    if (this.left(subnetId) < count) return false;
    this.#take(subnetId, count);
    return true;
  }

  /** Answers a step as the cloud would, and remembers a refusal as planning does. Returns whether it is done. */
  carryOut(step: PlannedStep): boolean {
    const { subnetId } = step;
    const count = subnetAddressesUsed(step);
    const prefixes = prefixesOf(step);
    if (count > this.left(subnetId) || prefixes > this.#blocksOf(subnetId)) {
      if (prefixes > 0) this.#ledger.fragmented(subnetId, prefixes, this.#now);
      else this.#ledger.exhausted(subnetId, this.#now);
      return false;
    }
    const blocks = this.#blocks.get(subnetId);
    if (blocks !== undefined) this.#blocks.set(subnetId, blocks - prefixes);
    this.#take(subnetId, count);
    return true;
  }

  #blocksOf(subnetId: string): number {
    const possible = Math.floor(this.left(subnetId) / prefixSize);
    return Math.min(possible, this.#blocks.get(subnetId) ?? Infinity);
  }

  #take(subnetId: string, count: number): void {
    this.#free.set(subnetId, this.left(subnetId) - count);
    this.#now += tick;
    this.#ledger.observe(this.#free, this.#now);
  }
}
