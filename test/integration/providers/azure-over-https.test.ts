import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { ArmClient, callOf } from '../../../src/providers/azure/arm-client.ts';
import { AzureApi } from '../../../src/providers/azure/azure-api.ts';
import { azureClouds } from '../../../src/providers/azure/azure-clouds.ts';
import { Changes } from '../../../src/providers/azure/changes.ts';
import { failureOf } from '../../../src/providers/azure/errors.ts';
import { azureLimits } from '../../../src/providers/azure/limits.ts';
import { FailedModels } from '../../../src/providers/azure/failed-models.ts';
import { associate } from '../../../src/providers/azure/associate.ts';
import { PublicAddresses } from '../../../src/providers/azure/public-addresses.ts';
import { PublicIpPrefixes } from '../../../src/providers/azure/public-ip-prefixes.ts';
import { observe } from '../../../src/providers/azure/read.ts';
import { Spellings } from '../../../src/providers/azure/ids.ts';
import { Subnets } from '../../../src/providers/azure/subnets.ts';
import { admittedFor } from '../../../src/providers/azure/model-change.ts';
import { updateInstance } from '../../../src/providers/azure/update-instance.ts';
import { CallGate } from '../../../src/providers/gate/call-gate.ts';
import { MutationPermission, noPauses } from '../../../src/providers/gate/mutation-permission.ts';
import { ConcurrencyLimiter } from '../../../src/providers/rate-limit/concurrency-limiter.ts';
import { RateLimiter } from '../../../src/providers/rate-limit/rate-limiter.ts';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { type ArmServer, startArmServer } from '../../../src/simulator/arm/arm-server.ts';
import { createArm } from '../../../src/simulator/arm/create-arm.ts';
import { allOf, context, observedIn } from '../../unit/providers/azure/azure-rig.ts';
import { armTopologyFrom } from '../../unit/simulator/arm/arm-rig.ts';

const tenant = '00000000-0000-0000-0000-0000000000aa';
const clientId = '00000000-0000-0000-0000-0000000000cc';
const instanceId =
  '/subscriptions/00000000-0000-0000-0000-000000000001/resourcegroups/nodes/providers/microsoft.compute/virtualmachinescalesets/pool/virtualmachines/0';
const trusted = getCACertificates('default');
const topology = armTopologyFrom(`
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/27 }] }]
publicIpPrefixes: [{ name: egress, block: 203.0.113.0/30, tags: { pool: egress } }]
scaleSets: [{ name: pool, count: 2, interfaces: [{ name: nic0, subnet: a, addresses: 1 }] }]
latency: { scale: 0 }
consistency: { listingLagMs: 0 }
times: { machineMs: 100, interfaceMs: 100 }
operations: { retryAfter: 0 }
`);

let server: ArmServer;

beforeAll(async () => {
  const { gateway } = createArm({ topology, clock: systemClock, random: new Random('arm') });
  server = await startArmServer({ gateway });
  setDefaultCACertificates([...trusted, server.ca]);
});

afterAll(async () => {
  setDefaultCACertificates(trusted);
  await server.close();
});

function apiWith(environment: Readonly<Record<string, string>>, managedIdentity?: string): AzureApi {
  for (const name of [
    'AZURE_TENANT_ID',
    'AZURE_CLIENT_ID',
    'AZURE_CLIENT_SECRET',
    'AZURE_POD_IDENTITY_AUTHORITY_HOST',
  ])
    Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, environment);
  return new AzureApi({
    cloud: azureClouds.AzurePublicCloud,
    endpoint: server.url,
    identity: {
      authority: server.url,
      isAuthorityKnown: true,
      managedIdentity,
    },
    http: {
      connections: 10,
      connectionTimeout: 5000,
      clock: systemClock,
      proxyFor: () => undefined,
      onRoute: () => undefined,
    },
  });
}

const bySecret = {
  AZURE_TENANT_ID: tenant,
  AZURE_CLIENT_ID: clientId,
  AZURE_CLIENT_SECRET: 'headwater-example-secret',
};

