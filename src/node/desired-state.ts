// What the CiliumNode of a managed node should hold: what its agent may be shown of what the cloud has, without what is on
// its way out or offered by others. To work it out is to claim the addresses for the node.
import { isDeepStrictEqual } from 'node:util';
import type { Infrastructure } from '../providers/infrastructure.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import type { Claimed } from './address-claims.ts';
import type { AddressReleaser } from './address-releaser.ts';
import type { Assessment } from './assessment.ts';
import { podAddresses } from './capacity.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { IdleInterfaces } from './idle-interfaces.ts';
import type { NodeContext } from './node-context.ts';
import { emptyOffer, type OfferFacts, offerOf, showable, type Withheld } from './offer.ts';
import type { Desired, Offer } from './publication.ts';
import { doubtedOn, splitOn, unaddable } from './unaddable.ts';

export interface DesiredStateDeps {
  readonly context: Pick<
    NodeContext,
    'inventory' | 'infrastructure' | 'implementation' | 'claims' | 'prune' | 'prunesError'
  >;
  readonly instanceId: string;
  /** The object showed, when the node began, what another instance has. */
  readonly showsAnother: boolean;
  readonly node: () => CiliumNode;
  readonly assess: () => Assessment;
  /** Why the node does not get what it needs. */
  readonly diagnosis: () => Diagnosis | undefined;
  /** What is leaving the node. */
  readonly cloud: {
    readonly releaser: Pick<AddressReleaser, 'evaluate' | 'handshake' | 'outgoing'>;
    readonly idle: Pick<IdleInterfaces, 'leaving'>;
  };
  /** What others offer of the node's addresses changed. */
  readonly onClaimed: (claimed: Claimed) => void;
}

const noAddresses: ReadonlySet<string> = new Set();
/** Nobody else offers anything of the node's. */
const unclaimed: Claimed = { withheld: new Map(), shared: new Map() };

export class DesiredState {
  readonly #deps: DesiredStateDeps;
  #claimed = unclaimed;
  #last:
    | {
        readonly view: InstanceView;
        readonly infrastructure: Infrastructure;
        readonly rest: Pick<OfferFacts, 'requirements' | 'limits'> & Withheld;
        /** Undefined once `heldBy` holds all of it: it is not needed again as long as that is the newest state. */
        readonly offer: Offer | undefined;
        readonly heldBy: CiliumNode | undefined;
      }
    | undefined;

  constructor(deps: DesiredStateDeps) {
    this.#deps = deps;
  }

  /** What others offered as well when the state was worked out last. */
  get claimed(): Claimed {
    return this.#claimed;
  }

  /** What it should hold now; undefined as long as that is not known. */
  now(): Desired | undefined {
    const { context, showsAnother } = this.#deps;
    const { releaser } = this.#deps.cloud;
    // What is hidden is decided by the very state that the write is computed from.
    releaser.evaluate();
    const assessment = this.#deps.assess();
    if (assessment.kind === 'unread') return showsAnother ? this.#emptied() : undefined;
    if (assessment.kind === 'leftAlone') return undefined;
    const operatorError = context.prunesError ? '' : (this.#deps.diagnosis()?.text ?? '');
    const view = this.#shownView();
    const { requirements } = assessment;
    const handshake = releaser.handshake(this.#deps.node().status.releaseIps);
    if (view === undefined || requirements === undefined)
      return { offer: undefined, handshake, operatorError };
    const { infrastructure, claims, implementation, prune } = context;
    const limits = assessment.kind === 'served' ? assessment.limits : undefined;
    const { outgoing } = releaser;
    const doubts = unaddable(doubtedOn(view), this.#deps.node(), implementation);
    const addresses = [...podAddresses(showable(view, infrastructure()), requirements).keys()].filter(
      (address) => !outgoing.has(address) && !doubts.pool.has(address),
    );
    const claimed = claims.claim({
      name: this.#deps.node().name,
      networkId: requirements.networkId,
      addresses,
    });
    this.#take(claimed);
    const facts = { view, requirements, limits, infrastructure: infrastructure(), implementation, prune };
    const split = unaddable(splitOn(view, claimed.withheld), this.#deps.node(), implementation);
    const hidden = [...claimed.withheld.keys(), ...outgoing];
    const offer = this.#offer(facts, {
      status: setOf([...hidden, ...doubts.status, ...split.status]),
      pool: setOf([...hidden, ...doubts.pool, ...split.pool]),
    });
    return { offer, handshake, operatorError };
  }

  /** The newest state of the object holds all that it should. */
  published(): void {
    if (this.#last !== undefined) this.#last = { ...this.#last, offer: undefined, heldBy: this.#deps.node() };
  }

  /**
   * The same object as long as nothing changed that it is made of; undefined when the newest state of the CiliumNode is
   * known to hold it.
   */
  #offer(facts: OfferFacts, withheld: Withheld): Offer | undefined {
    const { view, infrastructure, requirements, limits } = facts;
    const rest = { requirements, limits, ...withheld };
    const last = this.#last;
    const isSameCloud = last?.view === view && last.infrastructure === infrastructure;
    if (isSameCloud && isDeepStrictEqual(last.rest, rest)) {
      if (last.offer !== undefined || last.heldBy === this.#deps.node()) return last.offer;
    }
    const offer = offerOf(facts, withheld);
    this.#last = { view, infrastructure, rest, offer, heldBy: undefined };
    return offer;
  }

  /** The instance without the interfaces that are about to leave it. */
  #shownView(): InstanceView | undefined {
    const { context, instanceId, cloud } = this.#deps;
    const view = context.inventory.view(instanceId);
    const { leaving } = cloud.idle;
    if (view === undefined || leaving.size === 0) return view;
    return { ...view, interfaces: view.interfaces.filter(({ id }) => !leaving.has(id)) };
  }

  /** What another instance had is struck without waiting for the cloud to show what this one has. */
  #emptied(): Desired | undefined {
    const { context, instanceId } = this.#deps;
    const { inventory, infrastructure, implementation, prune } = context;
    const view = inventory.view(instanceId);
    if (view === undefined || view.read) return undefined;
    const offer = emptyOffer(view, { infrastructure: infrastructure(), implementation, prune });
    return { offer, handshake: new Map(), operatorError: '' };
  }

  #take(claimed: Claimed): void {
    const before = this.#claimed;
    this.#claimed = claimed;
    if (textOf(claimed) === textOf(before)) return;
    this.#deps.onClaimed(claimed);
  }
}

function textOf({ withheld, shared }: Claimed): string {
  return JSON.stringify([...withheld, ...shared]);
}

/** Most nodes have none to withhold: one empty set is enough for all of them. */
function setOf(addresses: readonly string[]): ReadonlySet<string> {
  return addresses.length === 0 ? noAddresses : new Set(addresses);
}
