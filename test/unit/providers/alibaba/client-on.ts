// A client of Alibaba Cloud without limits, on an API of the test's own.
import { failureOf } from '../../../../src/providers/alibaba/errors.ts';
import type { RpcApi } from '../../../../src/providers/alibaba/rpc-api.ts';
import { RpcClient } from '../../../../src/providers/alibaba/rpc-client.ts';
import { CallGate } from '../../../../src/providers/gate/call-gate.ts';
import type { ChangeListener } from '../../../../src/providers/gate/settled-change.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import { ConcurrencyLimiter } from '../../../../src/providers/rate-limit/concurrency-limiter.ts';
import { RateLimiter } from '../../../../src/providers/rate-limit/rate-limiter.ts';
import type { Clock } from '../../../../src/runtime/clock.ts';

export function clientOn(clock: Clock, api: RpcApi, audit?: ChangeListener): RpcClient {
  const gate = new CallGate({
    rateLimiter: new RateLimiter({ clock, sizes: new Map(), overall: undefined }),
    concurrency: new ConcurrencyLimiter(1),
    clock,
    timeout: 10_000,
    fence: { leads: () => true, isInSafeLeaseWindow: () => true },
    permission: new MutationPermission(noPauses),
    failureOf,
    listener: { onCall: () => undefined, onWait: () => undefined, audit },
  });
  return new RpcClient(api, gate);
}
