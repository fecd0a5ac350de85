// Lists of controllers succeed and show nothing, as from an unfilled cache or from another cluster.
import type { FaultPlan, ListedKind } from './scenario.ts';
import type { Harness } from './harness.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'empty-list' }>;

/** Lists that only controllers request; an agent requests its own node alone. */
const asked: Readonly<Record<ListedKind, RegExp>> = {
  ciliumnodes: /\/ciliumnodes(\?(?!.*fieldSelector).*)?$/,
  nodes: /\/api\/v1\/nodes(\?.*)?$/,
  pods: /\/api\/v1\/pods\?.*status\.phase/,
};

export function emptyList(harness: Harness, { what, restart, for: ms }: Plan): void {
  const { faults } = harness.cluster.kubernetes;
  const path = asked[what];
  const over = faults.inject({ method: 'GET', path, times: Infinity, effect: { kind: 'emptyList' } });
  harness.clock.schedule(ms, over);
  faults.expireHistory();
  faults.cutWatches(path);
  harness.coverage.hit('empty-list', what);
  const { leader } = harness;
  if (restart && leader !== undefined) harness.clock.schedule(1000, () => harness.retire(leader, 2000));
}
