// An Alibaba Cloud in one process and in virtual time, with the requests of the tests.
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import type { AlibabaTopology } from '../../../../src/simulator/alibaba/alibaba-topology-schema.ts';
import { readAlibabaTopology } from '../../../../src/simulator/alibaba/alibaba-topology.ts';
import { type Alibaba, createAlibaba } from '../../../../src/simulator/alibaba/create-alibaba.ts';
import { type Product, versions } from '../../../../src/simulator/alibaba/rpc-action.ts';
import { answerCaller } from '../../../../src/simulator/alibaba/alibaba-http.ts';
import type { RpcExchange, RpcRequest } from '../../../../src/simulator/alibaba/rpc-call.ts';
import type { JsonObject } from '../../../../src/simulator/workload/json.ts';
import { listAt, objectAt, textAt } from '../../../../src/simulator/workload/json.ts';

export type Given = Readonly<Record<string, string | number | boolean>>;

export interface AlibabaRig extends Alibaba {
  readonly time: VirtualClock;
  readonly exchange: (action: string, given?: Given) => Promise<RpcExchange>;
  /** The answer; fails for any other outcome. */
  readonly ask: (action: string, given?: Given) => Promise<JsonObject>;
  /** The code of a refusal, or `none`. */
  readonly codeOf: (action: string, given?: Given) => Promise<string>;
  /** The states of interfaces by id, as a listing shows them. */
  readonly statusOf: (id: string) => Promise<string>;
  /** A new interface in the vSwitch `vsw-a`, whose creation has ended. */
  readonly made: (given?: Given) => Promise<string>;
}

const cloud = `
cloud: alibabacloud
vpcs: [{ id: vpc-main, name: main, blocks: [10.0.0.0/16, 10.9.0.0/16], tags: { purpose: pods } }]
vSwitches:
  - { id: vsw-a, name: a, zone: cn-hangzhou-a, block: 10.0.0.0/24, tags: { purpose: pods } }
  - { id: vsw-b, name: b, zone: cn-hangzhou-b, block: 10.0.1.0/24 }
  - { id: vsw-tiny, name: tiny, zone: cn-hangzhou-a, block: 10.0.2.0/28 }
securityGroups: [{ id: sg-pods, name: pods }, { id: sg-nodes, name: nodes, tags: { a: b } }]
instances:
  - { id: i-1, name: one, type: ecs.g7.large, vSwitch: a, securityGroups: [nodes], tags: { cluster: demo } }
  - { id: i-2, name: two, type: ecs.g7.xlarge, vSwitch: b, securityGroups: [nodes] }
`;

const plain = `
limits: { throttle: false }
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { createMs: 500, attachMs: 3000, detachMs: 2000, deleteMs: 1000 }
reuse: 0
`;

export function alibabaTopologyFrom(text: string): AlibabaTopology {
  const read = readAlibabaTopology(text);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.topology;
}

export function alibabaRig(text = cloud, behaviour = plain): AlibabaRig {
  const time = new VirtualClock();
  const topology = alibabaTopologyFrom(`${text}\n${behaviour}`);
  const alibaba = createAlibaba({ topology, clock: time, random: new Random('alibaba') });
  const [caller] = topology.credentials;
  if (caller === undefined) throw new Error('the topology has no credential');
  const requestOf = (action: string, given: Given): RpcRequest => {
    const product: Product = /^Describe(Vpcs|VSwitches)$/.test(action) ? 'vpc' : 'ecs';
    const whole: Given = { RegionId: topology.region, ...given };
    const parameters = new Map(Object.entries(whole).map(([name, value]) => [name, String(value)]));
    return { action, version: versions[product], parameters, caller };
  };
  const { gateway } = alibaba;
  const exchange: AlibabaRig['exchange'] = (action, given = {}) => gateway.exchange(requestOf(action, given));
  const ask: AlibabaRig['ask'] = async (action, given) => {
    const outcome = await exchange(action, given);
    if (outcome.kind === 'refused') throw outcome.refusal;
    if (outcome.kind !== 'answered') throw new Error(`the answer is ${outcome.kind}`);
    return outcome.output;
  };
  const codeOf: AlibabaRig['codeOf'] = async (action, given = {}) => {
    const outcome = await answerCaller(requestOf(action, given), { gateway, now: 0, requestId: 'R' });
    if (outcome.kind !== 'answer') throw new Error(`the answer is a ${outcome.kind}`);
    return textAt(JSON.parse(outcome.body) as JsonObject, 'Code') || 'none';
  };
  const statusOf: AlibabaRig['statusOf'] = async (id) => {
    const [found] = await interfacesOf(ask, { 'NetworkInterfaceId.1': id });
    return found === undefined ? 'none' : textAt(found, 'Status');
  };
  const made: AlibabaRig['made'] = async (given) => {
    const answer = await ask('CreateNetworkInterface', {
      VSwitchId: 'vsw-a',
      SecurityGroupId: 'sg-pods',
      ...given,
    });
    await time.advance(500);
    return textAt(answer, 'NetworkInterfaceId');
  };
  return { ...alibaba, time, exchange, ask, codeOf, statusOf, made };
}

/** The interfaces of one page. */
export async function interfacesOf(ask: AlibabaRig['ask'], given: Given): Promise<readonly JsonObject[]> {
  const answer = await ask('DescribeNetworkInterfaces', given);
  return listAt(answer, 'NetworkInterfaceSets', 'NetworkInterfaceSet').map((each) => objectAt(each));
}

/** The addresses of an interface, the primary one first. */
export function addressesOf(record: JsonObject): readonly string[] {
  return listAt(record, 'PrivateIpSets', 'PrivateIpSet').map((each) => textAt(each, 'PrivateIpAddress'));
}
