// Computes what the CiliumNode of a node should hold: what the cloud has, without what is leaving or offered by others.
// `claim` claims the addresses for the node; `now` has no effect.
import { isDeepStrictEqual } from 'node:util';
import type { CiliumNodeSection } from '../../providers/contract/cilium-node-section.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import { isUnseen, type InstanceView } from '../../providers/contract/facts.ts';
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { shownBy } from '../../kubernetes/cilium-node/shown-addresses.ts';
import type { Claimed } from '../demand/address-claims.ts';
import type { ReleaseStore } from '../release/release-store.ts';
import type { Assessment } from '../conditions/assessment.ts';
import { withoutAwaited } from '../demand/awaited.ts';
import { protocolOf } from '../demand/demand.ts';
import { podAddresses } from '../demand/capacity.ts';
import { ipv6PrefixesIn } from '../demand/ipv6.ts';
import { type NodeCondition, presentable } from '../conditions/node-condition.ts';
import type { IdlePhases } from '../release/idle-interfaces.ts';
import { operatorErrorPath } from '../../kubernetes/cilium-node/blocked-errors.ts';
import type { NodeContext } from './node-context.ts';
import type { NodeRequirements } from '../demand/node-requirements.ts';
import {
  addressesPossiblyGone,
  emptyOffer,
  excludedUnlessShown,
  keptOffer,
  namedIn,
  type OfferExclusions,
  type OfferFacts,
  type OfferPlace,
  offerOf,
  retiredAddresses,
  showable,
  splitOn,
} from '../publish/desired-status.ts';
import type { Desired, Offer } from '../publish/next-write.ts';
import { writableLayout } from '../publish/status-section.ts';
import { retiredHoldings, retiredIpv6Prefixes } from '../release/retired-holdings.ts';
import { restoredState } from '../publish/restored-state.ts';
import { movedWithin, unverifiedOffer } from '../publish/unverified-offer.ts';

/** The newest state of the object, and what is leaving the node. */
export interface ShownNode {
  readonly instanceId: string;
  readonly node: CiliumNode;
  readonly releases: Pick<ReleaseStore, 'handshake' | 'outgoing'>;
  readonly idle: Pick<IdlePhases, 'leaving'>;
}

type Content = Omit<Desired, 'operatorError'>;

/** Addresses that must not be shown, or not where they are shown. */
interface Excluded extends OfferExclusions {
  /** Addresses that an unverified object shows and another instance has. */
  readonly onOthers: ReadonlySet<string>;
  /** Addresses that an unverified object shows on one interface and another one of its instance has. */
  readonly moved: ReadonlySet<string>;
}

const noAddresses: ReadonlySet<string> = new Set();
const nothingNamed: ReadonlyMap<string, string> = new Map();
/** No other node offers any address of this node. */
const unclaimed: Claimed = { excluded: new Map(), shared: new Map(), unasked: noAddresses };

export class DesiredState {
  readonly #context: Pick<NodeContext, 'cloud' | 'writer' | 'fleet'>;
  readonly #state: ShownNode;
  readonly #showsAnother: boolean;
  /** Whether the served CRD has no field for the operator error. */
  readonly #prunesError: boolean;
  /** The cloud's section, as far as the served CRD has fields for it. */
  readonly #section: CiliumNodeSection;
  #claimed = unclaimed;
  /** The content to hold since the last claim; undefined while unknown. */
  #content: Content | undefined;
  /** The error last seen in the CiliumNode of a node that is not ours to serve. */
  #said: string | undefined;
  #last:
    | {
        readonly view: InstanceView;
        readonly infrastructure: Infrastructure;
        readonly isVerified: boolean;
        readonly rest: Pick<OfferFacts, 'requirements' | 'limits' | 'retired' | 'retiredIpv6' | 'named'> &
          Excluded;
        /** Undefined once `heldBy` contains the whole offer: it is not needed while that is the newest state. */
        readonly offer: Offer | undefined;
        readonly heldBy: CiliumNode | undefined;
      }
    | undefined;

  /** `showsAnother`: at the start, the object showed interfaces of another instance. */
  constructor(
    context: Pick<NodeContext, 'cloud' | 'writer' | 'fleet'>,
    state: ShownNode,
    showsAnother: boolean,
  ) {
    this.#context = context;
    this.#state = state;
    this.#showsAnother = showsAnother;
    const { cloud, writer } = context;
    const { section } = cloud.implementation;
    const layout = writableLayout(section, (path) => writer.schema.knows(path));
    this.#section = layout === section.layout ? section : { ...section, layout };
    this.#prunesError = !writer.schema.knows(operatorErrorPath);
  }

