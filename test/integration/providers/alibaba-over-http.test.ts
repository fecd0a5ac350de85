import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AlibabaApi, endpointOf } from '../../../src/providers/alibaba/alibaba-api.ts';
import { alibabaAllocation } from '../../../src/providers/alibaba/alibaba-allocation.ts';
import { failureOf } from '../../../src/providers/alibaba/errors.ts';
import { alibabaLimits } from '../../../src/providers/alibaba/limits.ts';
import type { AllocationImplementation, CallContext } from '../../../src/providers/contract/cloud.ts';
import type { Answer, Operation } from '../../../src/providers/contract/operations.ts';
import { CallGate } from '../../../src/providers/gate/call-gate.ts';
import { MutationPermission, noPauses } from '../../../src/providers/gate/mutation-permission.ts';
import { ConcurrencyLimiter } from '../../../src/providers/rate-limit/concurrency-limiter.ts';
import { RateLimiter } from '../../../src/providers/rate-limit/rate-limiter.ts';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { startAlibabaServer } from '../../../src/simulator/alibaba/alibaba-server.ts';
import { createAlibaba } from '../../../src/simulator/alibaba/create-alibaba.ts';
import type { HttpFront } from '../../../src/simulator/http-front.ts';
import { allOf } from '../../unit/providers/azure/azure-rig.ts';
import { alibabaTopologyFrom } from '../../unit/simulator/alibaba/alibaba-rig.ts';

const topology = alibabaTopologyFrom(`
cloud: alibabacloud
vpcs: [{ id: vpc-1, name: main, blocks: [10.0.0.0/16] }]
vSwitches: [{ id: vsw-1, name: a, zone: cn-hangzhou-a, block: 10.0.0.0/24 }]
securityGroups: [{ id: sg-1, name: nodes }]
instances: [{ id: i-1, name: node, type: ecs.g7.large, vSwitch: a, securityGroups: [nodes] }]
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { createMs: 0, attachMs: 100 }
`);
const keys = { accessKeyId: 'LTAIHEADWATEREXAMPLE', accessKeySecret: 'headwater-example-secret' };
const context: CallContext = { caller: { priority: 'normal' }, signal: new AbortController().signal };

let server: HttpFront;

beforeAll(async () => {
  const { gateway } = createAlibaba({ topology, clock: systemClock, random: new Random('alibaba') });
  server = await startAlibabaServer({ gateway, clock: systemClock, port: 0 });
});

afterAll(() => server.close());

function connect(environment: Readonly<Record<string, string>>): {
  readonly api: AlibabaApi;
  readonly implementation: AllocationImplementation;
} {
  for (const name of ['ALIBABA_CLOUD_ACCESS_KEY_ID', 'ALIBABA_CLOUD_ACCESS_KEY_SECRET'])
    Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, environment);
  const clock = systemClock;
  const api = new AlibabaApi({
    regionId: 'cn-hangzhou',
    endpoints: { ecs: server.url, vpc: server.url },
    metadataEndpoint: 'http://127.0.0.1:9',
    environment: process.env,
    http: {
      connections: 10,
      connectionTimeout: 5000,
      clock,
      proxyFor: () => undefined,
      onRoute: () => undefined,
    },
  });
  const gate = new CallGate({
    rateLimiter: new RateLimiter({ clock, sizes: alibabaLimits, overall: undefined }),
    concurrency: new ConcurrencyLimiter(50),
    clock,
    timeout: 20_000,
    fence: { leads: () => true, isInSafeLeaseWindow: () => true },
    permission: new MutationPermission(noPauses),
    failureOf,
    listener: { onCall: () => undefined, onWait: () => undefined },
  });
  const reading = {
    consistencyWindow: 30_000,
    filters: { instanceTags: {}, subnetIds: [], subnetTags: {} },
    tolerance: 'few',
  } as const;
  return { api, implementation: alibabaAllocation({ api, gate, limits: alibabaLimits, clock, ...reading }) };
}

const byKeys = {
  ALIBABA_CLOUD_ACCESS_KEY_ID: keys.accessKeyId,
  ALIBABA_CLOUD_ACCESS_KEY_SECRET: keys.accessKeySecret,
};

async function answerTo(implementation: AllocationImplementation, operation: Operation): Promise<Answer> {
  await implementation.admit([operation.kind], context);
  const outcome = await implementation.perform(operation, context);
  if (outcome.kind !== 'done') throw new Error(`${operation.kind} ends as ${JSON.stringify(outcome)}`);
  return outcome.answer;
}

describe('over HTTP, with signed requests', () => {
  test('an interface is created, attached and filled, and a repeated assignment adds nothing', async () => {
    const { api, implementation } = connect(byKeys);

    const created = await answerTo(implementation, {
      kind: 'createInterface',
      instanceId: 'i-1',
      subnetId: 'vsw-1',
      securityGroupIds: ['sg-1'],
      addressCount: 2,
      prefixCount: 0,
      description: 'pods (of i-1) & more',
      tags: { 'a b': 'c/d+e~*' },
      deviceIndex: 1,
      token: 'token-1',
    });
    if (created.kind !== 'created') throw new Error(`${created.kind} answers the creation`);
    const { id: interfaceId } = created.interface;
    const attach = { kind: 'attachInterface', instanceId: 'i-1', interfaceId, deviceIndex: 1 } as const;
    expect(await answerTo(implementation, attach)).toMatchObject({ kind: 'attached', interfaceId });
    const assign = {
      kind: 'allocateIPs',
      instanceId: 'i-1',
      interfaceId,
      count: 2,
      operationId: 'operation-1',
    } as const;
    const given = await answerTo(implementation, assign);
    expect(await answerTo(implementation, assign)).toEqual(given);

    const pages = await allOf(implementation.observe({ kind: 'instances', instanceIds: ['i-1'] }, context));
    const shown = pages.flatMap(({ observations }) =>
      observations.flatMap((each) => (each.kind === 'interface' ? [each.interface] : [])),
    );
    expect(shown.find(({ id }) => id === interfaceId)).toMatchObject({
      description: 'pods (of i-1) & more',
      tags: { 'a b': 'c/d+e~*', 'cilium-eni-index': '1' },
      addresses: expect.arrayContaining([...created.interface.addresses]),
      attachment: { state: 'attached', deviceIndex: 1 },
    });
    api.close();
  });

  test.each([
    ['a wrong secret', { ...byKeys, ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'another' }, 'SignatureDoesNotMatch'],
    [
      'an unknown key',
      { ...byKeys, ALIBABA_CLOUD_ACCESS_KEY_ID: 'LTAIANOTHER' },
      'InvalidAccessKeyId.NotFound',
    ],
  ])('%s fails with its reason', async (_, environment, code) => {
    const { api, implementation } = connect(environment);

    await expect(implementation.reach(context)).rejects.toThrow(code);
    api.close();
  });
});

describe('the endpoint of a product', () => {
  test('is the one within VPCs', () => {
    expect(endpointOf('ecs', 'cn-hangzhou')).toBe('ecs-vpc.cn-hangzhou.aliyuncs.com');
    expect(endpointOf('vpc', 'ap-southeast-1')).toBe('vpc-vpc.ap-southeast-1.aliyuncs.com');
  });
});
