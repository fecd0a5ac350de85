// An Azure in virtual time without a socket, for unit tests of its model.
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { answerArm } from '../../../../src/simulator/arm/arm-http.ts';
import { readArmTopology } from '../../../../src/simulator/arm/arm-topology.ts';
import type { ArmTopology } from '../../../../src/simulator/arm/arm-topology-schema.ts';
import { type Arm, createArm } from '../../../../src/simulator/arm/create-arm.ts';
import type { JsonObject as JsonAnswer } from '../../../../src/runtime/json.ts';
import type { Json, JsonObject } from '../../../../src/simulator/workload/json.ts';
import { isObject, listAt, objectAt, textAt } from '../../../../src/simulator/workload/json.ts';

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonAnswer;
}

export interface ArmRig extends Arm {
  readonly time: VirtualClock;
  /** Sends one request; fails for an answer that is lost. `path` is absolute, or begins below the resource group. */
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Answered>;
  /** The code of a refusal, or `none`. */
  readonly codeOf: (method: string, path: string, options?: SendOptions) => Promise<string>;
}

export interface SendOptions {
  readonly body?: JsonObject;
  readonly ifMatch?: string;
  readonly version?: string;
  readonly token?: string;
}

export const groupPath = '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nodes';
export const setPath = '/providers/Microsoft.Compute/virtualMachineScaleSets/pool';
export const vmPath = `${setPath}/virtualMachines/0`;
/** The interface of the machine of its own. */
export const ownNicPath = '/providers/Microsoft.Network/networkInterfaces/single-nic0';
export const subnetPath = '/providers/Microsoft.Network/virtualNetworks/main/subnets/a';

const cloud = `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/27 }] }]
scaleSets: [{ name: pool, count: 2, interfaces: [{ name: nic0, subnet: a, addresses: 1 }] }]
machines: [{ name: single, interfaces: [{ name: nic0, subnet: a }] }]
`;

const plain = `
limits: { throttle: false }
latency: { scale: 0 }
consistency: { listingLagMs: 0 }
times: { machineMs: 20000, interfaceMs: 5000 }
`;

export function armTopologyFrom(text: string): ArmTopology {
  const read = readArmTopology(text);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.topology;
}

export function armRig(text = cloud, behaviour = plain): ArmRig {
  const time = new VirtualClock();
  const topology = armTopologyFrom(`${text}\n${behaviour}`);
  const arm = createArm({ topology, clock: time, random: new Random('arm') });
  const [principal] = topology.principals;
  if (principal === undefined) throw new Error('the topology has no principal');
  const { token: issued } = arm.gateway.tokens.issue(principal, 'https://management.azure.com', 1e9);
  const send: ArmRig['send'] = async (method, path, options = {}) => {
    const { body, ifMatch, version = '2024-07-01', token = issued } = options;
    const whole = path.startsWith('/subscriptions/') ? path : groupPath + path;
    const url = whole.includes('?') ? whole : `${whole}?api-version=${version}`;
    const outcome = await answerArm(
      {
        method,
        url,
        headers: {
          host: 'arm.example',
          authorization: `Bearer ${token}`,
          ...(ifMatch !== undefined && { 'if-match': ifMatch }),
        },
        body: body === undefined ? '' : JSON.stringify(body),
      },
      arm.gateway,
    );
    if (outcome.kind !== 'answer') throw new Error(`the answer is a ${outcome.kind}`);
    const content: unknown = outcome.body === '' ? {} : JSON.parse(outcome.body);
    return { status: outcome.status, headers: outcome.headers, body: content as JsonAnswer };
  };
  const codeOf: ArmRig['codeOf'] = async (method, path, options) => {
    const { body } = await send(method, path, options);
    return textAt(body, 'error', 'code') || 'none';
  };
  return { ...arm, time, send, codeOf };
}

/** The model of a machine with so many more configurations, named `more-0` and so on, on its first interface. */
export function withMore(machine: JsonObject, count: number): JsonObject {
  return mapConfigurations(machine, (configurations) => [
    ...configurations,
    ...Array.from({ length: count }, (_, index) => ({
      name: `more-${index}`,
      properties: {
        privateIPAddressVersion: 'IPv4',
        subnet: { id: groupPath + subnetPath },
      },
    })),
  ]);
}

/** The model of a machine with other configurations on its first interface. */
export function mapConfigurations(
  machine: JsonObject,
  change: (configurations: readonly Json[]) => readonly Json[],
): JsonObject {
  const properties = objectAt(machine, 'properties');
  const profile = objectAt(properties, 'networkProfileConfiguration');
  const [first, ...others] = listAt(profile, 'networkInterfaceConfigurations');
  if (!isObject(first)) throw new Error('the machine has no interface');
  const own = objectAt(first, 'properties');
  const changed = {
    ...first,
    properties: { ...own, ipConfigurations: change(listAt(own, 'ipConfigurations')) },
  };
  return {
    ...machine,
    properties: {
      ...properties,
      networkProfileConfiguration: { ...profile, networkInterfaceConfigurations: [changed, ...others] },
    },
  };
}

/** Names, addresses and states of the configurations of an interface. */
export function configurationsOf(body: JsonObject): readonly string[] {
  return listAt(body, 'properties', 'ipConfigurations').map((each) => {
    const state = textAt(each, 'properties', 'provisioningState');
    return `${textAt(each, 'name')} ${state}`;
  });
}