  /** Addresses that others also offered at the last claim; undefined if there are none. */
  get contested(): Claimed | undefined {
    const { excluded, shared } = this.#claimed;
    return excluded.size + shared.size > 0 ? this.#claimed : undefined;
  }

  /**
   * Claims what the node is about to offer, for the states known now. Returns whether what others offer of it has
   * changed.
   */
  claim(assessment: Assessment): boolean {
    const before = this.#claimed;
    this.#content = this.#contentOf(assessment);
    if (assessment.kind === 'unmanaged') this.#noticeError(assessment.condition);
    return this.#claimed !== before && textOf(this.#claimed) !== textOf(before);
  }

  /** The desired content since the last claim; undefined while unknown. `error`: why the node cannot be satisfied, or empty. */
  now({ kind }: Assessment, error: string): Desired | undefined {
    const operatorError = this.#prunesError ? '' : error;
    if (kind === 'served' || kind === 'blocked') return this.#content && { ...this.#content, operatorError };
    if (kind === 'unread' && this.#showsAnother)
      return this.#content && { ...this.#content, operatorError: '' };
    return this.#maySay(operatorError, kind) ? { ...nothingShown, operatorError } : undefined;
  }

  #maySay(error: string, kind: Assessment['kind']): boolean {
    const isSaid = kind === 'unmanaged' && (this.#content === undefined || this.#said === error);
    return error !== '' && !isSaid;
  }

  #contentOf(assessment: Assessment): Content | undefined {
    switch (assessment.kind) {
      case 'served':
      case 'blocked':
        return this.#shownBy(assessment);
      case 'unread':
        return this.#showsAnother ? this.#emptied() : undefined;
      case 'unmanaged':
        return assessment.condition.reason === 'InstanceNotManaged' ? nothingShown : undefined;
    }
  }

  /**
   * The error of an unmanaged node is written only once. Another controller may serve it, and if it removes the text,
   * Headwater does not write it again. A node in another network may belong to another Headwater that uses the same
   * field.
   */
  #noticeError(condition: NodeCondition): void {
    const { message } = presentable(condition);
    if (this.#state.node.status.operatorError === message) this.#said = message;
  }

