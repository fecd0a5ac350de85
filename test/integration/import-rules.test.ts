import { execFile } from 'node:child_process';
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = new URL('../../', import.meta.url).pathname;

/** For each rule, a file and an import in it that breaks the rule. */
const planted: Readonly<Record<string, readonly [file: string, imported: string]>> = {
  'clouds-apart': ['src/controller/clouds/alibaba.ts', '../../providers/aws/errors.ts'],
  'clouds-are-chosen-in-the-registry': ['src/controller/fencing.ts', './clouds/connect-to-aws.ts'],
  // Under another name than in its dynamic import, with which it would count as one.
  'clouds-are-loaded-once-chosen': ['src/controller/clouds/registry.ts', '../clouds/alibaba.ts'],
  'clouds-know-no-kubernetes': ['src/providers/aws/errors.ts', '../../kubernetes/transport/json.ts'],
  'clouds-are-composed-in-one-place': ['src/controller/fencing.ts', '../providers/aws/errors.ts'],
  'clouds-stand-on-what-calls-pass': ['src/providers/aws/ids.ts', '../inventory/visibility-lag.ts'],
  'provider-rooms-stand-on-the-contract': ['src/providers/inventory/withdrawals.ts', '../orphans/orphans.ts'],
  'gate-stands-on-rate-limits': ['src/providers/gate/denied-actions.ts', '../inventory/visibility-lag.ts'],
  'config-and-observability-below-controller': ['src/config/go-duration.ts', '../node/demand/statistics.ts'],
  'kubernetes-stands-alone': ['src/kubernetes/watch/listing.ts', '../../observability/logger.ts'],
  'transport-below-kubernetes-rooms': ['src/kubernetes/transport/deadline.ts', '../watch/listing.ts'],
  'kubernetes-rooms-apart': ['src/kubernetes/lease/lease-record.ts', '../watch/listing.ts'],
  'manager-rooms-apart': ['src/manager/claims/instance-claim.ts', '../withdrawals/withdrawal-brake.ts'],
  'node-below-manager': ['src/node/demand/statistics.ts', '../../manager/resync.ts'],
  'demand-below-node-rooms': ['src/node/demand/capacity.ts', '../release/release-state.ts'],
  'allocate-release-publish-apart': ['src/node/allocate/step-result.ts', '../publish/desired-status.ts'],
  'conditions-above-allocate-release-publish': [
    'src/node/allocate/planned-step.ts',
    '../conditions/assessment.ts',
  ],
  'conditions-know-no-publish': ['src/node/conditions/assessment.ts', '../publish/desired-status.ts'],
  'housekeeping-apart': ['src/node/housekeeping/static-address.ts', '../allocate/planned-step.ts'],
  'node-rooms-below-reconcile': ['src/node/publish/desired-status.ts', '../reconcile/deficit.ts'],
  'contract-below-provider-rooms': ['src/providers/contract/operations.ts', '../gate/mutation-permission.ts'],
  'manager-knows-no-cloud': ['src/manager/resync.ts', '../providers/aws/errors.ts'],
  'runtime-stands-alone': ['src/runtime/random.ts', '../providers/contract/ipv4.ts'],
  'blocks-set-stands-alone': ['src/blocks/set/cidr.ts', '../../runtime/random.ts'],
  'blocks-allocation-knows-no-holders': [
    'src/blocks/allocation/seniority.ts',
    '../../kubernetes/transport/json.ts',
  ],
  'blocks-apart': ['src/blocks/allocation/block-holders.ts', '../../providers/contract/ipv4.ts'],
  'settings-of-blocks-stand-on-options': ['src/blocks/settings/block-pools.ts', '../allocation/shelf.ts'],
  'modes-of-blocks-know-their-host': ['src/blocks/modes/own-lease.ts', '../../controller/fencing.ts'],
  'clouds-sessions-below-controller': ['src/controller/eni/cloud-state.ts', '../fencing.ts'],
  'blocks-holders-apart': ['src/blocks/cluster-pool/planted.ts', '../node-ipam/planted.ts'],
  'blocks-pools-above-cilium-nodes': ['src/blocks/multi-pool/planted.ts', '../node-ipam/planted.ts'],
  'agent-apart': ['src/agent/agent.ts', '../blocks/allocation/shelf.ts'],
  'agent-is-a-command': ['src/commands/exit-code.ts', '../agent/cni/cni-error.ts'],
  'agent-decides-without-io': ['src/agent/ipam/holdings.ts', '../../observability/logger.ts'],
  'agent-record-knows-holdings': ['src/agent/record/change-text.ts', '../cni/cni-error.ts'],
  'clouds-know-no-blocks': ['src/node/demand/awaited.ts', '../../blocks/set/cidr.ts'],
  'network-stands-alone': ['src/network/proxies.ts', '../observability/logger.ts'],
  'simulator-stands-apart': ['src/simulator/cloud/ipv4.ts', '../../providers/contract/ipv4.ts'],
  'controller-knows-no-simulator': ['src/providers/orphans/orphans.ts', '../../simulator/cloud/ipv4.ts'],
  'nobody-imports-the-composition': ['src/node/demand/demand.ts', '../../controller/fencing.ts'],
  'controller-on-top': ['src/controller/eni/eni-mode.ts', '../controller.ts'],
  'controller-rooms-below-controller': ['src/controller/reporting/missing-data.ts', '../fencing.ts'],
  'sdk-at-the-edge': ['src/providers/aws/errors.ts', '@aws-sdk/client-ec2'],
  'nothing-unresolvable': ['src/node/demand/statistics.ts', './nowhere.ts'],
  'product-knows-no-checks': ['src/config/go-duration.ts', '../../bench/planted.ts'],
  'benchmarks-use-what-ships': ['bench/planted.ts', '../src/node/demand/capacity.ts'],
  'no-cycle': ['src/node/demand/statistics.ts', './capacity.ts'],
};

