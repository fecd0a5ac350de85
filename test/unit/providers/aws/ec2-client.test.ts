import { callerOf } from '../rate-limiter-rig.ts';
import { describe, expect, test } from '@jest/globals';
import { CallError, type CallResult } from '../../../../src/providers/gate/cloud-call.ts';
import type { Ec2Action } from '../../../../src/providers/aws/ec2-api.ts';
import {
  MutationPermission,
  noPauses,
  type Pausable,
} from '../../../../src/providers/gate/mutation-permission.ts';
import type { Priority } from '../../../../src/providers/contract/priority.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import type { VirtualClock } from '../../../support/virtual-clock.ts';
import { all, context, type ClientChange, ec2ClientRig, failureOfRead } from './ec2-client-rig.ts';

const attach = { NetworkInterfaceId: 'eni-1', InstanceId: 'i-1', DeviceIndex: 1, NetworkCardIndex: 0 };
const remove = { NetworkInterfaceId: 'eni-1' };

function refusing(code: string, result: CallResult = 'refused'): () => never {
  return () => {
    throw new CallError({ result, code, message: `${code} was said`, status: 400, requestId: 'r-1' });
  };
}

describe('a read of EC2', () => {
  test('costs a token and a call for each page, until there is no next page', async () => {
    const rig = ec2ClientRig(
      async (_, number) => {
        await sleep(rig.clock, 10, context.signal);
        return { Subnets: [], NextToken: ['a', 'b', ''][number] };
      },
      { bucket: { capacity: 1, refill: 1 } },
    );

    const reading = all(rig.client.pages('DescribeSubnets', { MaxResults: 5 }, context));
    await rig.clock.advance(5000);

    expect((await reading).map(({ startedAt }) => Math.round(startedAt))).toEqual([0, 1000, 2000]);
    expect(rig.sent.map(({ input }) => input)).toEqual([
      { MaxResults: 5 },
      { MaxResults: 5, NextToken: 'a' },
      { MaxResults: 5, NextToken: 'b' },
    ]);
    expect(rig.waits).toEqual(['DescribeSubnets:990', 'DescribeSubnets:990']);
  });

  test('goes on as long as there are pages: the smallest ones have five items', async () => {
    const last = 10_000;
    const { client, sent } = ec2ClientRig(
      (_, number) => ({ Subnets: [], NextToken: number === last ? '' : `${number}` }),
      { bucket: { capacity: 20_000, refill: 1000 } },
    );

    for await (const _ of client.pages('DescribeSubnets', { MaxResults: 5 }, context));

    expect(sent).toHaveLength(last + 1);
  });

  test('ends as an error when its page token does not change', async () => {
    const { client, sent } = ec2ClientRig(() => ({ Subnets: [], NextToken: 'a' }));

    const failure = await failureOfRead(all(client.pages('DescribeSubnets', {}, context)));

    expect(failure).toMatchObject({ kind: 'unknown', message: 'the same page came twice' });
    expect(sent).toHaveLength(2);
  });

  test('fails with the answer of EC2 when that is a refusal', async () => {
    const { client } = ec2ClientRig(refusing('UnauthorizedOperation'));

    const failure = await failureOfRead(all(client.pages('DescribeSubnets', {}, context)));

    expect(failure).toEqual({
      kind: 'notAuthorized',
      action: 'DescribeSubnets',
      permission: 'ec2:DescribeSubnets',
      code: 'UnauthorizedOperation',
      message: 'UnauthorizedOperation was said',
      requestId: 'r-1',
    });
  });

  test('is not sent when it is no longer needed while it waits', async () => {
    const { clock, client, sent } = ec2ClientRig(() => ({ Subnets: [], NextToken: `${sent.length}` }), {
      bucket: { capacity: 1, refill: 1 },
    });
    const giveUp = new AbortController();
    const reason = new Error('enough');
    const reading = all(client.pages('DescribeSubnets', {}, { ...context, signal: giveUp.signal }));
    await clock.advance(500);

    giveUp.abort(reason);

    await expect(reading).rejects.toBe(reason);
    expect(sent).toHaveLength(1);
  });
});

