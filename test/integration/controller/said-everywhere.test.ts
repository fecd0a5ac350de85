// Causes each condition that keeps a node from its addresses. Each of these places must name it on its own: the Events of the
// Node and of the CiliumNode, the CiliumNode's status, /status?node=, headwater explain (with the next try), the metrics, the log.
import { describe, expect, test } from '@jest/globals';
import type { ConditionReason } from '../../../src/node/conditions/node-condition.ts';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import { start, stop, terminate } from '../../../src/simulator/cloud/instances.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { explained, toldOf } from '../../support/explained.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

interface Staged {
  readonly world: World;
  readonly machine: NodeFacts;
}

interface Cause {
  readonly reason: ConditionReason;
  /** What the reader must do. */
  readonly says: RegExp;
  /** When `headwater explain` expects the next try. */
  readonly next: RegExp;
  readonly node?: Partial<NodeFacts>;
  /** Wrong facts in its Node and CiliumNode. */
  readonly is?: Partial<NodeFacts>;
  /** Its instance has no slot for another interface. */
  readonly isFull?: true;
  /** Merged into its CiliumNode. */
  readonly spec?: JsonObject;
  readonly flags?: Readonly<Record<string, string>>;
  /** Runs before the controller starts; the result ends the cause. */
  readonly before?: (staged: Staged) => (() => unknown) | undefined;
  /** Runs once the node has what it needs. */
  readonly afterwards?: (staged: Staged) => unknown;
  /** Ends the cause, unless `before` returns how. */
  readonly mend?: (staged: Staged) => unknown;
  /** The state of the node, if not in deficit. */
  readonly standing?: 'in_deficit' | 'blocked' | 'unknown' | 'satisfied';
}

const inNewInterfaces = { eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } } as const;
const many = { ipam: { minAllocate: 20 } } as const;

function refusing(
  action: string,
  code: string,
  { status = 400, message = 'refused' } = {},
): (staged: Staged) => () => void {
  const fault: Fault = { kind: 'error', code, status, message };
  return ({ world }) => world.fault(action, fault);
}

/** When the next try is. */
const refusedAgain = /^in \d+ (?:s|min), when what the cloud refused may be tried again$/;
const onChange = /^when its CiliumNode, its Node or its instance changes$/;
const networkAgain = /^when the network is read again, each minute$/;
const onAnswer = /^when the cloud answers for its instance$/;

