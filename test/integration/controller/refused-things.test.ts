import { describe, expect, test } from '@jest/globals';
import type { IamPolicy } from '../../../src/simulator/ec2/iam-policy.ts';
import { controllerArn } from '../../support/in-process-ec2.ts';
import { shippedPolicy } from '../../support/shipped-policy.ts';
import { ids, instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { type CloudCall, startController } from '../../support/world-controller.ts';

/** A new leader deletes nothing in its first 20 s, and no node waits for that. */
const untilDeleted = 25_000;

type At = 'CreateNetworkInterface' | 'AttachNetworkInterface' | 'AssignPrivateIpAddresses';

interface Row {
  readonly at: At;
  readonly code: string;
  readonly message?: string;
  /** What is blocked; the node names it if there is no alternative. */
  readonly aside: 'the subnet' | 'the groups' | 'the action' | 'the interface' | 'the instance' | 'the node';
  /** What is tried instead in the same run; `nothing` without an alternative. */
  readonly next: 'another subnet' | 'a new interface' | 'nothing';
}

function denied(action: string, resource?: string): Pick<Row, 'code' | 'message'> {
  const on = resource === undefined ? '' : ` on resource: arn:aws:ec2:us-east-1:123456789012:${resource}`;
  const user = 'User: arn:aws:iam::123456789012:user/headwater';
  const why = `because no identity-based policy allows the ec2:${action} action`;
  return {
    code: 'UnauthorizedOperation',
    message: `You are not authorized to perform this operation. ${user} is not authorized to perform: ec2:${action}${on} ${why}`,
  };
}

const creation = { at: 'CreateNetworkInterface' } as const;
const attachment = { at: 'AttachNetworkInterface' } as const;
const assignment = { at: 'AssignPrivateIpAddresses' } as const;
const subnet = { aside: 'the subnet', next: 'another subnet' } as const;
const groups = { aside: 'the groups', next: 'nothing' } as const;
const action = { aside: 'the action', next: 'nothing' } as const;
const ofInstance = { aside: 'the instance', next: 'nothing' } as const;
const node = { aside: 'the node', next: 'nothing' } as const;
const ofInterface = { aside: 'the interface', next: 'a new interface' } as const;

const rows: readonly Row[] = [
  { ...creation, code: 'UnauthorizedOperation', message: 'You are not authorized.', ...subnet },
  { ...creation, ...denied('CreateNetworkInterface', `subnet/${ids.morePods}`), ...subnet },
  { ...creation, ...denied('CreateNetworkInterface', `security-group/${ids.nodeGroup}`), ...groups },
  { ...creation, ...denied('CreateNetworkInterface', 'network-interface/*'), ...action },
  { ...creation, ...denied('CreateTags', 'network-interface/*'), ...action },
  { ...creation, code: 'AuthFailure', message: 'You do not have permission.', ...subnet },
  { ...creation, code: 'ExpiredToken', ...action },
  { ...creation, code: 'OptInRequired', ...action },
  { ...creation, code: 'Blocked', ...action },
  { ...creation, code: 'AccessDenied', ...subnet },
  { ...creation, code: 'NetworkInterfaceLimitExceeded', ...action },
  { ...creation, code: 'PrivateIpAddressLimitExceeded', ...node },
  { ...creation, code: 'InvalidGroup.NotFound', ...groups },
  { ...creation, code: 'InvalidSecurityGroupID.NotFound', ...groups },
  { ...creation, code: 'SecurityGroupsPerInterfaceLimitExceeded', ...groups },
  { ...creation, code: 'SecurityGroupLimitExceeded', ...groups },
  {
    ...creation,
    code: 'InvalidParameterValue',
    message: 'Security group sg-1 and subnet subnet-1 belong to different networks.',
    ...groups,
  },
  { ...creation, code: 'InvalidParameterValue', ...subnet },
  { ...creation, code: 'UnsupportedOperation', ...subnet },
  { ...creation, code: 'SomethingNew', ...subnet },
  { ...attachment, code: 'UnauthorizedOperation', message: 'You are not authorized.', ...subnet },
  {
    ...attachment,
    ...denied('AttachNetworkInterface', 'network-interface/eni-0123456789abcdef0'),
    ...subnet,
  },
  { ...attachment, ...denied('AttachNetworkInterface', 'instance/i-0123456789abcdef0'), ...ofInstance },
  { ...attachment, code: 'AttachmentLimitExceeded', ...ofInstance },
  {
    ...attachment,
    code: 'InvalidParameterValue',
    message: "Instance 'i-1' already has an interface attached at device index '1'.",
    ...ofInstance,
  },
  { ...attachment, code: 'InvalidParameterCombination', message: 'You may not attach it there.', ...subnet },
  { ...attachment, code: 'InvalidInstanceID.NotFound', ...node },
  { ...attachment, code: 'IncorrectState', message: "Instance 'i-1' is not 'running'.", ...node },
  { ...attachment, code: 'SomethingNew', ...subnet },
  { ...assignment, code: 'UnauthorizedOperation', message: 'You are not authorized.', ...ofInterface },
  {
    ...assignment,
    ...denied('AssignPrivateIpAddresses', 'network-interface/eni-0123456789abcdef0'),
    ...ofInterface,
  },
  { ...assignment, ...denied('AssignPrivateIpAddresses'), ...action, next: 'a new interface' },
  { ...assignment, code: 'ExpiredToken', ...action, next: 'a new interface' },
  { ...assignment, code: 'PrivateIpAddressLimitExceeded', ...ofInterface },
  { ...assignment, code: 'InvalidNetworkInterfaceID.NotFound', ...ofInterface },
  { ...assignment, code: 'InvalidNetworkInterface.InUse', ...ofInterface },
  { ...assignment, code: 'InvalidParameterValue', ...ofInterface },
  { ...assignment, code: 'SomethingNew', ...ofInterface },
];

/** They refuse the identity, the account or the region, so the call is not named. */
const ofEveryCall: ReadonlySet<string> = new Set(['ExpiredToken', 'OptInRequired', 'Blocked', 'AuthFailure']);

/** `ways`: whether a second subnet, or a slot for a new interface, can replace what is refused. */
function worldFor({ at }: Row, ways: 'open' | 'shut'): World {
  const taken = [1, 2].map((deviceIndex) => ({ deviceIndex, requesterManaged: true }));
  const isAssignment = at === 'AssignPrivateIpAddresses';
  const subnetTags = ways === 'open' ? { purpose: 'pods' } : { more: 'yes' };
  return new World({
    cloud: testCloud({
      consistency: { visibilityDelayMs: 0 },
      instances: [instance(isAssignment && ways === 'shut' ? { interfaces: taken } : {})],
    }),
    configure: () => ({ eni: isAssignment ? {} : { subnetTags, firstInterfaceIndex: 1 } }),
  });
}

function refuse(
  world: World,
  { at, code, message = 'refused by the test' }: Row,
  count?: number,
): () => void {
  return world.fault(at, { kind: 'error', code, message, status: 400 }, count);
}

function inShort({ action: name, input, result }: CloudCall): string {
  const subnetId = input['SubnetId'];
  return `${name.replace(/(Private|Network).*/, '')}${typeof subnetId === 'string' ? ` in ${subnetId}` : ''} ${result}`;
}

const named: Record<Row['aside'], (world: World) => string> = {
  'the subnet': () => `in subnet ${ids.morePods} `,
  'the groups': () => `with security groups ${ids.nodeGroup} `,
  'the action': () => '',
  'the interface': (world) => `for interface ${world.interfaces(world.machine())[0]?.id} `,
  'the instance': (world) => `for instance ${world.machine().instanceId} `,
  'the node': () => '',
};

describe('a refusal', () => {
  test.each(rows.filter(({ next }) => next !== 'nothing'))(
    'blocks $aside, and $next serves the node in the same run: $at with $code ($message)',
    async (row) => {
      const world = worldFor(row, 'open');
      const machine = world.machine();
      const controller = startController(world);
      // The refusal applies to the first place only: a second one is the alternative.
      refuse(world, row, 1);

      await world.announce(machine);
      // A read has to show the interface as well.
      await world.advance(12_000);
      const size = world.pool(machine).size;
      await world.advance(untilDeleted);

      const expected =
        row.at === 'AssignPrivateIpAddresses'
          ? [`Assign ${row.code}`, `Create in ${ids.pods} OK`, 'Attach OK']
          : [
              ...(row.at === 'AttachNetworkInterface'
                ? [`Create in ${ids.pods} OK`, `Attach ${row.code}`]
                : [`Create in ${ids.pods} ${row.code}`]),
              `Create in ${ids.morePods} OK`,
              'Attach OK',
            ];
      const changes = controller.changes.map(inShort).filter((call) => /^(Create|Attach|Assign)/.test(call));
      expect(changes).toEqual(
        row.at === 'AssignPrivateIpAddresses'
          ? [expected[0], expect.stringMatching(/^Create in \S+ OK$/), expected[2]]
          : expected,
      );
      expect(size).toBe(8);
      expect(world.operatorError(machine)).toBe('');
      expect(world.orphaned()).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );

  test.each(rows)(
    'blocks $aside, and without an alternative the node says so until the refusal ends: $at with $code ($message)',
    async (row) => {
      const world = worldFor(row, 'shut');
      const machine = world.machine();
      const controller = startController(world);
      const end = refuse(world, row);

      await world.announce(machine);
      await world.advance(600_000);
      const reported = world.operatorError(machine);
      const refused = controller.changes.filter(({ result }) => result === row.code);
      end();
      // A call for an instance that is going is one too many.
      const within = row.code === 'InvalidInstanceID.NotFound' ? 301_500 : 61_500;
      await world.until('it is served', () => world.pool(machine).size === 8, within);
      await world.advance(10_000);

      const isStopped = row.code === 'IncorrectState';
      const who = ofEveryCall.has(row.code) ? 'the cloud' : row.at;
      const said = isStopped ? `start instance ${machine.instanceId}` : `${who} answers ${row.code}: `;
      expect(reported).toContain(said);
      // First what it is about, then, if there is one, the remedy.
      expect(reported.slice(0, reported.indexOf(said))).toMatch(
        row.at === 'AttachNetworkInterface' && row.aside === 'the subnet'
          ? /^for an interface in subnet /
          : new RegExp(
              `^${ofEveryCall.has(row.code) ? '' : named[row.aside](world)}((allow|check|raise|renew|settle|subscribe|use) .*: )?$`,
            ),
      );
      // One attempt per backoff, each with up to five indexes if indexes are taken.
      expect(refused.length).toBeLessThan(row.message?.includes('device index') === true ? 90 : 20);
      expect(world.operatorError(machine)).toBe('');
      expect(world.orphaned()).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );
});

test('an instance that the cloud does not know right after its launch is served seconds later', async () => {
  const row: Row = { ...attachment, code: 'InvalidInstanceID.NotFound', ...node };
  const world = worldFor(row, 'open');
  const machine = world.machine();
  startController(world);
  refuse(world, row, 3);
  // A new leader deletes nothing.
  await world.advance(30_000);

  await world.announce(machine);
  await world.until('it is served', () => world.pool(machine).size === 8, 15_000);

  expect(world.broken()).toEqual([]);
});

describe('a subnet that was deleted', () => {
  const gone: Row = { ...creation, code: 'InvalidSubnetID.NotFound', ...subnet };

  test.each(['open', 'shut'] as const)(
    'is skipped for another one in the same run (alternative: %s)',
    async (ways) => {
      const world = worldFor(gone, ways);
      const machine = world.machine();
      const controller = startController(world);
      const end = refuse(world, gone, ways === 'open' ? 1 : undefined);

      await world.announce(machine);
      await world.advance(12_000);
      const [size, reported] = [world.pool(machine).size, world.operatorError(machine)];
      const asked = controller.changes.map(inShort).filter((call) => call.startsWith('Create'));
      end();
      await world.until('it is served', () => world.pool(machine).size === 8, 200_000);

      const [first, second] = [
        `Create in ${ways === 'open' ? ids.pods : ids.morePods} ${gone.code}`,
        `Create in ${ids.morePods} OK`,
      ];
      expect(asked).toEqual(ways === 'open' ? [first, second] : [first]);
      expect(size).toBe(ways === 'open' ? 8 : 0);
      expect(reported).toMatch(
        ways === 'open' ? /^$/ : new RegExp(`^subnet ${ids.morePods} does not exist: add a subnet`),
      );
      expect(world.broken()).toEqual([]);
    },
  );
});

test('an instance that cannot have prefixes gets single addresses in the same run, without a message', async () => {
  const world = new World({ cloud: testCloud({ consistency: { visibilityDelayMs: 0 } }) });
  const machine = world.machine();
  const controller = startController(world, { flags: { 'aws-enable-prefix-delegation': 'true' } });
  const message = 'The instance type m5.large does not support prefixes.';
  world.fault(assignment.at, { kind: 'error', code: 'UnsupportedOperation', message, status: 400 }, 1);

  await world.announce(machine);
  await world.advance(5000);

  expect(controller.changes.map(inShort)).toEqual(['Assign UnsupportedOperation', 'Assign OK']);
  expect(world.pool(machine).size).toBe(8);
  expect(world.operatorError(machine)).toBe('');
  expect(world.broken()).toEqual([]);
});

/** The shipped policy without the assignment of addresses. */
const withoutAssignments: IamPolicy = {
  ...shippedPolicy,
  Statement: shippedPolicy.Statement.map((statement) => ({
    ...statement,
    Action: statement.Action.filter((each) => each !== 'ec2:AssignPrivateIpAddresses'),
  })),
};

describe('a fleet whose role may not assign addresses', () => {
  test('gets addresses with new interfaces, and tries an assignment only once in a while', async () => {
    const world = new World({
      cloud: testCloud({ instances: [instance({ count: 8 })] }),
      policy: withoutAssignments,
    });
    const [first, second, ...others] = world.machines;
    if (first === undefined || second === undefined) throw new Error('there are no machines');
    const controller = startController(world);
    const assignments = (): readonly CloudCall[] =>
      controller.calls.filter((call) => call.action === assignment.at);

    for (const machine of [first, second]) {
      await world.announce(machine);
      await world.advance(3000);
    }
    const atFirst = assignments().length;
    for (const machine of others) await world.announce(machine);
    await world.advance(10_000);
    const sizes = world.machines.map((machine) => world.pool(machine).size);
    const later = assignments().length;
    await world.advance(3_600_000);

    expect(sizes).toEqual(Array(8).fill(8));
    expect([atFirst, later]).toEqual([2, 2]);
    // No node needs anything.
    expect(assignments()).toHaveLength(2);
    expect(world.machines.map((machine) => world.operatorError(machine))).toEqual(Array(8).fill(''));
    expect(controller.warnings()).toContain('missing cloud permission');
    expect(world.broken()).toEqual([]);
  });

  test('says so on each node when there is no room for new interfaces, with one call a backoff for all of them', async () => {
    const taken = [1, 2].map((deviceIndex) => ({ deviceIndex, requesterManaged: true }));
    const world = new World({
      cloud: testCloud({ instances: [instance({ count: 8, interfaces: taken })] }),
      policy: withoutAssignments,
    });
    const controller = startController(world);
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(600_000);
    const calls = controller.calls.filter((call) => call.action === assignment.at);
    const reported = world.machines.map((machine) => world.operatorError(machine));
    const { gateway } = world.cluster.ec2;

    gateway.policies.set(controllerArn, shippedPolicy);
    await world.advance(61_000);

    // All at once at the start, and then one in 5 to 60 s.
    expect(calls.filter(({ at }) => at > 5000).length).toBeLessThan(25);
    expect(
      new Set(
        reported.map((text) => text.includes("allow ec2:AssignPrivateIpAddresses to Headwater's role: ")),
      ),
    ).toEqual(new Set([true]));
    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual(Array(8).fill(8));
    expect(world.machines.map((machine) => world.operatorError(machine))).toEqual(Array(8).fill(''));
    expect(world.broken()).toEqual([]);
  });
});

describe('a fleet in a zone with an Outpost', () => {
  test('learns once which subnet cannot be attached, and the next nodes avoid it', async () => {
    const outpost = {
      name: 'rack',
      id: 'subnet-0000000000000000d',
      zone: 'us-east-1a',
      block: '10.0.64.0/18',
    };
    const world = new World({
      cloud: testCloud({
        subnets: [...Object.values(subnets), { ...outpost, outpost: 'op-1', tags: { purpose: 'pods' } }],
        instances: [instance({ count: 6 }), instance({ name: 'racked', subnet: 'rack' })],
      }),
      configure: () => ({ eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } }),
    });
    const [first, ...others] = world.machines;
    const racked = others.at(-1);
    if (first === undefined || racked === undefined) throw new Error('there are no machines');
    const controller = startController(world);

    await world.announce(first);
    await world.advance(8000);
    const early = controller.changes.filter(({ action: name }) => name === 'CreateNetworkInterface');
    const sizeAtOnce = world.pool(first).size;
    for (const machine of others) await world.announce(machine);
    await world.advance(8000);
    const sizes = world.machines.map((machine) => world.pool(machine).size);
    await world.advance(untilDeleted);

    expect(early.map(({ input }) => input['SubnetId'])).toEqual([outpost.id, ids.pods]);
    expect(sizeAtOnce).toBe(8);
    expect(sizes).toEqual(Array(7).fill(8));
    expect(world.interfaces(racked)[1]?.subnetId).toBe(outpost.id);
    const refused = controller.changes.filter(({ result }) => result === 'InvalidParameterCombination');
    expect(refused).toHaveLength(1);
    const reported = controller.logged.filter(({ message }) => message.startsWith('refused by the cloud'));
    const nodeSubnetId = ids.nodes;
    expect(reported.map(({ details }) => details)).toEqual([
      expect.objectContaining({
        scope: { kind: 'attachment', subnetId: outpost.id, nodeSubnetId },
        code: 'InvalidParameterCombination',
      }),
    ]);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});
