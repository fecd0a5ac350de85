import { describe, expect, test } from '@jest/globals';
import type { Json } from '../../../../src/runtime/json.ts';
import { rehearse } from '../../../../src/providers/azure/rehearse.ts';
import { PublicIpPrefixes } from '../../../../src/providers/azure/public-ip-prefixes.ts';
import { parseInstanceId } from '../../../../src/providers/azure/ids.ts';
import type { RehearsedNode, RehearsedNodes } from '../../../../src/providers/contract/rehearsal.ts';
import { answerInstead, type AzureRig, azureRig, context, group, vmId } from './azure-rig.ts';

const write = 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write';
const interfaceWrite = 'Microsoft.Network/networkInterfaces/write';
const join = 'Microsoft.Network/virtualNetworks/subnets/join/action';
const prefixJoin = 'Microsoft.Network/publicIPPrefixes/join/action';
const ask = 'Microsoft.Authorization/permissions/read';
const single = `${group}/providers/Microsoft.Compute/virtualMachines/single`.toLowerCase();

interface Role {
  readonly scope: string;
  readonly actions: readonly string[];
  readonly notActions?: readonly string[];
}

function rigWith(roles?: readonly Role[]): AzureRig {
  const principal = {
    name: 'headwater',
    clientId: '00000000-0000-0000-0000-0000000000cc',
    secret: 's',
    ...(roles && { roles }),
  };
  return azureRig({
    topology: `
cloud: azure
principals: ${JSON.stringify([principal])}
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }, { name: b, block: 10.0.1.0/24 }] }]
publicIpPrefixes: [{ name: egress, block: 203.0.113.0/28, tags: { pool: egress } }]
scaleSets: [{ name: pool, count: 2, interfaces: [{ name: nic0, subnet: a }, { name: nic1, subnet: b }] }]
machines: [{ name: single, interfaces: [{ name: nic0, subnet: a }] }]
`,
  });
}

/** As check has them, of a rig whose principal may read everything. */
async function nodesOf(ids: readonly string[], publicAddressTags = {}): Promise<RehearsedNodes> {
  const { observe } = rigWith();
  const { interfaces } = await observe({ kind: 'instances', instanceIds: ids });
  const [first, ...others] = ids.map((instanceId): RehearsedNode => {
    const own = interfaces.filter(({ attachment }) => attachment?.instanceId === instanceId);
    return {
      instanceId,
      interfaces: own,
      own: undefined,
      subnetId: own[0]?.subnetId ?? '',
      securityGroupIds: [],
      tags: {},
      publicAddressTags,
    };
  });
  if (first === undefined) throw new Error('no ids');
  return [first, ...others];
}

async function asked(rig: AzureRig, nodes: RehearsedNodes): ReturnType<typeof rehearse> {
  const { client, spellings, time, ended } = rig;
  const prefixes = new PublicIpPrefixes(client, spellings, time);
  for (const { instanceId } of nodes) {
    const ref = parseInstanceId(instanceId);
    if (ref !== undefined) prefixes.note(ref);
  }
  return ended(rehearse({ client, prefixes }, nodes, context));
}

/** Each row: its answer, and what it is about. */
async function rowsOf(rig: AzureRig, ids: readonly string[], tags = {}): Promise<readonly string[]> {
  const { answers } = await asked(rig, await nodesOf(ids, tags));
  return answers.map(({ action, answer }) =>
    typeof answer === 'string' ? `${answer} ${action}` : `${answer.kind} ${answer.failure.code} ${action}`,
  );
}

const all: Role = { scope: group, actions: ['*'] };
const reads: Role = { scope: group, actions: ['*/read'] };

