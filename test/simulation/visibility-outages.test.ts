import { expect, test } from '@jest/globals';
import { loadScenario } from './load-scenario.ts';
import { runScenario } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';

/** Of these VMs, the ones of a Uniform scale set are in the first zone, and those of a Flexible one in the second. */
function outageWith(vms: { readonly uniform: number; readonly flexible: number }): Scenario {
  const { azure, zones, nodes, faults, ...rest } = loadScenario('held-by-the-former-leader-on-azure.json');
  const [zone] = zones;
  const [node] = nodes;
  const [fault] = faults;
  if (azure === undefined || zone === undefined || node === undefined || fault?.kind !== 'blind')
    throw new Error('the scenario is another one');
  const { handover: _, ...outage } = fault;
  return {
    ...rest,
    azure: { ...azure, modes: ['Uniform', 'Flexible'], interfaces: [2, 2], podInterfaces: [1, 0] },
    zones: [zone, { ...zone, podBlocks: ['10.0.65.0/24'] }],
    nodes: [
      ...Array.from({ length: vms.uniform }, () => ({ ...node, zone: 0 })),
      ...Array.from({ length: vms.flexible }, () => ({ ...node, zone: 1 })),
    ],
    faults: [outage],
  };
}

// A refresh reads what a VM of a Flexible set names one by one, so an outage of lists hides nothing of it.
test.each([
  { uniform: 3, flexible: 4 },
  { uniform: 4, flexible: 3 },
])('an outage of lists never hides what the withdrawal brake would let go: %o', async (vms) => {
  const { violations } = await runScenario(outageWith(vms));

  expect(violations).toEqual([]);
});
