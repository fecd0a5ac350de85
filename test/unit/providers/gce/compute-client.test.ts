import { expect, test } from '@jest/globals';
import type { CallContext } from '../../../../src/providers/contract/cloud.ts';
import { CallGate } from '../../../../src/providers/gate/call-gate.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import type { SettledChange } from '../../../../src/providers/gate/settled-change.ts';
import { ComputeClient, computeLimits } from '../../../../src/providers/gce/compute-client.ts';
import { failureOf } from '../../../../src/providers/gce/errors.ts';
import { ConcurrencyLimiter } from '../../../../src/providers/rate-limit/concurrency-limiter.ts';
import { RateLimiter } from '../../../../src/providers/rate-limit/rate-limiter.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const context: CallContext = { caller: { priority: 'normal' }, signal: new AbortController().signal };

test.each([
  ['no name', {}],
  ['an empty name', { name: '' }],
  ['a name that is no text', { name: 5 }],
])('an answer with %s has no request id, and leaves the change unclear', async (_, output) => {
  const clock = new VirtualClock();
  const audited: SettledChange[] = [];
  const gate = new CallGate({
    rateLimiter: new RateLimiter({ clock, sizes: computeLimits, overall: undefined }),
    concurrency: new ConcurrencyLimiter(1),
    clock,
    timeout: 10_000,
    fence: { leads: () => true, isInSafeLeaseWindow: () => true },
    permission: new MutationPermission(noPauses),
    failureOf: ({ name }, error) => failureOf(name, error),
    listener: {
      onCall: () => undefined,
      onWait: () => undefined,
      audit: { changed: (change) => void audited.push(change) },
    },
  });
  const client = new ComputeClient(
    {
      send: (_request, { onSend }) => {
        onSend();
        return Promise.resolve(output);
      },
    },
    gate,
  );

  const result = await client.setRanges(
    { project: 'p', zone: 'z', name: 'i' },
    { fingerprint: 'f', nic: 'nic0' },
    [],
    context,
  );

  expect(result).toMatchObject({ kind: 'ambiguous', failure: { kind: 'unreadable' } });
  expect(audited).toMatchObject([{ end: 'accepted', requestId: undefined }]);
});
