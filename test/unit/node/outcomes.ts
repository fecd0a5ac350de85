// Outcomes of operations, for tests.
import type { CloudFailure, CloudFailureKind } from '../../../src/providers/contract/cloud-failure.ts';
import type { Answer, Outcome } from '../../../src/providers/contract/operations.ts';
import { addresses, networkInterface } from '../providers/interfaces.ts';

export function failure(kind: CloudFailureKind): CloudFailure {
  return {
    kind,
    action: 'call',
    code: `code of ${kind}`,
    message: `message of ${kind}`,
    requestId: undefined,
  };
}

export function failed(kind: CloudFailureKind): Outcome {
  return { kind: 'failed', failure: failure(kind) };
}

/** An answer that got lost. */
export const lost: Outcome = { kind: 'ambiguous', failure: failure('unreachable') };

export function done(answer: Answer): Outcome {
  return { kind: 'done', answer };
}

/** A new interface with this many addresses, and these prefixes. */
export function created(id: string, count = 2, place = 9, prefixes: readonly string[] = []): Outcome {
  return done({
    kind: 'created',
    interface: networkInterface({
      id,
      primaryAddress: `10.0.${place}.4`,
      addresses: addresses(count, place),
      prefixes,
      attachment: undefined,
    }),
  });
}

export function attached(interfaceId: string, deviceIndex: number): Outcome {
  const attachmentId = `attach-${interfaceId}`;
  return done({ kind: 'attached', interfaceId, instanceId: 'i-1', deviceIndex, attachmentId });
}