function providerOver(api: AzureApi) {
  const clock = systemClock;
  const gate = new CallGate({
    rateLimiter: new RateLimiter({ clock, sizes: azureLimits, overall: undefined }),
    concurrency: new ConcurrencyLimiter(50),
    clock,
    timeout: 20_000,
    fence: { leads: () => true, isInSafeLeaseWindow: () => true },
    permission: new MutationPermission(noPauses),
    failureOf,
    listener: { onCall: () => undefined, onWait: () => undefined },
  });
  const client = new ArmClient({ api, gate });
  const spellings = new Spellings();
  const changes = new Changes({ client, spellings, clock });
  const failedModels = new FailedModels(clock, 20_000);
  const parts = {
    client,
    spellings,
    failedModels,
    subnets: new Subnets(client, clock),
    publicAddresses: new PublicAddresses(client, clock),
    prefixes: new PublicIpPrefixes(client, spellings, clock),
    clock,
    isInScope: () => true,
  };
  return { gate, client, parts, changes, spellings, failedModels };
}

async function primaryOf({ parts }: ReturnType<typeof providerOver>) {
  const scope = { kind: 'instances', instanceIds: [instanceId] } as const;
  const { interfaces, failed } = observedIn(await allOf(observe(parts, scope, context)));
  const [first] = interfaces;
  if (first === undefined) throw new Error(`no interface is shown: ${JSON.stringify(failed)}`);
  return first;
}

describe('over HTTPS, a scale-set VM that asks for a public address', () => {
  test('gets one of the prefix with its tags, and shows it', async () => {
    const provider = providerOver(apiWith(bySecret));
    const { id: interfaceId } = await primaryOf(provider);
    const { prefixes, publicAddresses } = provider.parts;
    const [address] = (await prefixes.read({ pool: 'egress' }, context)).addresses;
    const addressId = address?.id ?? '';
    const within = { ...context, instanceId };
    const admitted = admittedFor(instanceId);
    if (admitted !== undefined) await provider.gate.admit([callOf(admitted)], within);

    const operation = { instanceId, interfaceId, addressId, publicAddress: '' };
    const outcome = await associate(
      provider,
      publicAddresses,
      { kind: 'associateStaticIP', ...operation },
      within,
    );

    expect(outcome).toMatchObject({ kind: 'done', answer: { publicAddress: '203.0.113.0' } });
    expect((await primaryOf(provider)).publicAddress).toBe('203.0.113.0');
  });
});

describe('over HTTPS, an update of a scale-set VM', () => {
  test('resolves with its new addresses', async () => {
    const api = apiWith(bySecret);
    const provider = providerOver(api);
    const before = await primaryOf(provider);

    const admitted = admittedFor(instanceId);
    if (admitted === undefined) throw new Error('it is no instance');
    await provider.gate.admit([callOf(admitted)], context);
    const outcome = await updateInstance(
      provider,
      { instanceId, operationId: 'aaaaaaaa-1111', interfaceId: before.id, count: 3 },
      context,
    );

    const after = await primaryOf(provider);
    const added = after.addresses.filter((address) => !before.addresses.includes(address));
    expect(added).toHaveLength(3);
    expect(outcome).toMatchObject({
      kind: 'done',
      answer: { interfaceId: before.id, addresses: added },
    });
    api.close();
  });
});

describe('over HTTPS, credentials', () => {
  test('may be those of a managed identity', async () => {
    const api = apiWith({ AZURE_POD_IDENTITY_AUTHORITY_HOST: server.metadataUrl }, clientId);

    expect((await primaryOf(providerOver(api))).subnetId).toContain('/subnets/a');
    api.close();
  });

  test('that are wrong fail every read with a reason', async () => {
    const api = apiWith({ ...bySecret, AZURE_CLIENT_SECRET: 'another' });

    await expect(primaryOf(providerOver(api))).rejects.toThrow('AuthenticationError');
    api.close();
  });
});