const causes: readonly Cause[] = [
  // The six most common ones.
  {
    reason: 'SubnetsExhausted',
    says: /^no address is left in subnet-\w+(, subnet-\w+)* \(all in [\w-]+.*\): add a subnet/,
    next: /^when the free addresses are counted again, each minute$/,
    node: inNewInterfaces,
    before: ({ world }) => {
      const ends = [ids.pods, ids.morePods].map((subnet) => world.occupy(subnet));
      return () => ends.forEach((end) => end());
    },
  },
  {
    reason: 'AccessDenied',
    says: /^allow ec2:CreateNetworkInterface to Headwater's role: CreateNetworkInterface answers/,
    next: refusedAgain,
    node: many,
    before: refusing('CreateNetworkInterface', 'UnauthorizedOperation', { status: 403 }),
  },
  {
    reason: 'NoSecurityGroupMatches',
    says: /tag one, or correct spec\.eni\.security-group-tags/,
    next: networkAgain,
    node: { eni: { ...inNewInterfaces.eni, securityGroupTags: { purpose: 'none' } } },
    mend: ({ world, machine }) =>
      world.patch(machine, { spec: { eni: { 'security-group-tags': { purpose: 'pods' } } } }),
  },
  {
    reason: 'InstanceTypeUnknown',
    says: /correct spec\.eni\.instance-type/,
    next: onChange,
    spec: { eni: { 'instance-type': 'z9.none' } },
    mend: ({ world, machine }) => world.patch(machine, { spec: { eni: { 'instance-type': 'm5.large' } } }),
    standing: 'blocked',
  },
  {
    reason: 'Throttled',
    says: /^the account's rate limit for this call is used up/,
    next: /^when (?:the rate limits allow its call|the call under way ends)$/,
    before: ({ world }) => world.fault('AssignPrivateIpAddresses', { kind: 'throttle' }),
  },
  {
    reason: 'InstanceNotRunning',
    says: /^start instance i-\w+, or delete its Node: it is (not running|stopped), and gets no/,
    next: /^in \d+ s, when its back-off ends$/,
    node: many,
    before: ({ world, machine }) => {
      const { network } = world.cluster.ec2;
      const end = refusing('AttachNetworkInterface', 'IncorrectInstanceState')({ world, machine });
      stop(network, [machine.instanceId]);
      return () => {
        start(network, [machine.instanceId]);
        end();
      };
    },
  },
  // The others.
  {
    reason: 'CredentialsExpired',
    says: /^renew Headwater's credentials, or set its clock: the cloud answers/,
    next: refusedAgain,
    isFull: true,
    before: refusing('AssignPrivateIpAddresses', 'ExpiredToken'),
  },
  {
    reason: 'ClockWrong',
    says: /^set the clock of the machine that Headwater runs on.*: the cloud answers RequestExpired/,
    next: refusedAgain,
    isFull: true,
    before: refusing('AssignPrivateIpAddresses', 'RequestExpired'),
  },
  {
    reason: 'CredentialsInvalid',
    says: /^check the credentials that Headwater uses: the cloud answers/,
    next: onAnswer,
    before: refusing('DescribeNetworkInterfaces', 'AuthFailure', { status: 401 }),
    standing: 'unknown',
  },
  {
    reason: 'Unreachable',
    says: /^the cloud failed inside, so Headwater retries; .*: DescribeSubnets answers ServiceUnavailable/,
    next: onAnswer,
    before: refusing('DescribeSubnets', 'ServiceUnavailable', { status: 503 }),
    standing: 'unknown',
  },
  {
    reason: 'CallFailed',
    says: /^for interface eni-\w+ AssignPrivateIpAddresses answers OperationNotPermitted: refused/,
    next: refusedAgain,
    isFull: true,
    before: refusing('AssignPrivateIpAddresses', 'OperationNotPermitted'),
  },
  {
    reason: 'NoSubnetMatches',
    says: /create or tag a subnet, or correct the node's subnet selection/,
    next: networkAgain,
    node: { eni: { firstInterfaceIndex: 1 } },
    flags: { 'subnet-tags-filter': 'purpose=none' },
  },
  {
    reason: 'NetworkUnreadable',
    says: /^allow ec2:DescribeSecurityGroups to Headwater's role/,
    next: networkAgain,
    node: { eni: { ...inNewInterfaces.eni, securityGroupTags: { purpose: 'pods' } } },
    before: refusing('DescribeSecurityGroups', 'UnauthorizedOperation', { status: 403 }),
  },
  {
    reason: 'InstanceTypeUnreadable',
    says: /^allow ec2:DescribeInstanceTypes to Headwater's role/,
    next: /^when the limits of its instance type are read$/,
    before: refusing('DescribeInstanceTypes', 'UnauthorizedOperation', { status: 403 }),
    standing: 'blocked',
  },
  {
    reason: 'MaxAllocateReached',
    says: /spec\.ipam\.max-allocate 12 allows no more: raise ipam-max-allocate/,
    next: /^when its limit rises, or pods end$/,
    node: { ipam: { minAllocate: 12, maxAllocate: 12 } },
    afterwards: async ({ world, machine }) => {
      await world.use(machine, 12);
      await world.addPods(machine, { count: 3, prefix: 'waiting' });
    },
    mend: ({ world, machine }) => world.patch(machine, { spec: { ipam: { 'max-allocate': 27 } } }),
    standing: 'satisfied',
  },
  {
    reason: 'MutationsPaused',
    says: /it is paused \(--pause\)/,
    next: /^when the pause ends: it is paused \(--pause\)$/,
    flags: { pause: 'mutations' },
  },
  {
    reason: 'WriteRefused',
    says: /^allow Headwater to patch ciliumnodes\/status of cilium\.io/,
    next: /^when the API server accepts the write of its CiliumNode$/,
    before: ({ world }) => world.refuse(403, 'PATCH', /\/ciliumnodes\//),
  },
  {
    reason: 'InstanceNotFound',
    says: /check Headwater's region, account and role, and spec\.instance-id/,
    next: onChange,
    is: { instanceId: 'i-0123456789abcdef0' },
    standing: 'blocked',
  },
  {
    reason: 'InstanceTerminated',
    says: /delete the Node and its CiliumNode/,
    next: onChange,
    afterwards: ({ world, machine }) => terminate(world.cluster.ec2.network, [machine.instanceId]),
    standing: 'blocked',
  },
  {
    reason: 'InstanceNotManaged',
    says: /does not carry the tags of --instance-tags-filter/,
    next: onChange,
    flags: { 'instance-tags-filter': 'role=worker' },
    standing: 'blocked',
  },
  {
    reason: 'NodeUnreadable',
    says: /spec\.instance-id is missing/,
    next: onChange,
    spec: { 'instance-id': '' },
    mend: ({ world, machine }) => world.patch(machine, { spec: { 'instance-id': machine.instanceId } }),
    standing: 'blocked',
  },
  {
    reason: 'NetworkMismatch',
    says: /correct spec\.eni\.vpc-id/,
    next: onChange,
    spec: { eni: { 'vpc-id': 'vpc-00000000000000009' } },
    mend: ({ world, machine }) => world.patch(machine, { spec: { eni: { 'vpc-id': machine.vpcId } } }),
    standing: 'blocked',
  },
];

/** The text of each place about the node. */
async function placesOf(
  { world, machine }: Staged,
  controller: WorldController,
  reason: string,
): Promise<object> {
  const status = controller.controller.status();
  const explanation = explained(controller.controller, machine.name);
  const answer = controller.controller.node(machine.name);
  const ofReason = world.events(machine.name).filter((text) => text.includes(` ${reason}: `));
  const lines = controller.logged.filter(
    ({ level, details }) =>
      level === 'warn' && details['node'] === machine.name && details['reason'] === reason,
  );
  const text = (event: string): string => event.slice(event.indexOf(': ') + 2);
  return {
    'kubectl describe node': ofReason.filter((event) => event.startsWith('Node ')).map(text),
    'kubectl describe ciliumnode': ofReason.filter((event) => event.startsWith('CiliumNode ')).map(text),
    'operator-status.error': world.operatorError(machine),
    '/status?node=': answer.known ? [answer.standing, answer.reason, answer.why] : answer,
    'headwater explain': ['why', 'next try'].flatMap((label) => toldOf(explanation, label)),
    '/status': status.reasons,
    metrics: await controller.metric(`headwater_blocked{resource="node",reason="${reason}"}`),
    log: lines.map(({ details }) => details['why'] ?? details['problem']),
  };
}

function isUnwritable(reason: ConditionReason): boolean {
  return reason === 'WriteRefused';
}

interface Played {
  readonly staged: Staged;
  readonly controller: WorldController;
  readonly end: () => Promise<void>;
}

/** Lets the cause last for some minutes. */
async function play(cause: Cause): Promise<Played> {
  const { node = {}, is, isFull, spec, flags, before, afterwards, mend } = cause;
  const taken = [1, 2].map((deviceIndex) => ({ deviceIndex, requesterManaged: true }));
  const instances = [instance(isFull === true ? { interfaces: taken } : {})];
  const world = new World({ cloud: testCloud({ instances }), configure: () => node });
  const machine = { ...world.machine(), ...is };
  const staged = { world, machine };
  await world.advance(1000);
  const end = before?.(staged) ?? mend;
  const controller = startController(world, { flags: { 'resync-interval': '60s', ...flags } });
  await world.announce(machine, spec === undefined ? {} : { spec });
  if (afterwards !== undefined) {
    await world.advance(60_000);
    await afterwards(staged);
  }
  await world.advance(240_000);
  return {
    staged,
    controller,
    end: async () => {
      await end?.(staged);
    },
  };
}

describe('the reason why a node cannot be satisfied', () => {
  test('has a test for enough reasons', () => {
    expect(new Set(causes.map(({ reason }) => reason)).size).toBe(causes.length);
    expect(causes.length).toBeGreaterThanOrEqual(16);
  });

  test.each(causes)('is shown in every place: $reason', async (cause) => {
    const { reason, says, next, standing = 'in_deficit' } = cause;
    const { staged, controller, end } = await play(cause);

    const places = await placesOf(staged, controller, reason);

    const text = expect.stringMatching(says) as unknown;
    expect(places).toEqual({
      'kubectl describe node': expect.arrayContaining([text]) as unknown,
      'kubectl describe ciliumnode': expect.arrayContaining([text]) as unknown,
      'operator-status.error': isUnwritable(reason) ? '' : text,
      '/status?node=': [standing, reason, text],
      'headwater explain': [text, expect.stringMatching(next)],
      '/status': { [reason]: 1 },
      metrics: 1,
      log: expect.arrayContaining([text]) as unknown,
    });
    await end();
  });

  test.each(causes.filter(({ before, mend }) => before !== undefined || mend !== undefined))(
    'is cleared in every place: $reason',
    async (cause) => {
      const { staged, controller, end } = await play(cause);
      const { world, machine } = staged;

      await end();
      await world.advance(900_000);

      const events = world.events(machine.name);
      for (const kind of ['Node', 'CiliumNode'])
        expect(events).toContainEqual(
          expect.stringMatching(`^${kind} Resolved: ${cause.reason} is resolved: `),
        );
      expect(controller.controller.node(machine.name)).toMatchObject({ standing: 'satisfied' });
      expect(controller.controller.status().reasons).toEqual({});
      expect(world.operatorError(machine)).toBe('');
      expect(world.broken()).toEqual([]);
    },
  );
});
