// Watches what controllers write to Azure, on arrival: what it finds must never happen, whatever else goes wrong.
import type { ArmCall } from '../../src/simulator/arm/arm-call.ts';
import type { ArmCloud } from '../../src/simulator/arm/arm-cloud.ts';
import type { Configuration } from '../../src/simulator/arm/arm-records.ts';
import type { ArmGateway } from '../../src/simulator/arm/arm-gateway.ts';
import { keyOf } from '../../src/simulator/arm/resource-path.ts';
import { type Json, isObject, listAt, objectAt, textAt } from '../../src/simulator/workload/json.ts';

/** How Headwater names the configurations that it adds: by the id of the operation. */
const ourName = /^Cilium-[0-9a-z]{8}-\d+$/;

/** Calls `report` for each misdeed of a caller that is `ours`. Other clients may do what they want. */
export function judgeArm(
  { cloud, gateway }: { readonly cloud: ArmCloud; readonly gateway: ArmGateway },
  isOurs: (caller: string) => boolean,
  report: (text: string) => void,
): void {
  gateway.onCall = (call) => {
    if (!isOurs(call.caller.name) || call.operation.method === 'GET') return;
    for (const misdeed of misdeedsIn(cloud, call)) report(`${call.name} of ${call.path} ${misdeed}`);
  };
  cloud.onWrite = ({ path, lost }) => {
    const { acting } = gateway;
    if (acting === undefined || !isOurs(acting.caller.name) || lost.length === 0) return;
    report(`${acting.name} of ${path} loses ${lost.join(', ')}`);
  };
}

function* misdeedsIn(cloud: ArmCloud, call: ArmCall): Generator<string> {
  if (call.operation.method !== 'PUT') {
    yield 'is nothing that Headwater does';
    return;
  }
  if (call.ifMatch === undefined || call.ifMatch === '*') yield 'has no If-Match';
  if (isObject(objectAt(call.body, 'properties', 'storageProfile')['imageReference']))
    yield 'has an imageReference';
  // A process that was frozen may change what is gone by now. Azure refuses that, because of the If-Match.
  if (etagOf(cloud, call) === undefined) return;
  const profile = objectAt(call.body, 'properties', 'networkProfileConfiguration');
  const interfaces = listAt(profile, 'networkInterfaceConfigurations');
  for (const item of interfaces.length > 0 ? interfaces : [call.body]) yield* changesIn(cloud, call, item);
}

function* changesIn(cloud: ArmCloud, call: ArmCall, item: Json): Generator<string> {
  const id = call.path.includes('/networkInterfaces/')
    ? keyOf(call.path)
    : keyOf(`${call.path}/networkInterfaces/${textAt(item, 'name')}`);
  const before = cloud.interfaces.current.get(id)?.configurations ?? [];
  const known = new Set(before.map(({ name }) => name));
  const wanted = new Set(listAt(item, 'properties', 'ipConfigurations').map((each) => textAt(each, 'name')));
  const added = [...wanted].filter((name) => !known.has(name));
  const dropped = before.filter(({ name }) => !wanted.has(name));
  // A failed change of others may have left them in the model.
  const asked = askedFor(cloud, call, textAt(item, 'name'));
  const foreign = added.filter((name) => !ourName.test(name) && !asked.has(name));
  if (foreign.length > 0) yield `names configurations ${foreign.join(', ')}`;
  // A model that was read before another client's change is refused by its etag.
  if (dropped.length === 0 || call.ifMatch === undefined || !isCurrent(cloud, call)) return;
  // What another client asked for, in vain, stays in the model: only that client may drop it.
  const ours = added.filter((name) => ourName.test(name) || !asked.has(name));
  if (ours.length > 0) yield `adds ${ours.join(', ')} and drops ${namesOf(dropped)}`;
  const kept = dropped.filter((each) => !mayBeDropped(each));
  if (kept.length > 0) yield `drops configurations ${namesOf(kept)}`;
}

/** Pods get addresses from these alone, and nothing outside the cluster leads to them. */
function mayBeDropped({ name, isPrimary, state, properties }: Configuration): boolean {
  const ways = Object.keys(properties).filter((each) =>
    /^(publicIP|loadBalancer|applicationGateway)/.test(each),
  );
  return name.startsWith('Cilium-') && !isPrimary && state === 'Succeeded' && ways.length === 0;
}

function namesOf(configurations: readonly Configuration[]): string {
  return configurations.map(({ name }) => name).join(', ');
}

function isCurrent(cloud: ArmCloud, call: ArmCall): boolean {
  return etagOf(cloud, call) === call.ifMatch;
}

/** Names of configurations that the model of a VM has already. */
function askedFor(cloud: ArmCloud, { path }: ArmCall, interfaceName: string): ReadonlySet<string> {
  const model = cloud.machines.current.get(keyOf(path))?.model ?? {};
  const profile = objectAt(model, 'properties', 'networkProfileConfiguration');
  const own = listAt(profile, 'networkInterfaceConfigurations').find(
    (each) => textAt(each, 'name') === interfaceName,
  );
  return new Set(listAt(own, 'properties', 'ipConfigurations').map((each) => textAt(each, 'name')));
}

/** Undefined if the VM or interface does not exist. */
function etagOf(cloud: ArmCloud, { path }: ArmCall): string | undefined {
  const key = keyOf(path);
  return (cloud.machines.current.get(key) ?? cloud.interfaces.current.get(key))?.etag;
}
