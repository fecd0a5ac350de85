// Small Azures for whole flows: one virtual network, one scale set, and only what a test overrides. Delays, lags and rate
// limits are those of Azure by default.
import type { ArmCloud } from '../../src/simulator/arm/arm-cloud.ts';
import { type ArmTopology, readArmTopology } from '../../src/simulator/arm/arm-topology.ts';
import { type Json, type JsonObject, listAt, objectAt } from '../../src/simulator/workload/json.ts';

type Section = Readonly<Record<string, unknown>>;

/** Principals of a test cloud: controllers, and everybody else. */
export const controllerPrincipal = 'headwater';
export const otherPrincipal = 'somebody';

/** A scale set of a test cloud. */
export function scaleSet(change: Section = {}): Section {
  return { name: 'pool', count: 1, interfaces: [{ name: 'nic0', subnet: 'pods' }], ...change };
}

/** Sections of a topology replace those of the plain cloud. */
export function testAzure(change: Section = {}): ArmTopology {
  const plan = {
    cloud: 'azure',
    seed: 'test-azure',
    principals: [controllerPrincipal, otherPrincipal].map((name, index) => ({
      name,
      clientId: `00000000-0000-0000-0000-0000000000c${index}`,
      secret: `headwater-${name}`,
    })),
    virtualNetworks: [
      {
        name: 'main',
        blocks: ['10.0.0.0/16'],
        subnets: [
          { name: 'pods', block: '10.0.16.0/20' },
          { name: 'more', block: '10.0.32.0/21', listed: true },
        ],
      },
    ],
    scaleSets: [scaleSet()],
    respelled: 0.2,
    ...change,
  };
  const read = readArmTopology(JSON.stringify(plan));
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.topology;
}

/** Gives every VM and every interface fields of a later version of Azure, which clients have to write back. */
export function addUnknownFields({ machines, interfaces }: ArmCloud): void {
  for (const machine of machines.current.values()) {
    const properties = objectAt(machine.model, 'properties');
    const profile = objectAt(properties, 'networkProfileConfiguration');
    const list = listAt(profile, 'networkInterfaceConfigurations').map(withUnknown);
    const network = {
      networkProfileConfiguration: { ...profile, networkInterfaceConfigurations: list, laterField: 1 },
    };
    machines.put({
      ...machine,
      model: {
        ...machine.model,
        laterField: 'kept',
        properties: { ...properties, laterProfile: { modes: ['a', 'b'] }, ...(list.length > 0 && network) },
      },
    });
  }
  for (const record of interfaces.current.values())
    interfaces.put({ ...record, model: withUnknown(record.model) });
}

function withUnknown(item: Json): JsonObject {
  const properties = { ...objectAt(item, 'properties'), laterSetting: { isOn: true } };
  return { ...objectAt(item), properties };
}
