// Computes what the CiliumNode of a node should hold: what the cloud has, without what is leaving or offered by others.
// Computing it also claims the addresses for the node.
import { isDeepStrictEqual } from 'node:util';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import { isUnseen, type InstanceView } from '../../providers/contract/instance-view.ts';
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { shownBy } from '../../kubernetes/cilium-node/shown-addresses.ts';
import type { Claimed } from '../demand/address-claims.ts';
import type { ReleaseStore } from '../release/release-store.ts';
import type { Assessment } from '../conditions/assessment.ts';
import { withoutAwaited } from '../demand/awaited.ts';
import { podAddresses } from '../demand/capacity.ts';
import type { NodeCondition } from '../conditions/node-condition.ts';
import type { IdlePhases } from '../release/idle-interfaces.ts';
import { operatorErrorPath } from '../../kubernetes/cilium-node/blocked-errors.ts';
import type { NodeContext } from './node-context.ts';
import type { NodeRequirements } from '../demand/node-requirements.ts';
import {
  emptyOffer,
  keptOffer,
  namedIn,
  type OfferFacts,
  offerOf,
  retiredAddresses,
  showable,
} from '../publish/desired-status.ts';
import type { Desired, Offer } from '../publish/next-write.ts';
import { retiredHoldings } from '../release/retired-holdings.ts';
import { restoredState } from '../publish/restored-state.ts';
import { movedWithin, unverifiedOffer } from '../publish/unverified-offer.ts';
import {
  addressesPossiblyGone,
  excludedUnlessShown,
  type OfferExclusions,
  splitOn,
} from '../publish/offer-exclusions.ts';

export interface DesiredStateDeps {
  readonly context: Pick<NodeContext, 'cloud' | 'writer' | 'claims' | 'identities'>;
  readonly instanceId: string;
  /** At the start, the object showed interfaces of another instance. */
  readonly showsAnother: boolean;
  readonly node: () => CiliumNode;
  readonly assess: () => Assessment;
  /** Why the node cannot be satisfied. */
  readonly condition: () => NodeCondition | undefined;
  /** What is leaving the node. */
  readonly leaving: {
    readonly releases: Pick<ReleaseStore, 'handshake' | 'outgoing'>;
    readonly idle: Pick<IdlePhases, 'leaving'>;
  };
  /** Called when what others offer of the node's addresses changed. */
  readonly onClaimed: (claimed: Claimed) => void;
}

/** What must not be shown, or not where it is shown. */
interface Excluded extends OfferExclusions {
  /** What an unverified object shows and another instance has. */
  readonly onOthers: ReadonlySet<string>;
  /** What an unverified object shows on one interface and another one of its instance has. */
  readonly moved: ReadonlySet<string>;
}

const noAddresses: ReadonlySet<string> = new Set();
/** No other node offers any address of this node. */
const unclaimed: Claimed = { excluded: new Map(), shared: new Map(), unasked: noAddresses };

export class DesiredState {
  readonly #deps: DesiredStateDeps;
  /** Whether the served CRD has no field for the operator error. */
  readonly #prunesError: boolean;
  #claimed = unclaimed;
  /** The error last seen in the CiliumNode of a node that is not ours to serve. */
  #said: string | undefined;
  #last:
    | {
        readonly view: InstanceView;
        readonly infrastructure: Infrastructure;
        readonly isVerified: boolean;
        readonly rest: Pick<OfferFacts, 'requirements' | 'limits' | 'retired' | 'named'> & Excluded;
        /** Undefined once `heldBy` contains the whole offer: it is not needed while that is the newest state. */
        readonly offer: Offer | undefined;
        readonly heldBy: CiliumNode | undefined;
      }
    | undefined;

  constructor(deps: DesiredStateDeps) {
    this.#deps = deps;
    this.#prunesError = !deps.context.writer.schema.knows(operatorErrorPath);
  }

  /** What others also offered at the last computation. */
  get claimed(): Claimed {
    return this.#claimed;
  }

