// The order of tests that run several at a time: the longest first, so that all end at about one time. Jest knows how long each
// took only from a cache, which is not there on a machine that is new. Of the others, a large file takes longer than a small one.
import { statSync } from 'node:fs';

const longest = [
  'integration/controller/azure-kill-points',
  'integration/controller/granted-again',
  'integration/commands/demo',
  'integration/commands/planted-secrets',
  'integration/agent/with-controller',
  'integration/controller/attacks-over-http',
  'integration/controller/kill-points',
  'integration/controller/agent-conflicts',
  'integration/commands/spoiled-answers',
  'integration/commands/demo-blocks',
  'integration/commands/cluster-name',
  'integration/commands/plan',
  'integration/page',
  'integration/page-pictures',
  'integration/controller/bad-nodes',
  'integration/controller/attacks',
  'integration/controller/azure-lost-answers',
  'integration/controller/ambiguity',
  'integration/controller/refusals',
  'integration/controller/alibaba-kill-points',
  'integration/providers/spoiled-answers',
  'integration/controller/silent-connections',
  'e2e/scenarios/kills',
  'e2e/scenarios/hostile-agent',
  'e2e/scenarios/takeover-outage',
  'e2e/scenarios/takeover-eni',
  'e2e/scenarios/takeover-azure',
  'e2e/scenarios/takeover-alibaba',
  'e2e/scenarios/takeover-blocks',
  'e2e/scenarios/kubelet',
  'e2e/scenarios/blocks',
  'e2e/scenarios/missing-access',
  'e2e/scenarios/thousand-nodes',
  'e2e/scenarios/api-trouble',
  'e2e/scenarios/freeze',
  'e2e/scenarios/azure',
  'e2e/scenarios/pods',
  'e2e/scenarios/pools',
  'e2e/scenarios/alibaba',
  'e2e/scenarios/node-identity',
  'e2e/scenarios/eni-agents',
  'e2e/scenarios/shipped-policy',
  'e2e/scenarios/dual-stack',
];

function rank({ path }) {
  const at = longest.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
  return at < 0 ? longest.length : at;
}

export default class LongestFirst {
  sort(tests) {
    const keys = new Map(tests.map((test) => [test, { rank: rank(test), size: statSync(test.path).size }]));
    return tests.toSorted(
      (a, b) => keys.get(a).rank - keys.get(b).rank || keys.get(b).size - keys.get(a).size,
    );
  }

  cacheResults() {}
}