describe('a write to EC2', () => {
  test('returns the answer', async () => {
    const { client } = ec2ClientRig(() => ({ AttachmentId: 'eni-attach-1' }));

    const result = await client.write('AttachNetworkInterface', attach, context);

    expect(result).toEqual({ kind: 'answered', output: { AttachmentId: 'eni-attach-1' } });
  });

  test.each<[CallResult, string]>([
    ['refused', 'failed'],
    ['notSent', 'failed'],
    ['noAnswer', 'ambiguous'],
  ])('ends as %s with the outcome %s', async (result, kind) => {
    const { client } = ec2ClientRig(refusing('InternalError', result));

    const written = await client.write('AttachNetworkInterface', attach, context);

    expect(written).toMatchObject({
      kind,
      failure: { code: 'InternalError', action: 'AttachNetworkInterface' },
    });
  });

  test('takes no token of its own, because its tokens were granted before', async () => {
    const { client } = ec2ClientRig(() => ({}), { bucket: { capacity: 1, refill: 0 } });
    await client.admit(['AttachNetworkInterface'], context);

    const result = await client.write('AttachNetworkInterface', attach, context);

    expect(result.kind).toBe('answered');
  });

  test('passes a bug on as an error', async () => {
    const bug = new TypeError('broken');
    const { client, finished } = ec2ClientRig(() => {
      throw bug;
    });

    await expect(client.write('AttachNetworkInterface', attach, context)).rejects.toBe(bug);

    expect(finished).toEqual([]);
  });
});

describe('a call without an answer', () => {
  test.each([
    ['AttachNetworkInterface', 10_000],
    // The call must end well within a Lease.
    ['DeleteNetworkInterface', 5000],
  ] as const)('ends as lost: %s after %i ms', async (action, timeout) => {
    const rig = ec2ClientRig(({ signal }) => sleep(rig.clock, 600_000, signal));
    const input = { ...attach, ...remove };

    const writing = rig.client.write(action, input, context);
    await rig.clock.advance(timeout - 1);
    const before = rig.gate.inFlight;
    await rig.clock.advance(1);

    expect(before).toBe(1);
    expect(await writing).toMatchObject({
      kind: 'ambiguous',
      failure: {
        kind: 'unreachable',
        code: 'Timeout',
        message: `no answer to ${action} within ${timeout / 1000} s`,
      },
    });
    expect(rig.gate.inFlight).toBe(0);
    expect(rig.finished).toMatchObject([{ action, status: undefined, duration: timeout }]);
  });

  test('may be answered for a second after its caller aborts, because it was sent', async () => {
    const rig = ec2ClientRig(async () => {
      await sleep(rig.clock, 1900, context.signal);
      return { AttachmentId: 'eni-attach-1' };
    });
    const giveUp = new AbortController();
    const writing = rig.client.write('AttachNetworkInterface', attach, { ...context, signal: giveUp.signal });
    await rig.clock.advance(1000);

    giveUp.abort(new Error('enough'));
    await rig.clock.advance(5000);

    expect(await writing).toMatchObject({ kind: 'answered' });
  });

  test('leaves no timer behind once it is answered', async () => {
    const { clock, client } = ec2ClientRig(() => ({}));

    await client.write('DeleteNetworkInterface', remove, context);

    expect(await clock.runUntil(() => false, 60_000)).toBe(false);
    expect(clock.monotonic()).toBe(0);
  });
});

/** The work of the SDK before it sends a request takes 3 s. */
const beforeSending = (clock: VirtualClock): Promise<void> => sleep(clock, 3000, context.signal);