  /** The desired content now; undefined while unknown. */
  now(): Desired | undefined {
    const { showsAnother } = this.#deps;
    const assessment = this.#deps.assess();
    const operatorError = this.#prunesError ? '' : (this.#deps.condition()?.message ?? '');
    if (assessment.kind === 'unread') return showsAnother ? this.#emptied() : sayOnly(operatorError);
    if (assessment.kind === 'unmanaged') return this.#saidOnce(assessment.condition, operatorError);
    return { ...this.#shownBy(assessment), operatorError };
  }

  /**
   * Writes the error of an unmanaged node only once. Another controller may serve it, and if it removes the
   * text, Headwater does not write it again. A node in another network may belong to another Headwater that
   * uses the same field.
   */
  #saidOnce({ reason }: NodeCondition, error: string): Desired | undefined {
    if (reason !== 'InstanceNotManaged') return undefined;
    if (this.#deps.node().status.operatorError === error) this.#said = error;
    return this.#said === error ? undefined : sayOnly(error);
  }

  #shownBy(assessment: Extract<Assessment, { kind: 'served' | 'blocked' }>): Omit<Desired, 'operatorError'> {
    const { showsAnother, node, leaving } = this.#deps;
    const view = this.#shownView();
    const { requirements } = assessment;
    const isKnown = view !== undefined && requirements !== undefined;
    if (isKnown && isUnseen(view) && !showsAnother)
      return { offer: this.#kept(view, requirements), handshake: undefined };
    const handshake = leaving.releases.handshake(node().status.releaseIps);
    const limits = assessment.kind === 'served' ? assessment.limits : undefined;
    return { offer: isKnown ? this.#claimAndOffer(view, { requirements, limits }) : undefined, handshake };
  }

  /** Claims what the cloud shows for the node, and offers what it may offer. */
  #claimAndOffer(
    known: InstanceView,
    { requirements, limits }: Pick<OfferFacts, 'requirements' | 'limits'>,
  ): Offer | undefined {
    const { claims } = this.#deps.context;
    const { outgoing } = this.#deps.leaving.releases;
    const view = withoutAwaited(known, this.#deps.node());
    const unconfirmed = excludedUnlessShown(addressesPossiblyGone(view), this.#deps.node());
    const retired = retiredHoldings(this.#deps.node(), view, requirements);
    const place = this.#place();
    const shown = showable(view, place);
    const named = namedIn(this.#deps.node(), view, shown);
    const offerable = [
      ...podAddresses(shown, requirements).keys(),
      ...named.keys(),
      ...retiredAddresses(shown, retired).keys(),
    ];
    const addresses = offerable.filter((address) => !outgoing.has(address) && !unconfirmed.pool.has(address));
    const claimed = claims.claim({
      name: this.#deps.node().name,
      networkId: requirements.networkId,
      addresses,
    });
    this.#take(claimed);
    const facts = { view, requirements, limits, retired, named, ...place };
    const split = excludedUnlessShown(splitOn(view, claimed.excluded), this.#deps.node());
    const hidden = [...claimed.excluded.keys(), ...outgoing];
    return this.#offer(facts, {
      status: setOf([...hidden, ...unconfirmed.status, ...split.status]),
      pool: setOf([...hidden, ...unconfirmed.pool, ...split.pool]),
      onOthers: this.#onOthers(requirements),
      moved: this.#moved(known),
    });
  }

  /** The newest state of the object holds all desired content. */
  published(): void {
    if (this.#last !== undefined) this.#last = { ...this.#last, offer: undefined, heldBy: this.#deps.node() };
  }

  /** Returns the same object while its inputs are unchanged; undefined if the newest CiliumNode is known to hold it. */
  #offer(facts: OfferFacts, excluded: Excluded): Offer | undefined {
    const { view, infrastructure, requirements, limits, retired, named } = facts;
    const isVerified = this.#isVerified();
    const rest = { requirements, limits, retired, named, ...excluded };
    const last = this.#last;
    const isSameCloud = last?.view === view && last.infrastructure === infrastructure;
    if (isSameCloud && last.isVerified === isVerified && isDeepStrictEqual(last.rest, rest)) {
      const isCurrent = last.offer !== undefined && isVerified;
      if (isCurrent || last.heldBy === this.#deps.node()) return last.offer;
    }
    const offer = isVerified ? offerOf(facts, excluded) : this.#keeping(facts, excluded);
    this.#last = { view, infrastructure, rest, isVerified, offer, heldBy: undefined };
    return offer;
  }

  /** While no Node verifies the instance, removes nothing but addresses that are elsewhere. */
  #keeping(facts: OfferFacts, { status, pool, onOthers, moved }: Excluded): Offer {
    const { context, node } = this.#deps;
    // The view keeps what is missing there, because its owner is unknown.
    const missing = addressesPossiblyGone(facts.view).filter((address) => onOthers.has(address));
    const excluded = { status: setOf([...status, ...missing]), pool: setOf([...pool, ...missing]) };
    const elsewhere = setOf([...onOthers, ...moved]);
    return unverifiedOffer(offerOf(facts, excluded), node(), elsewhere, context.cloud.implementation.section);
  }

  /** Addresses that an unverified object shows and another instance has. A verified one shows what its view has. */
  #onOthers({ networkId }: NodeRequirements): ReadonlySet<string> {
    if (this.#isVerified()) return noAddresses;
    const { context, instanceId } = this.#deps;
    const node = this.#deps.node();
    const { addresses } = shownBy({ kind: 'node', node });
    const held = context.claims.heldByOthers({ name: node.name, networkId, addresses });
    return setOf([...held, ...context.cloud.inventory.movedAway(instanceId)]);
  }

  /** Addresses that an unverified object shows on one interface while another one, perhaps awaited, has them. */
  #moved(known: InstanceView): ReadonlySet<string> {
    if (this.#isVerified()) return noAddresses;
    const { context, instanceId, node } = this.#deps;
    return setOf(
      movedWithin(known, restoredState(node(), instanceId, context.cloud.implementation.section).interfaces),
    );
  }

  #isVerified(): boolean {
    const { context, instanceId, node } = this.#deps;
    return context.identities.isVerified(node().name, instanceId);
  }

  /** The view without the interfaces that are about to leave. */
  #shownView(): InstanceView | undefined {
    const { context, instanceId } = this.#deps;
    const view = context.cloud.inventory.view(instanceId);
    const { leaving } = this.#deps.leaving.idle;
    if (view === undefined || leaving.size === 0) return view;
    return { ...view, interfaces: view.interfaces.filter(({ id }) => !leaving.has(id)) };
  }

  /** For an instance that the cloud does not show: no new offer, and what is shown stays. */
  #kept(view: InstanceView, { networkId }: NodeRequirements): Offer {
    const { cloud, claims } = this.#deps.context;
    const node = this.#deps.node();
    const offer = keptOffer(node, view, cloud.implementation.section);
    this.#take(claims.claim({ name: node.name, networkId, addresses: offer.pool.keys() }));
    return offer;
  }

  /** Removes what belongs to another instance without waiting for the cloud to show this one. */
  #emptied(): Desired | undefined {
    const { context, instanceId } = this.#deps;
    const view = context.cloud.inventory.view(instanceId);
    if (view === undefined || view.read || !this.#isVerified()) return undefined;
    const offer = emptyOffer(view, this.#place());
    return { offer, handshake: new Map(), operatorError: '' };
  }

  #place(): Pick<OfferFacts, 'infrastructure' | 'section' | 'prune'> {
    const { cloud, writer } = this.#deps.context;
    return {
      infrastructure: cloud.network.infrastructure,
      section: cloud.implementation.section,
      prune: (value, path) => writer.schema.prune(value, path),
    };
  }

  #take(claimed: Claimed): void {
    const before = this.#claimed;
    this.#claimed = claimed;
    if (textOf(claimed) === textOf(before)) return;
    this.#deps.onClaimed(claimed);
  }
}

/** Everything else stays as published. */
function sayOnly(operatorError: string): Desired | undefined {
  return operatorError === '' ? undefined : { offer: undefined, handshake: undefined, operatorError };
}

function textOf({ excluded, shared }: Claimed): string {
  return JSON.stringify([...excluded, ...shared]);
}

/** Most nodes exclude nothing, so all share one empty set. */
function setOf(addresses: readonly string[]): ReadonlySet<string> {
  return addresses.length === 0 ? noAddresses : new Set(addresses);
}
