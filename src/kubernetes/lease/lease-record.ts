// Reads and writes the Lease object of leader election.
//
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/
import { isObject, type JsonObject, memberOf, textAt, valueAt } from '../../runtime/json.ts';

export interface LeaseRecord {
  /** Empty when the lease has no holder. */
  readonly holder: string;
  /** The lease duration that the holder requested, in ms. */
  readonly duration: number | undefined;
  /** The time of the last renewal, as the holder wrote it. */
  readonly renewTime: string;
  readonly resourceVersion: string;
  /** The Lease as read: our writes keep the fields of others. */
  readonly raw: JsonObject;
}

export function readLease(raw: JsonObject): LeaseRecord {
  const seconds = valueAt(raw, 'spec', 'leaseDurationSeconds');
  return {
    holder: textAt(raw, 'spec', 'holderIdentity') ?? '',
    duration: typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined,
    renewTime: textAt(raw, 'spec', 'renewTime') ?? '',
    resourceVersion: textAt(raw, 'metadata', 'resourceVersion') ?? '',
    raw,
  };
}

export interface LeaseClaim {
  /** Empty to release the lease. */
  readonly holder: string;
  /** Ms, in whole seconds. */
  readonly duration: number;
  /** Wall clock. */
  readonly now: number;
  /** Annotations to set; undefined removes one. All others stay unchanged. */
  readonly annotations?: ReadonlyMap<string, string | undefined>;
}

/** A Lease without a previous holder. */
export function newLease(namespace: string, name: string, claim: LeaseClaim): JsonObject {
  const now = microTime(claim.now);
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name, ...annotationsAfter({}, claim) },
    spec: {
      holderIdentity: claim.holder,
      leaseDurationSeconds: claim.duration / 1000,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    },
  };
}

/**
 * The renew time that `claim` sets over `lease`. It differs even if the wall clock stands still, so that others observe a
 * renewal.
 */
export function renewTimeOf(lease: LeaseRecord | undefined, claim: LeaseClaim): string {
  const now = microTime(claim.now);
  return now === lease?.renewTime ? now.replace('000Z', '001Z') : now;
}

/** The Lease after `claim`. */
export function claimedLease(lease: LeaseRecord, claim: LeaseClaim): JsonObject {
  const { raw, holder } = lease;
  const spec = memberOf(raw, 'spec');
  const before = isObject(spec) ? spec : {};
  const transitions = before['leaseTransitions'];
  // A release is no transition: it has no new leader.
  const changes = holder === claim.holder || claim.holder === '' ? 0 : 1;
  return {
    ...raw,
    ...metadataAfter(raw, claim),
    spec: {
      ...before,
      holderIdentity: claim.holder,
      leaseDurationSeconds: claim.duration / 1000,
      renewTime: renewTimeOf(lease, claim),
      ...(changes > 0 && {
        acquireTime: microTime(claim.now),
        leaseTransitions: (typeof transitions === 'number' ? transitions : 0) + changes,
      }),
    },
  };
}

/** Undefined when the annotation is absent or not a string. */
export function annotationOf({ raw }: LeaseRecord, key: string): string | undefined {
  return textAt(raw, 'metadata', 'annotations', key);
}

function metadataAfter(raw: JsonObject, claim: LeaseClaim): { readonly metadata?: JsonObject } {
  const metadata = memberOf(raw, 'metadata');
  if (claim.annotations === undefined || !isObject(metadata)) return {};
  const { annotations: _, ...others } = metadata;
  return { metadata: { ...others, ...annotationsAfter(metadata, claim) } };
}

function annotationsAfter(
  metadata: JsonObject,
  { annotations: changes = new Map() }: LeaseClaim,
): { readonly annotations?: JsonObject } {
  const before = memberOf(metadata, 'annotations');
  const kept = Object.entries(isObject(before) ? before : {}).filter(([key]) => !changes.has(key));
  const set = [...changes].filter((entry): entry is [string, string] => entry[1] !== undefined);
  const annotations = Object.fromEntries([...kept, ...set]);
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

/** Kubernetes' MicroTime: RFC 3339 with six decimals. */
function microTime(wall: number): string {
  return new Date(wall).toISOString().replace('Z', '000Z');
}

/**
 * The end of our own lease, or another moment on both clocks. It counts once either clock has passed it: one of them may stand
 * still or be set.
 */
export interface LeaseEnd {
  /** Monotonic ms. */
  readonly monotonic: number;
  /** Ms since the epoch. */
  readonly wall: number;
}
