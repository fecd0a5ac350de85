import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CreateNetworkInterfaceCommand, DescribeVpcsCommand } from '@aws-sdk/client-ec2';
import type { Fault } from '../../../../src/simulator/cloud/faults.ts';
import { startEc2Server } from '../../../../src/simulator/ec2/ec2-server.ts';
import { systemClock } from '../../../../src/runtime/system-clock.ts';
import { type Rig, refusalOf, startRig } from './ec2-rig.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(async () => {
  await rig.close();
});

const lost = (effect: 'before' | 'after' | 'late', connection: 'drop' | 'hang', delayMs = 0): Fault => ({
  kind: 'lost',
  effect,
  connection,
  delayMs,
});

/** The outcome of one creation for a client that waits for 150 ms, and the number of interfaces then. */
async function createUnder(
  fault: Fault,
): Promise<{ readonly answered: boolean; readonly interfaces: number }> {
  rig.gateway.faults.add({ action: 'CreateNetworkInterface', rate: 1, count: 1, match: {}, fault });
  const client = rig.connect({ timeout: 150 });
  const call = client.send(new CreateNetworkInterfaceCommand({ SubnetId: 'subnet-0000000000000000a' }));
  const { status } = await refusalOf(call);
  return { answered: status !== undefined, interfaces: rig.network.interfaces.size };
}

describe('a lost answer', () => {
  test.each([
    [lost('before', 'drop'), 3],
    [lost('before', 'hang'), 3],
    [lost('after', 'drop'), 2],
    [lost('after', 'hang'), 2],
  ])('ends in an error of the SDK after the fault %j', async (fault, interfaces) => {
    expect(await createUnder(fault)).toEqual({ answered: false, interfaces });
  });

  test('can have its effect later', async () => {
    const ended = await createUnder(lost('late', 'hang', 3_600_000));

    rig.clock.setPace(1e9);
    while (rig.network.interfaces.size === 2) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }

    expect(ended).toEqual({ answered: false, interfaces: 2 });
    expect(rig.network.interfaces.size).toBe(3);
  });
});

describe('a spoiled answer', () => {
  const describeUnder = (form: Extract<Fault, { kind: 'garbled' }>['form']) => {
    rig.gateway.faults.add({ action: '*', rate: 1, count: 1, match: {}, fault: { kind: 'garbled', form } });
    return rig.client.send(new DescribeVpcsCommand({}));
  };

  test('is read as no items when it is empty', async () => {
    expect((await describeUnder('empty')).Vpcs).toBeUndefined();
  });

  test('can lack ids', async () => {
    expect((await describeUnder('idsMissing')).Vpcs).toEqual([
      expect.not.objectContaining({ VpcId: expect.anything() }),
    ]);
  });

  test('can have an unknown state', async () => {
    expect((await describeUnder('unknownEnum')).Vpcs).toMatchObject([{ State: 'quantum' }]);
  });

  test('is an error when it ends in the middle', async () => {
    await expect(describeUnder('truncated')).rejects.toBeInstanceOf(Error);
  });

  test('is an error with its status when it is a page of HTML', async () => {
    expect(await refusalOf(describeUnder('html502'))).toMatchObject({ status: 502 });
  });
});

describe('a refusal of EC2', () => {
  test('follows too many requests', async () => {
    // So slow that no request returns before the call.
    rig.gateway.limits.change({ throttle: true, scale: 0.001 });
    rig.gateway.limits.drain({ action: 'DescribeVpcs', whole: false }, 1000);

    expect(await refusalOf(rig.client.send(new DescribeVpcsCommand({})))).toEqual({
      code: 'RequestLimitExceeded',
      status: 503,
      message: 'Request limit exceeded.',
    });
  });

  test.each([
    ['an unknown key', { keyId: 'AKIAUNKNOWN000000000' }, 'AuthFailure', 401],
    ['a wrong secret', { secret: 'wrong' }, 'SignatureDoesNotMatch', 403],
  ])('is for %s', async (_, options, code, status) => {
    const client = rig.connect(options);

    expect(await refusalOf(client.send(new DescribeVpcsCommand({})))).toMatchObject({ code, status });
  });

  test('follows an action that is not allowed', async () => {
    rig.gateway.allowedActions = new Set(['DescribeSubnets']);

    const { code, status, message } = await refusalOf(rig.client.send(new DescribeVpcsCommand({})));

    expect([code, status]).toEqual(['UnauthorizedOperation', 403]);
    expect(message).toContain(
      'arn:aws:iam::123456789012:user/tester is not authorized to perform: ec2:DescribeVpcs',
    );
  });
});

describe('the EC2 server', () => {
  test('keeps connections longer than clients do, and serves the admin endpoint', async () => {
    const answer = await fetch(`${rig.url}/_headwater/state`);

    expect(answer.headers.get('keep-alive')).toBe('timeout=75');
    expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(rig.network.snapshot())));
  });

  test('names the port that is taken', async () => {
    const { port } = new URL(rig.url);
    const options = { gateway: rig.gateway, clock: systemClock, port: Number(port) };

    await expect(startEc2Server(options)).rejects.toThrow(`port ${port} of 127.0.0.1 is taken`);
  });
});
