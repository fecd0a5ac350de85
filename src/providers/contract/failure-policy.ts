// The policy for each kind of failure: the one place that decides what follows. A cloud classifies its error, and every part of
// the controller asks here. A new kind does not compile until it has a row. Pure.
import type { CloudFailure, CloudFailureKind } from './cloud-failure.ts';

/** The calls of a step that brings addresses. */
export type StepCall = 'create' | 'attach' | 'allocate' | 'allocateIpv6';

/** The thing that a refusal removes from the next plans. */
export type WhatIsBlocked =
  /** A scope of the call: src/node/allocate/refused-scope.ts. */
  | 'action'
  | 'interface'
  | 'subnet'
  | 'attachment'
  | 'securityGroups'
  | 'newInterfaces'
  | 'assignmentsIn'
  | 'instance'
  | 'prefixes'
  | 'ipv6In'
  | 'ipv6On'
  /** The subnet in the ledger: no address left, no whole block left, or no such subnet. */
  | 'subnetSpace'
  | 'subnetBlocks'
  | 'subnetItself'
  /** The whole node backs off: the answer concerns its instance, or none came. */
  | 'node'
  /** Nothing was refused: the rate limiter or the gate says when to continue. */
  | 'nothing';

type Suspect = 'action' | 'thing' | 'part' | 'size' | 'ipv6';

export interface FailurePolicy {
  /** The thing that plans avoid, by call, if the answer itself names nothing. */
  readonly blocks: Readonly<Record<StepCall, WhatIsBlocked>>;
  /** The knowledge of the instance that no longer holds: that something is there, or how it is. */
  readonly invalidates: 'existence' | 'state' | 'nothing';
  /** When the same call may succeed. */
  readonly retry:
    | 'soon'
    /** Retry as soon as the rate limiter admits the call. */
    | 'byRateLimit'
    /** Once our own gate lets it pass: the cloud never saw it. */
    | 'oncePermitted'
    /** After something else changed. */
    | 'later'
    | 'never'
    /** The thing in question is not there: a call that was to take it away has nothing to do. */
    | 'needless';
  /** Whom or what the cloud turned down. */
  readonly refuses: /** Our identity, account or region, if the answer concerns the action in general; else this request. */
    | 'caller'
    | 'request'
    /** No answer came, it was put off, or it says nothing. */
    | 'nothing';
  /** When people learn of it: a person has to act at once, or only if it happens again. */
  readonly tell: 'atOnce' | 'ifRepeated';
  /** The answer does not say whether an earlier attempt succeeded: a read decides. */
  readonly isUnclear: boolean;
  /**
   * The subject that the failure may concern, although the kind does not say so: the action itself; the one thing that was
   * named, so another may do; a part of a larger request, so the rest may do; how much was asked for, so less may do; the
   * IPv6 prefix that was asked for with it, so IPv4 alone may do.
   */
  readonly mayConcern: readonly Suspect[];
}

/** A refused IPv6 prefix blocks nothing of IPv4. */
const always = (blocked: WhatIsBlocked, allocateIpv6: WhatIsBlocked = blocked): FailurePolicy['blocks'] => ({
  create: blocked,
  attach: blocked,
  allocate: blocked,
  allocateIpv6,
});

/** If the answer names nothing: the narrowest scope that the call concerns. */
const narrowest = {
  create: 'subnet',
  attach: 'attachment',
  allocate: 'interface',
  allocateIpv6: 'ipv6In',
} as const;
/** It concerns the one interface; before there is one, the node; while it is attached, every new one of the node. */
const itsInterface = {
  create: 'node',
  attach: 'newInterfaces',
  allocate: 'interface',
  allocateIpv6: 'ipv6On',
} as const;

/** Where a row says nothing else. */
const usual = {
  blocks: always('nothing'),
  invalidates: 'nothing',
  tell: 'ifRepeated',
  isUnclear: false,
  mayConcern: [],
} as const;

