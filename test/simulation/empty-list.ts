// Lists that controllers make succeed and show nothing, as from a cache that was not filled, or from another cluster.
import type { FaultPlan, ListedKind } from './scenario.ts';
import type { Stage } from './harness.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'empty-list' }>;

/** What controllers ask for; agents ask for their own node alone. */
const asked: Readonly<Record<ListedKind, RegExp>> = {
  ciliumnodes: /\/ciliumnodes(\?(?!.*fieldSelector).*)?$/,
  nodes: /\/api\/v1\/nodes(\?.*)?$/,
  pods: /\/api\/v1\/pods\?.*status\.phase/,
};

export function emptyList(stage: Stage, { what, restart, for: ms }: Plan): void {
  const { faults } = stage.cluster.kubernetes;
  const path = asked[what];
  const over = faults.inject({ method: 'GET', path, times: Infinity, effect: { kind: 'emptyList' } });
  stage.clock.schedule(ms, over);
  faults.expireHistory();
  faults.cutWatches(path);
  stage.coverage.hit('empty-list', what);
  const { leader } = stage;
  if (restart && leader !== undefined) stage.clock.schedule(1000, () => stage.retire(leader, 2000));
}
