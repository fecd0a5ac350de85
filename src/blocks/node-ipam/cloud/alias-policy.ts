// Gives Nodes whose pod CIDRs follow a cloud the CIDRs that the cloud routes to their instances, and then the condition
// that their network is available. A CIDR that a Node shows stays with the Node while it exists, and no second Node gets
// it.
import type {
  AllocationPolicy,
  Change,
  MissingBlock,
  Reservation,
  ServiceFacts,
} from '../../allocation/allocation-policy.ts';
import { absentFamily, shownBlocks, type ShownBlocks } from '../../allocation/block-condition.ts';
import type { BlockCondition } from '../../allocation/block-holders.ts';
import type { BlockLedger } from '../../allocation/block-ledger.ts';
import { bySeniority } from '../../allocation/seniority.ts';
import { type Cidr, cidrOf, cidrText, type Family, isAmong, overlaps } from '../../set/cidr.ts';
import {
  aliasCondition,
  type AliasObstacle,
  type AliasPlan,
  aliasPlan,
  type AliasWords,
} from './alias-condition.ts';
import { type AliasHolder, isOtherState, type NodeHolders } from '../node-holders.ts';
import type { AliasReads } from './alias-reads.ts';

export interface AliasPolicyDeps {
  /** A ledger without pools: it only records which Node has which CIDR. */
  readonly ledger: BlockLedger;
  readonly writer: Pick<NodeHolders, 'assign' | 'setNetworkReady'>;
  readonly reads: Pick<AliasReads, 'forget' | 'latest' | 'request'>;
  /** The families that a Node has to have, the primary one first; empty if those count that the cloud routes. */
  readonly families: readonly Family[];
  /** The addresses of Services. */
  readonly services: readonly Cidr[];
  readonly words: AliasWords;
}

interface Known {
  holder: AliasHolder;
  shown: ShownBlocks;
  /** CIDRs of a write that has no definite answer yet, or that a dry run would make. */
  reserved: readonly Cidr[];
}

/** The pool name under which blocks from the cloud are counted. */
export const cloudPool = 'cloud';

export class AliasPolicy implements AllocationPolicy<AliasHolder> {
  /** The pod CIDRs, then the condition. */
  readonly writesInARow = 2;
  readonly #deps: AliasPolicyDeps;
  /** By uid. */
  readonly #known = new Map<string, Known>();

  constructor(deps: AliasPolicyDeps) {
    this.#deps = deps;
  }