  #shownBy(assessment: Extract<Assessment, { kind: 'served' | 'blocked' }>): Content {
    const state = this.#state;
    const view = this.#shownView();
    const { requirements } = assessment;
    const isKnown = view !== undefined && requirements !== undefined;
    if (isKnown && isUnseen(view) && !this.#showsAnother)
      return { offer: this.#kept(view, requirements), handshake: undefined };
    const handshake = state.releases.handshake(state.node.status.releaseIps);
    const limits = assessment.kind === 'served' ? assessment.limits : undefined;
    return { offer: isKnown ? this.#claimAndOffer(view, { requirements, limits }) : undefined, handshake };
  }

  /** Claims what the cloud shows for the node, and offers what it may offer. */
  #claimAndOffer(
    known: InstanceView,
    { requirements, limits }: Pick<OfferFacts, 'requirements' | 'limits'>,
  ): Offer | undefined {
    const { node, releases } = this.#state;
    const { outgoing } = releases;
    const view = withoutAwaited(known, node);
    const unconfirmed = excludedUnlessShown(addressesPossiblyGone(view), node);
    const retired = retiredHoldings(node, view, requirements);
    const place = this.#place();
    const shown = showable(view, place);
    const named = namedIn(node, view, shown);
    const retiredIpv6 = retiredIpv6Prefixes(node, shown, requirements);
    const offerable = [
      ...podAddresses(shown, requirements).keys(),
      ...named.keys(),
      ...retiredAddresses(shown, retired).keys(),
      ...retiredIpv6,
      ...ipv6PrefixesIn(shown, requirements),
    ];
    const addresses = offerable.filter((address) => !outgoing.has(address) && !unconfirmed.pool.has(address));
    const { networkId } = requirements;
    const claimed = this.#context.fleet.claims.claim({ name: node.name, networkId, addresses });
    this.#claimed = claimed;
    // A multi-pool agent gives none of them, and sets up no new interface while the pool names them.
    const pooled = protocolOf(node) === 'crd' ? named : nothingNamed;
    const facts = { view, requirements, limits, retired, retiredIpv6, named: pooled, place };
    const split = excludedUnlessShown(splitOn(view, claimed.excluded), node);
    const hidden = [...claimed.excluded.keys(), ...outgoing];
    return this.#offer(facts, {
      status: setOf([...hidden, ...unconfirmed.status, ...split.status]),
      pool: setOf([...hidden, ...unconfirmed.pool, ...split.pool]),
      // A verified object shows what its view has.
      onOthers: this.#isVerified() ? noAddresses : this.#onOthers(requirements),
      moved: this.#isVerified() ? noAddresses : this.#moved(known),
    });
  }

  /** This state of the object, which may not be the newest any longer, holds all desired content. */
  published(node: CiliumNode): void {
    if (this.#content !== undefined) this.#content = { ...this.#content, offer: undefined };
    if (this.#last !== undefined) this.#last = { ...this.#last, offer: undefined, heldBy: node };
  }

  /** Returns the same object while its inputs are unchanged; undefined if the newest CiliumNode is known to hold it. */
  #offer(facts: OfferFacts, excluded: Excluded): Offer | undefined {
    const { view, place, requirements, limits, retired, retiredIpv6, named } = facts;
    const { infrastructure } = place;
    const isVerified = this.#isVerified();
    const rest = { requirements, limits, retired, retiredIpv6, named, ...excluded };
    const last = this.#last;
    const isSameCloud = last?.view === view && last.infrastructure === infrastructure;
    if (isSameCloud && last.isVerified === isVerified && isDeepStrictEqual(last.rest, rest)) {
      const isCurrent = last.offer !== undefined && isVerified;
      if (isCurrent || last.heldBy === this.#state.node) return last.offer;
    }
    const offer = isVerified ? offerOf(facts, excluded) : this.#keeping(facts, excluded);
    this.#last = { view, infrastructure, rest, isVerified, offer, heldBy: undefined };
    return offer;
  }

  /** While no Node verifies the instance, removes nothing but addresses that are elsewhere. */
  #keeping(facts: OfferFacts, { status, pool, onOthers, moved }: Excluded): Offer {
    // The view keeps what is missing there, because its owner is unknown.
    const missing = addressesPossiblyGone(facts.view).filter((address) => onOthers.has(address));
    const excluded = { status: setOf([...status, ...missing]), pool: setOf([...pool, ...missing]) };
    const elsewhere = setOf([...onOthers, ...moved]);
    return unverifiedOffer(offerOf(facts, excluded), this.#state.node, elsewhere, this.#section);
  }

  /** Addresses that an unverified object shows and another instance has. */
  #onOthers({ networkId }: NodeRequirements): ReadonlySet<string> {
    const { fleet, cloud } = this.#context;
    const { node, instanceId } = this.#state;
    const { addresses } = shownBy({ kind: 'node', node });
    const held = fleet.claims.heldByOthers({ name: node.name, networkId, addresses });
    return setOf([...held, ...cloud.inventory.movedAway(instanceId)]);
  }

  /** Addresses that an unverified object shows on one interface while another one, perhaps awaited, has them. */
  #moved(known: InstanceView): ReadonlySet<string> {
    const { node, instanceId } = this.#state;
    const { section } = this.#context.cloud.implementation;
    return setOf(movedWithin(known, restoredState(node, instanceId, section).interfaces));
  }

  #isVerified(): boolean {
    const { node, instanceId } = this.#state;
    return this.#context.fleet.identities.isVerified(node.name, instanceId);
  }

  /** The view without the interfaces that are about to leave. */
  #shownView(): InstanceView | undefined {
    const { instanceId, idle } = this.#state;
    const view = this.#context.cloud.inventory.view(instanceId);
    const { leaving } = idle;
    if (view === undefined || leaving.size === 0) return view;
    return { ...view, interfaces: view.interfaces.filter(({ id }) => !leaving.has(id)) };
  }

  /** For an instance that the cloud does not show: no new offer, and what is shown stays. */
  #kept(view: InstanceView, { networkId }: NodeRequirements): Offer {
    const { node } = this.#state;
    const offer = keptOffer(node, view, this.#section);
    this.#claimed = this.#context.fleet.claims.claim({
      name: node.name,
      networkId,
      addresses: offer.pool.keys(),
    });
    return offer;
  }

  /** Removes what belongs to another instance without waiting for the cloud to show this one. */
  #emptied(): Content | undefined {
    const view = this.#context.cloud.inventory.view(this.#state.instanceId);
    if (view === undefined || view.read || !this.#isVerified()) return undefined;
    return { offer: emptyOffer(view, this.#place()), handshake: new Map() };
  }

  #place(): OfferPlace {
    const { cloud, writer } = this.#context;
    return {
      infrastructure: cloud.network.infrastructure,
      section: this.#section,
      schema: writer.schema,
    };
  }
}

/** Everything stays as published. */
const nothingShown: Content = { offer: undefined, handshake: undefined };

function textOf({ excluded, shared }: Claimed): string {
  return JSON.stringify([...excluded, ...shared]);
}

/** Most nodes exclude nothing, so all share one empty set. */
function setOf(addresses: readonly string[]): ReadonlySet<string> {
  return addresses.length === 0 ? noAddresses : new Set(addresses);
}