describe('a rehearsal on Azure', () => {
  test.each<[string, readonly Role[], readonly string[]]>([
    ['everything', [all], [`permitted ${write} at pool/0`, `permitted ${join} at main/a and main/b`]],
    [
      'each action by its name, in any case',
      [{ scope: group, actions: [ask, write.toUpperCase(), join.toLowerCase()] }],
      [`permitted ${write} at pool/0`, `permitted ${join} at main/a and main/b`],
    ],
    [
      'patterns with a star anywhere',
      [{ scope: group, actions: ['*/read', 'Microsoft.Compute/*/virtualMachines/*', '*/subnets/join/*'] }],
      [`permitted ${write} at pool/0`, `permitted ${join} at main/a and main/b`],
    ],
    [
      'patterns that are not its own',
      [
        reads,
        {
          scope: group,
          actions: ['Microsoft.Compute/virtualMachineScaleSets/write', '*/virtualMachines/w', 'x*'],
        },
      ],
      [
        `denied AuthorizationFailed ${write} at pool/0`,
        `denied AuthorizationFailed ${join} at main/a and main/b`,
      ],
    ],
    [
      'what the same role takes away again',
      [{ scope: group, actions: ['*'], notActions: ['Microsoft.Network/virtualNetworks/*'] }],
      [`permitted ${write} at pool/0`, `denied AuthorizationFailed ${join} at main/a and main/b`],
    ],
    [
      'what another role gives that the first takes away',
      [
        { scope: group, actions: ['*'], notActions: ['Microsoft.Network/virtualNetworks/*'] },
        { scope: `${group}/providers/Microsoft.Network/virtualNetworks/main/subnets/b`, actions: [join] },
      ],
      [
        `permitted ${write} at pool/0`,
        `denied AuthorizationFailed ${join} at main/a`,
        `permitted ${join} at main/b`,
      ],
    ],
  ])('tells what roles permit: %s', async (_, roles, rows) => {
    expect(await rowsOf(rigWith(roles), [vmId(0)])).toEqual(rows);
  });

  test('reads permissions alone, once for each scale set and subnet', async () => {
    const rig = rigWith();

    await asked(rig, await nodesOf([vmId(0), vmId(1)]));

    expect(rig.counts()).toEqual({ 'Permissions.ListForResource': 3 });
    expect(rig.sent.every(({ request }) => request.method === 'GET')).toBe(true);
  });

  test('asks of a single VM at its interface, and of all kinds of machines', async () => {
    expect(await rowsOf(rigWith(), [single, vmId(0)])).toEqual([
      `permitted ${interfaceWrite} at single-nic0`,
      `permitted ${join} at main/a and main/b`,
      `permitted ${write} at pool/0`,
    ]);
  });

  test('asks about prefixes of public addresses where nodes want one', async () => {
    const denied = { ...all, notActions: ['Microsoft.Network/publicIPPrefixes/join/*'] };

    const rows = await rowsOf(rigWith([denied]), [vmId(0)], { pool: 'egress' });

    expect(rows).toContain(`denied AuthorizationFailed ${prefixJoin} at egress`);
    expect(await rowsOf(rigWith(), [vmId(0)], { pool: 'egress' })).toContain(
      `permitted ${prefixJoin} at egress`,
    );
    expect(await rowsOf(rigWith(), [single], { pool: 'egress' })).toHaveLength(2);
  });

  test('says where a role is to be assigned', async () => {
    const { answers } = await asked(rigWith([reads]), await nodesOf([vmId(0)]));

    expect(answers[0]).toMatchObject({
      answer: {
        kind: 'denied',
        failure: {
          message: `no role of its identity permits it at ${vmId(0)}`,
          remedy: expect.stringContaining(write),
        },
      },
    });
  });

  test('calls nothing denied that it may not ask: the remedy is the permission to ask', async () => {
    const { answers } = await asked(
      rigWith([{ scope: group, actions: ['Microsoft.Network/*'] }]),
      await nodesOf([vmId(0)]),
    );

    expect(answers).toMatchObject([
      {
        action: `${write} at pool/0, ${join} at main/a and main/b`,
        answer: { kind: 'unanswered', failure: { code: 'AuthorizationFailed', permission: ask } },
      },
    ]);
  });

  test.each<[string, Json]>([
    ['no list', {}],
    ['items that are none', { value: ['*'] }],
    ['an item without actions', { value: [{}] }],
    ['actions that are no list', { value: [{ actions: '*' }] }],
    ['actions that are no texts', { value: [{ actions: [7] }] }],
    ['exceptions that are no list', { value: [{ actions: ['*'], notActions: { 0: 'x' } }] }],
    ['pages without an end', { value: [], nextLink: '/subscriptions/x' }],
  ])('concludes nothing from an answer that is spoilt: %s', async (_, body) => {
    const rig = rigWith();
    answerInstead(rig, 'Permissions.ListForResource', () => body);

    const { answers } = await asked(rig, await nodesOf([vmId(0)]));

    expect(answers).toMatchObject([{ answer: { kind: 'unanswered' } }]);
  });

  test('takes what is null for an empty list, and no time for a pattern of many stars', async () => {
    const rig = rigWith();
    const stars = '*a'.repeat(20_000);
    answerInstead(rig, 'Permissions.ListForResource', () => ({
      value: [
        { actions: null, notActions: null },
        { actions: [stars], notActions: null },
      ],
    }));

    const { answers } = await asked(rig, await nodesOf([vmId(0)]));

    expect(answers.map(({ answer }) => answer)).toMatchObject([{ kind: 'denied' }, { kind: 'denied' }]);
  });

  test('tells a failure of the cloud from a missing permission', async () => {
    const rig = rigWith();
    rig.fault('Permissions.ListForResource', {
      kind: 'error',
      code: 'InternalServerError',
      status: 500,
      message: 'oh',
    });

    const { answers } = await asked(rig, await nodesOf([vmId(0)]));

    expect(answers).toMatchObject([
      { answer: { kind: 'unanswered', failure: { code: 'InternalServerError' } } },
    ]);
    expect(answers[0]?.answer).not.toHaveProperty('failure.permission');
  });
});
