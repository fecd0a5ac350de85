// Adds an alias IP range to an interface and follows the operation to its end, within a bound: one that never ends is reported
// as unclear, and the next read shows what became of it.
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { CallContext } from '../contract/cloud.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import type { AliasRange } from './alias-interface.ts';
import type { ComputeClient } from './compute-client.ts';
import type { InstancePath } from './ids.ts';

export type RangeAddition =
  | { readonly kind: 'added' }
  /** Nothing was changed. */
  | { readonly kind: 'failed'; readonly failure: CloudFailure }
  /** The change may have taken effect, or may still do so. */
  | { readonly kind: 'unclear'; readonly failure: CloudFailure };

/** Waits between the polls of an operation, and the longest that one is followed, in ms. */
const polls = { first: 500, cap: 10_000, max: 180_000 };
/** Changes by others between a read and a change that are met at once. */
const maxTries = 3;

const action = 'instances.updateNetworkInterface';

/** Rejects only with the signal's reason. */
export async function addRange(
  client: ComputeClient,
  { path, range, clock }: { readonly path: InstancePath; readonly range: AliasRange; readonly clock: Clock },
  context: CallContext,
): Promise<RangeAddition> {
  try {
    let failure: CloudFailure | undefined;
    for (let tries = 0; tries < maxTries; tries++) {
      const shown = await client.readInterface(path, context);
      if (shown.ranges.some(({ ipCidrRange }) => ipCidrRange === range.ipCidrRange)) return { kind: 'added' };
      const result = await client.setRanges(path, shown, [...shown.ranges, range], context);
      if (result.kind === 'answered')
        return await followed(client, { path, name: result.output, clock }, context);
      ({ failure } = result);
      if (result.kind === 'ambiguous') return { kind: 'unclear', failure };
      if (failure.kind !== 'conflict') break;
    }
    return {
      kind: 'failed',
      failure: failure ?? failureOf('CONFLICT', 'it changed again and again', 'conflict'),
    };
  } catch (error) {
    if (error instanceof CloudError) return { kind: 'failed', failure: error.failure };
    throw error;
  }
}

async function followed(
  client: ComputeClient,
  { path, name, clock }: { readonly path: InstancePath; readonly name: string; readonly clock: Clock },
  context: CallContext,
): Promise<RangeAddition> {
  const end = clock.monotonic() + polls.max;
  let failure: CloudFailure | undefined;
  for (let wait = polls.first; clock.monotonic() < end; wait = Math.min(wait * 2, polls.cap)) {
    await sleep(clock, wait, context.signal);
    try {
      const reading = await client.readOperation(path, name, context);
      if (reading.kind === 'done') return { kind: 'added' };
      if (reading.kind === 'failed')
        return { kind: 'failed', failure: failureOf(reading.code, reading.message, kindOf(reading.code)) };
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      ({ failure } = error);
    }
  }
  const overdue = failureOf('OVERDUE', `the operation ${name} has not ended`, 'unknown');
  return { kind: 'unclear', failure: failure ?? overdue };
}

/** Errors of operations after which the same change may succeed. */
function kindOf(code: string): CloudFailure['kind'] {
  return /^(RESOURCE_NOT_READY|RESOURCE_OPERATION_RATE_EXCEEDED|RATE_LIMIT_EXCEEDED|INTERNAL_ERROR|CONDITION_NOT_MET)$/.test(
    code,
  )
    ? 'conflict'
    : 'invalid';
}

function failureOf(code: string, message: string, kind: CloudFailure['kind']): CloudFailure {
  return { kind, action, code, message, requestId: undefined };
}