test('every import rule finds the violation planted against it', async () => {
  const copy = await mkdtemp(join(tmpdir(), 'headwater-imports-'));
  try {
    for (const name of ['src', 'package.json', 'tsconfig.json', '.dependency-cruiser.json']) {
      await cp(join(root, name), join(copy, name), { recursive: true });
    }
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    await mkdir(join(copy, 'bench'));
    for (const room of ['cluster-pool', 'node-ipam', 'multi-pool']) {
      await mkdir(join(copy, `src/blocks/${room}`), { recursive: true });
      await appendFile(join(copy, `src/blocks/${room}/planted.ts`), '');
    }
    for (const [file, imported] of Object.values(planted)) {
      await appendFile(join(copy, file), `import * as planted from '${imported}';\nvoid planted;\n`);
    }

    const found = await brokenRules(copy);

    const rules = Object.keys(planted).toSorted();
    expect([...found].toSorted()).toEqual(rules);
    expect((await ruleNames(copy)).toSorted()).toEqual(rules);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
});

async function ruleNames(directory: string): Promise<string[]> {
  const text = await readFile(join(directory, '.dependency-cruiser.json'), 'utf8');
  const { forbidden } = JSON.parse(text) as { forbidden: { name: string }[] };
  return forbidden.map(({ name }) => name);
}

function brokenRules(directory: string): Promise<ReadonlySet<string>> {
  const cruiser = join(root, 'node_modules/.bin/depcruise');
  const args = [cruiser, 'src', 'bench', '--config', '.dependency-cruiser.json', '--output-type', 'json'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: directory, maxBuffer: 2 ** 28 }, (error, stdout) => {
      // The exit code is the number of violations.
      if (stdout === '') return reject(error ?? new Error('no output'));
      const { summary } = JSON.parse(stdout) as { summary: { violations: { rule: { name: string } }[] } };
      resolve(new Set(summary.violations.map(({ rule }) => rule.name)));
    });
  });
}
