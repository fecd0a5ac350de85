// The Lease object as leader election reads and writes it.
//
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/
import { isObject, type JsonObject, memberOf, textAt, valueAt } from './json.ts';

export interface LeaseRecord {
  /** Empty when nobody holds it. */
  readonly holder: string;
  /** In ms; what its holder asked for. */
  readonly duration: number | undefined;
  readonly resourceVersion: string;
  /** As it was read: what others keep in it survives our writes. */
  readonly raw: JsonObject;
}

export function readLease(raw: JsonObject): LeaseRecord {
  const seconds = valueAt(raw, 'spec', 'leaseDurationSeconds');
  return {
    holder: textAt(raw, 'spec', 'holderIdentity') ?? '',
    duration: typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined,
    resourceVersion: textAt(raw, 'metadata', 'resourceVersion') ?? '',
    raw,
  };
}

export interface LeaseClaim {
  /** Empty to give it back. */
  readonly holder: string;
  /** In ms, whole seconds. */
  readonly duration: number;
  /** On the wall clock. */
  readonly now: number;
}

/** A Lease that nobody has held before. */
export function newLease(namespace: string, name: string, claim: LeaseClaim): JsonObject {
  const now = microTime(claim.now);
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name },
    spec: {
      holderIdentity: claim.holder,
      leaseDurationSeconds: claim.duration / 1000,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    },
  };
}

/** The Lease after `claim`; it differs from `lease` even if the wall clock stands still, so that others see a sign of life. */
export function claimedLease({ raw, holder }: LeaseRecord, claim: LeaseClaim): JsonObject {
  const spec = memberOf(raw, 'spec');
  const before = isObject(spec) ? spec : {};
  const transitions = before['leaseTransitions'];
  // Who gives it back leads no more, and nobody leads yet.
  const changes = holder === claim.holder || claim.holder === '' ? 0 : 1;
  const now = microTime(claim.now);
  const renewTime = now === before['renewTime'] ? now.replace('000Z', '001Z') : now;
  return {
    ...raw,
    spec: {
      ...before,
      holderIdentity: claim.holder,
      leaseDurationSeconds: claim.duration / 1000,
      renewTime,
      ...(changes > 0 && {
        acquireTime: now,
        leaseTransitions: (typeof transitions === 'number' ? transitions : 0) + changes,
      }),
    },
  };
}

/** Kubernetes' MicroTime: RFC 3339 with six decimals. */
function microTime(wall: number): string {
  return new Date(wall).toISOString().replace('Z', '000Z');
}