describe('the time before a request is sent', () => {
  test('does not count towards the time-out', async () => {
    const rig = ec2ClientRig(
      async () => {
        await sleep(rig.clock, 8000, context.signal);
        return {};
      },
      { beforeSending },
    );

    const writing = rig.client.write('AttachNetworkInterface', attach, context);
    await rig.clock.advance(1000);
    const waiting = rig.gate.inFlight;
    await rig.clock.advance(20_000);

    expect(waiting).toBe(0);
    expect((await writing).kind).toBe('answered');
    expect(rig.sent.map(({ at }) => at)).toEqual([3000]);
    expect(rig.finished.map(({ duration }) => duration)).toEqual([8000]);
  });

  test('ends without a request and returns its token when the caller aborts', async () => {
    const rig = ec2ClientRig(() => ({}), { beforeSending, bucket: { capacity: 1, refill: 0.001 } });
    const giveUp = new AbortController();
    const reason = new Error('enough');
    await rig.client.admit(['AttachNetworkInterface'], context);
    const writing = rig.client.write('AttachNetworkInterface', attach, { ...context, signal: giveUp.signal });

    const ended = writing.catch((error: unknown) => error);
    giveUp.abort(reason);
    await rig.clock.advance(4000);

    expect(await ended).toBe(reason);
    expect(rig.sent).toEqual([]);
    await rig.client.admit(['AttachNetworkInterface'], context);
  });
});

describe('places among the requests in flight', () => {
  test('go to a call as soon as pods wait for it', async () => {
    const rig = ec2ClientRig(() => sleep(rig.clock, 1000, context.signal).then(() => ({})), { max: 5 });
    let priority: Priority = 'normal';
    const call = { ...context, caller: callerOf(() => priority) };
    const writing = Array.from({ length: 4 }, () => rig.client.write('AttachNetworkInterface', attach, call));
    await rig.clock.advance(100);

    priority = 'high';
    rig.gate.reconsider();
    await rig.clock.advance(2000);
    await Promise.all(writing);

    expect(rig.sent.map(({ at }) => at)).toEqual([0, 0, 0, 100]);
  });
});

describe('a call whose token turns out to be void', () => {
  test('is not sent in the place of the call that found that out', async () => {
    const rig = ec2ClientRig(
      async ({ action }, number) => {
        await sleep(rig.clock, 100, context.signal);
        return number < 2 ? refusing('RequestLimitExceeded')() : { action };
      },
      { bucket: { capacity: 4, refill: 4 }, max: 1 },
    );
    const calls = [1, 2, 3].map(async () => {
      await rig.client.admit(['AttachNetworkInterface'], context);
      return rig.client.write('AttachNetworkInterface', attach, context);
    });
    await rig.clock.advance(2000);
    const results = await Promise.all(calls);

    expect(results.map(({ kind }) => kind)).toEqual(['failed', 'failed', 'answered']);
    expect(rig.sent.map(({ at }) => at < 300)).toEqual([true, true, false]);
  });

  test('leaves its place to others until it has a new token', async () => {
    const rig = ec2ClientRig(() => ({}), { bucket: { capacity: 4, refill: 4 } });
    await rig.client.admit(['AttachNetworkInterface'], context);
    await rig.client.admit(['AttachNetworkInterface'], context);
    for (let times = 0; times < 2; times++) {
      await rig.clock.advance(2000);
      rig.rateLimiter.answered({
        call: { limits: [{ name: 'AttachNetworkInterface' }] },
        sentAt: rig.clock.monotonic(),
        throttled: true,
        retryAfter: undefined,
      });
    }
    const since = rig.clock.monotonic();

    const writing = rig.client.write('AttachNetworkInterface', attach, context);
    await rig.clock.advance(100);
    await rig.client.write('DescribeSubnets', {}, context);
    const before = rig.sent.map(({ action }) => action);
    await rig.clock.advance(1000);

    expect(before).toEqual(['DescribeSubnets']);
    expect(await writing).toMatchObject({ kind: 'answered' });
    expect((rig.sent[1]?.at ?? 0) - since).toBeGreaterThan(300);
    expect(rig.waits).toHaveLength(1);
  });
});