  hold(holder: AliasHolder, before: AliasHolder | undefined): Change {
    const { ledger, reads } = this.#deps;
    const shown = shownBlocks(holder);
    const reserved = shown.cidrs.length > 0 ? [] : (this.#known.get(holder.uid)?.reserved ?? []);
    this.#known.set(holder.uid, { holder, shown, reserved });
    if (isReady(holder) || holder.isLeftAlone) reads.forget(holder.uid);
    else reads.request(holder.uid, holder);
    if (before !== undefined && !this.isNews(holder, before)) return { others: [], freed: [] };
    ledger.holdOnly(holder.uid, [...shown.cidrs, ...reserved]);
    return { others: ledger.othersHolding(shown.cidrs, holder.uid), freed: [] };
  }

  release({ uid }: AliasHolder): Change {
    const { ledger, reads } = this.#deps;
    reads.forget(uid);
    this.#known.delete(uid);
    const held = ledger.heldBy(uid);
    return { others: this.#wanting(held), freed: ledger.release(uid, held) };
  }

  isOurs(holder: AliasHolder): boolean {
    const held = [...this.#deps.ledger.heldBy(holder.uid), ...(this.#aliasesOf(holder) ?? [])];
    return shownBlocks(holder).cidrs.every((cidr) => isAmong(held, cidr));
  }

  isNews(holder: AliasHolder, before: AliasHolder): boolean {
    return isOtherState(holder, before);
  }

  missingBlocks({ uid }: AliasHolder): readonly MissingBlock[] {
    const known = this.#known.get(uid);
    if (known === undefined || isReady(known.holder)) return [];
    const { families: own } = this.#deps;
    const wanted = own.length === 0 ? (['ipv4'] as const) : own;
    return wanted.map((family) => ({ pool: cloudPool, family }));
  }

  reserve({ uid }: AliasHolder): Reservation | undefined {
    const { writer, ledger } = this.#deps;
    const known = this.#known.get(uid);
    const plan = known && this.#planOf(known);
    if (known === undefined || plan === undefined) return undefined;
    const { holder } = known;
    if (plan.kind === 'confirm')
      return {
        write: (signal) => writer.setNetworkReady(holder, signal),
        blocks: holder.blocks,
        fresh: [],
        isKnown: true,
        allocated: [],
      };
    if (plan.kind !== 'assign' || this.#obstacleTo(known, plan.cidrs) !== undefined) return undefined;
    const isKnown = known.reserved.length > 0;
    known.reserved = plan.cidrs;
    for (const cidr of plan.cidrs) ledger.hold(uid, cidr);
    const blocks = plan.cidrs.map(cidrText);
    const write: Reservation['write'] = (signal) => writer.assign(holder, blocks, signal);
    return { write, blocks, fresh: blocks, isKnown, allocated: [] };
  }

  cancel({ uid }: AliasHolder): void {
    const known = this.#known.get(uid);
    if (known === undefined) return;
    this.#deps.ledger.release(uid, known.reserved);
    known.reserved = [];
  }

  conditionOf(holder: AliasHolder, service: ServiceFacts): BlockCondition | undefined {
    const known = this.#known.get(holder.uid);
    if (known === undefined) return undefined;
    const plan = service.isWaiting ? this.#planOf(known) : undefined;
    const cidrs = plan?.kind === 'assign' ? plan.cidrs : known.shown.cidrs;
    return aliasCondition(
      {
        holder,
        shown: known.shown,
        absent: absentFamily(this.#deps.families, known.shown),
        latest: this.#deps.reads.latest(holder.uid),
        plan,
        obstacle: this.#obstacleTo(known, cidrs),
        service,
      },
      this.#deps.words,
    );
  }

  #planOf({ holder, shown }: Known): AliasPlan | undefined {
    const aliases = this.#aliasesOf(holder);
    if (aliases === undefined || shown.unreadable !== undefined) return undefined;
    return aliasPlan({ shown: shown.cidrs, aliases, families: this.#deps.families });
  }

  /** The CIDRs that the cloud last showed; undefined if it was not asked or did not answer. */
  #aliasesOf({ uid }: AliasHolder): readonly Cidr[] | undefined {
    const reading = this.#deps.reads.latest(uid)?.reading;
    return reading?.kind === 'read' ? reading.aliases.flatMap((text) => cidrOf(text) ?? []) : undefined;
  }

  /** Why these cannot be the pod CIDRs of the Node. If two Nodes show the same CIDR, the younger one has the conflict. */
  #obstacleTo({ holder, shown }: Known, cidrs: readonly Cidr[]): AliasObstacle | undefined {
    for (const cidr of cidrs) {
      const others = this.#deps.ledger
        .othersHolding([cidr], holder.uid)
        .flatMap((uid) => this.#known.get(uid)?.holder ?? []);
      const other = others.find((each) => shown.cidrs.length === 0 || bySeniority(each, holder) < 0);
      if (other !== undefined) return { kind: 'conflict', cidr, other: other.name };
    }
    const cidr = cidrs.find((each) => this.#deps.services.some((service) => overlaps(service, each)));
    return cidr && { kind: 'reserved', cidr };
  }

  /** Uids of Nodes that wait for a part of these. */
  #wanting(cidrs: readonly Cidr[]): readonly string[] {
    return [...this.#known.values()]
      .filter((known) => !isReady(known.holder))
      .filter(({ holder }) =>
        (this.#aliasesOf(holder) ?? []).some((alias) => cidrs.some((cidr) => overlaps(alias, cidr))),
      )
      .map(({ holder }) => holder.uid);
  }
}

function isReady({ blocks, isNetworkReady }: AliasHolder): boolean {
  return blocks.length > 0 && isNetworkReady;
}