export const failurePolicy: Readonly<Record<CloudFailureKind, FailurePolicy>> = {
  throttled: { ...usual, retry: 'byRateLimit', refuses: 'nothing' },
  fenced: { ...usual, retry: 'oncePermitted', refuses: 'nothing' },
  stopped: { ...usual, retry: 'oncePermitted', refuses: 'nothing' },
  subnetExhausted: {
    ...usual,
    blocks: always('subnetSpace', 'ipv6In'),
    retry: 'later',
    refuses: 'request',
    mayConcern: ['ipv6'],
  },
  prefixSpaceFragmented: {
    ...usual,
    blocks: always('subnetBlocks', 'ipv6In'),
    retry: 'later',
    refuses: 'request',
    mayConcern: ['ipv6'],
  },
  subnetGone: { ...usual, blocks: always('subnetItself', 'ipv6In'), retry: 'later', refuses: 'request' },
  limitReached: {
    ...usual,
    blocks: itsInterface,
    invalidates: 'state',
    retry: 'later',
    refuses: 'request',
    tell: 'atOnce',
    mayConcern: ['size', 'ipv6'],
  },
  deviceIndexTaken: {
    ...usual,
    blocks: itsInterface,
    invalidates: 'state',
    retry: 'later',
    refuses: 'request',
    isUnclear: true,
  },
  instanceNotRunning: {
    ...usual,
    blocks: always('node'),
    invalidates: 'state',
    retry: 'later',
    refuses: 'request',
  },
  instanceGone: {
    ...usual,
    blocks: always('node'),
    invalidates: 'existence',
    retry: 'never',
    refuses: 'request',
  },
  interfaceGone: {
    ...usual,
    blocks: itsInterface,
    invalidates: 'existence',
    retry: 'needless',
    refuses: 'request',
  },
  notAssigned: { ...usual, blocks: itsInterface, retry: 'needless', refuses: 'request' },
  notYetVisible: { ...usual, blocks: itsInterface, retry: 'soon', refuses: 'request' },
  conflict: {
    blocks: itsInterface,
    invalidates: 'state',
    retry: 'soon',
    refuses: 'request',
    tell: 'ifRepeated',
    isUnclear: true,
    mayConcern: ['thing'],
  },
  notAuthorized: {
    ...usual,
    blocks: narrowest,
    retry: 'later',
    refuses: 'caller',
    tell: 'atOnce',
    mayConcern: ['action', 'ipv6'],
  },
  invalid: {
    ...usual,
    blocks: narrowest,
    retry: 'never',
    refuses: 'caller',
    tell: 'atOnce',
    mayConcern: ['action', 'thing', 'size', 'ipv6'],
  },
  unknown: {
    ...usual,
    blocks: narrowest,
    retry: 'later',
    refuses: 'request',
    mayConcern: ['action', 'thing', 'part', 'size', 'ipv6'],
  },
  unreachable: {
    ...usual,
    blocks: always('node', 'ipv6On'),
    retry: 'soon',
    refuses: 'nothing',
    mayConcern: ['part'],
  },
  unreadable: {
    ...usual,
    blocks: always('node', 'ipv6On'),
    retry: 'later',
    refuses: 'nothing',
    mayConcern: ['part'],
  },
};

export function policyOf({ kind }: Pick<CloudFailure, 'kind'>): FailurePolicy {
  return failurePolicy[kind];
}

export function mayConcern(failure: Pick<CloudFailure, 'kind'>, suspect: Suspect): boolean {
  return policyOf(failure).mayConcern.includes(suspect);
}

/** Whether nothing is left to assign where it was to come from. */
export function isOfSpace(failure: Pick<CloudFailure, 'kind'>): boolean {
  const { create } = policyOf(failure).blocks;
  return create === 'subnetSpace' || create === 'subnetBlocks';
}

/** Whether people should learn of a failure that came this often in a row. */
export function isWorthReporting(failure: Pick<CloudFailure, 'kind'>, inARow: number): boolean {
  return inARow > 1 || policyOf(failure).tell === 'atOnce';
}