describe('a call that takes something away', () => {
  test('is not sent when our lease may expire before the call ends', async () => {
    const asked: number[] = [];
    const { client, gate, sent } = ec2ClientRig(() => ({}), {
      fence: {
        isInSafeLeaseWindow: (ms) => {
          asked.push(ms);
          return false;
        },
      },
    });

    const result = await client.write('DeleteNetworkInterface', remove, context);

    expect(result).toMatchObject({
      kind: 'failed',
      failure: { kind: 'fenced', action: 'DeleteNetworkInterface' },
    });
    expect(asked).toEqual([5000]);
    expect(sent).toEqual([]);
    expect(gate.inFlight).toBe(0);
  });

  test('is checked when it is sent, not when it starts to wait', async () => {
    let leading = true;
    const rig = ec2ClientRig(() => ({}), { beforeSending, fence: { isInSafeLeaseWindow: () => leading } });
    const writing = rig.client.write('DeleteNetworkInterface', remove, context);

    await rig.clock.advance(1000);
    leading = false;
    await rig.clock.advance(5000);

    expect(await writing).toMatchObject({ kind: 'failed', failure: { kind: 'fenced' } });
    expect(rig.sent).toEqual([]);
  });

  test('is checked again when it has a connection', async () => {
    let leading = true;
    const rig = ec2ClientRig(() => ({}), {
      fence: { isInSafeLeaseWindow: () => leading },
      connecting: () => {
        leading = false;
      },
    });

    const result = await rig.client.write('DeleteNetworkInterface', remove, context);

    expect(result).toMatchObject({ kind: 'failed', failure: { kind: 'fenced' } });
    expect(rig.sent).toEqual([]);
    expect(rig.gate.inFlight).toBe(0);
  });

  test('is the only kind that is fenced', async () => {
    const { client } = ec2ClientRig(() => ({}), { fence: { isInSafeLeaseWindow: () => false } });

    const result = await client.write('AttachNetworkInterface', attach, context);

    expect(result.kind).toBe('answered');
  });
});

test('a call whose credentials are late is not sent, and costs no token', async () => {
  const rig = ec2ClientRig(() => ({}), {
    bucket: { capacity: 1, refill: 1e-9 },
    beforeSending: (clock) => sleep(clock, 60_000, new AbortController().signal),
  });
  const refund = await rig.client.admit(['AttachNetworkInterface'], context);

  const writing = rig.client.write('AttachNetworkInterface', attach, context);
  await rig.clock.advance(60_000);

  expect(await writing).toMatchObject({ kind: 'failed', failure: { code: 'Timeout' } });
  expect(rig.sent).toEqual([]);
  expect(rig.rateLimiter.levels().find(({ action }) => action === 'AttachNetworkInterface')?.tokens).toBe(1);
  refund([]);
});

describe('a process that no longer leads', () => {
  test.each<[Ec2Action, boolean]>([
    ['CreateNetworkInterface', false],
    ['AttachNetworkInterface', false],
    ['AssignPrivateIpAddresses', false],
    ['ModifyNetworkInterfaceAttribute', false],
    ['DeleteNetworkInterface', false],
    ['DescribeSubnets', true],
  ])('sends no change, not even of an operation in flight: %s is sent: %j', async (action, isSent) => {
    const { client, sent } = ec2ClientRig(() => ({}), { fence: { leads: () => false } });

    const result = await client.write(action, remove, { ...context, inFlight: true });

    expect(sent).toHaveLength(isSent ? 1 : 0);
    if (!isSent) expect(result).toMatchObject({ kind: 'failed', failure: { kind: 'fenced', action } });
  });
});

