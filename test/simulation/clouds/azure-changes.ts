// Another client of Azure changes configurations of the cluster while the controller runs.
import type { ArmInterface } from '../../../src/simulator/arm/arm-records.ts';
import { textAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { oneMore } from '../../support/arm-hand.ts';
import type { Harness } from '../harness.ts';
import type { ExternalChange } from '../scenario.ts';
import type { AzureRig } from './azure-rig.ts';

interface Target {
  readonly harness: Harness;
  readonly rig: AzureRig;
  readonly facts: NodeFacts;
}

/** Resolves once Azure has answered; it may refuse, as the instance is often changing. */
export async function changeOnAzure(
  target: Target,
  { deed, pick }: { readonly deed: ExternalChange; readonly pick: number },
): Promise<void> {
  const first = firstInterface(target);
  if (first === undefined) return;
  const { path, item } = first;
  if (deed === 'assign') await add(target, path);
  else await dropOne(target, item, { path, pick, isUsed: deed === 'unassign-used' });
}

/** The first interface of a VM, and the path of the model that has it. */
function firstInterface({
  rig,
  facts,
}: Target): { readonly path: string; readonly item: ArmInterface } | undefined {
  const { cloud } = rig.cluster.arm;
  const machine = cloud.machines.current.get(facts.instanceId);
  const [item] = machine === undefined ? [] : cloud.interfacesOf(machine);
  if (machine === undefined || item === undefined) return undefined;
  return { path: machine.instanceId === undefined ? item.path : machine.path, item };
}

/** Takes these addresses, which its agent does not use, from the first interface of a VM; nothing if it has none of them. */
export async function takeOnAzure(
  { harness, rig, facts }: Target,
  addresses: ReadonlySet<string>,
): Promise<void> {
  const first = firstInterface({ harness, rig, facts });
  const taken = first?.item.configurations.filter(({ address = '' }) => addresses.has(address)) ?? [];
  if (first === undefined || taken.length === 0) return;
  for (const { address = '' } of taken) harness.checker.exempt(address);
  harness.checker.recordExternalLoss(facts.instanceId);
  const names = new Set(taken.map(({ name }) => name));
  const status = await rig.hand.change(first.path, (list) =>
    list.filter((each) => !names.has(textAt(each, 'name'))),
  );
  if (status < 300) harness.coverage.hit('snatch');
}

async function add({ harness, rig, facts }: Target, path: string): Promise<void> {
  const status = await rig.hand.change(path, oneMore(`other-${Math.round(harness.now)}`));
  if (status >= 300) return;
  harness.checker.allowances.addExtra(facts.instanceId);
  harness.coverage.hit('foreign', 'assign');
}

async function dropOne(
  { harness, rig, facts }: Target,
  { configurations }: ArmInterface,
  { path, pick, isUsed }: { readonly path: string; readonly pick: number; readonly isUsed: boolean },
): Promise<void> {
  const inUse = harness.cluster.workload.machineOf(facts.name)?.memory.endpoints ?? new Map<string, string>();
  const candidates = configurations.filter(
    ({ isPrimary, address = '' }) => !isPrimary && inUse.has(address) === isUsed,
  );
  const chosen = candidates[Math.floor(pick * candidates.length)];
  if (chosen === undefined) return;
  harness.checker.exempt(chosen.address ?? '');
  harness.checker.recordExternalLoss(facts.instanceId);
  const status = await rig.hand.change(path, (list) =>
    list.filter((each) => textAt(each, 'name') !== chosen.name),
  );
  if (status < 300) harness.coverage.hit('foreign', isUsed ? 'unassign-used' : 'unassign-free');
}