describe('a pause', () => {
  const pausing = (pause: readonly Pausable[]): ClientChange => ({
    options: { permission: new MutationPermission({ ...noPauses, pause }) },
  });

  test.each<[Pausable, Ec2Action, boolean]>([
    ['mutations', 'CreateNetworkInterface', false],
    ['mutations', 'AttachNetworkInterface', false],
    ['mutations', 'AssignPrivateIpAddresses', false],
    ['mutations', 'ModifyNetworkInterfaceAttribute', false],
    ['mutations', 'DeleteNetworkInterface', false],
    ['mutations', 'DescribeSubnets', true],
    ['releases', 'CreateNetworkInterface', true],
    ['releases', 'ModifyNetworkInterfaceAttribute', true],
    ['releases', 'UnassignPrivateIpAddresses', false],
    ['releases', 'DetachNetworkInterface', false],
    ['releases', 'DeleteNetworkInterface', false],
  ])('(%s) decides about a new operation: %s is sent: %s', async (pause, action, isSent) => {
    const { client, gate, sent } = ec2ClientRig(() => ({}), pausing([pause]));

    const result = await client.write(action, remove, context);
    const started = await client.write(action, remove, { ...context, inFlight: true });

    if (!isSent) {
      expect(result).toMatchObject({
        kind: 'failed',
        failure: { kind: 'stopped', action, message: `${action} was not sent: it is paused (--pause)` },
      });
    }
    expect(result.kind).toBe(isSent ? 'answered' : 'failed');
    expect(started.kind).toBe('answered');
    expect(sent).toHaveLength(isSent ? 2 : 1);
    expect(gate.inFlight).toBe(0);
  });

  test.each<[Ec2Action, boolean]>([
    ['CreateNetworkInterface', true],
    ['AttachNetworkInterface', true],
    ['AssignPrivateIpAddresses', true],
    ['UnassignPrivateIpAddresses', false],
    ['DetachNetworkInterface', false],
    ['DeleteNetworkInterface', false],
  ])(
    '(held withdrawals) decides whether the operation is new or in flight: %s is sent: %s',
    async (action, isSent) => {
      const permission = new MutationPermission({ ...noPauses, withdrawalsHeld: true });
      const { client, sent } = ec2ClientRig(() => ({}), { options: { permission } });

      await client.write(action, remove, context);
      await client.write(action, remove, { ...context, inFlight: true });

      expect(sent).toHaveLength(isSent ? 2 : 0);
    },
  );

  test('is checked again for a waiting call when it is sent', async () => {
    const permission = new MutationPermission(noPauses);
    const rig = ec2ClientRig(() => ({}), { beforeSending, options: { permission } });
    const writing = rig.client.write('AttachNetworkInterface', attach, context);

    await rig.clock.advance(1000);
    permission.change({ conflictingWriter: 'atWork' });
    await rig.clock.advance(5000);

    expect(await writing).toMatchObject({ kind: 'failed', failure: { kind: 'stopped' } });
    expect(rig.sent).toEqual([]);
  });
});

describe('a call to EC2', () => {
  test('is counted in the metrics', async () => {
    const rig = ec2ClientRig(async (_, number) => {
      await sleep(rig.clock, 30, context.signal);
      return number === 0 ? {} : refusing('RequestLimitExceeded')();
    });

    const writing = [1, 2].map(() => rig.client.write('AttachNetworkInterface', attach, context));
    await rig.clock.advance(100);
    await Promise.all(writing);

    expect(rig.finished).toMatchObject([
      { action: 'AttachNetworkInterface', failure: undefined, status: 200, duration: 30 },
      { action: 'AttachNetworkInterface', failure: { kind: 'throttled' }, status: 400, duration: 30 },
    ]);
  });

  test('reports how long it waited for the rate limits, if it did', async () => {
    const { clock, client, waits } = ec2ClientRig(() => ({}), { bucket: { capacity: 2, refill: 1 } });

    await client.admit(['CreateNetworkInterface', 'AttachNetworkInterface'], context);
    await client.write('AttachNetworkInterface', attach, context);
    void client.admit(
      ['AttachNetworkInterface', 'AttachNetworkInterface', 'CreateNetworkInterface'],
      context,
    );
    await clock.advance(5000);

    expect(waits).toEqual(['AttachNetworkInterface,AttachNetworkInterface,CreateNetworkInterface:1000']);
  });
});
