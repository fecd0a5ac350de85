import { describe, expect, test } from '@jest/globals';
import { assign } from '../../../../src/simulator/cloud/assignments.ts';
import { attach, detach, setDeleteOnTermination } from '../../../../src/simulator/cloud/attachments.ts';
import { nothing } from '../../../../src/simulator/cloud/claims.ts';
import type { CloudNetwork } from '../../../../src/simulator/cloud/cloud-network.ts';
import { plainInterface, start, stop, terminate } from '../../../../src/simulator/cloud/instances.ts';
import { createInterface } from '../../../../src/simulator/cloud/network-interfaces.ts';
import { networkRig, problemOf } from './network-rig.ts';

const slow = `
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { attachMs: 2000, detachMs: 3000, startMs: 5000, stopMs: 5000, terminateMs: 8000, terminatedVisibleMs: 60000 }
`;

const make = (network: CloudNetwork, subnetId = 'subnet-0000000a'): string =>
  createInterface(network, plainInterface(subnetId, [])).id;

const place = (interfaceId: string, instanceId: string, deviceIndex: number, cardIndex = 0) => ({
  interfaceId,
  instanceId,
  deviceIndex,
  cardIndex,
});

describe('an attachment', () => {
  test('takes time, as a detachment does', async () => {
    const { network, clock } = networkRig(slow);
    const id = make(network);

    const { id: attachmentId } = attach(network, place(id, 'i-00000001', 1));

    const attached = { status: 'in-use', instanceId: 'i-00000001', deviceIndex: 1 };
    expect(network.interfaces.get(id)).toMatchObject({ ...attached, attachment: { status: 'attaching' } });
    await clock.advance(2000);
    expect(network.interfaces.get(id)).toMatchObject({ ...attached, attachment: { status: 'attached' } });
    detach(network, attachmentId);
    await clock.advance(2999);
    expect(network.interfaces.get(id)).toMatchObject({ ...attached, attachment: { status: 'detaching' } });
    await clock.advance(1);
    expect(network.interfaces.get(id)?.attachment).toBeUndefined();
    expect(network.interfaces.get(id)?.status).toBe('available');
    expect(network.instances.get('i-00000001')?.interfaceIds).toHaveLength(1);
  });

  test('keeps its index and its interface until the detachment ends', async () => {
    const { network, clock } = networkRig(slow);
    const [first, second] = [make(network), make(network)];
    const { id } = attach(network, place(first, 'i-00000001', 1));
    await clock.advance(2000);
    detach(network, id);

    expect(problemOf(() => attach(network, place(second, 'i-00000001', 1)))).toMatchObject({
      kind: 'indexTaken',
    });
    expect(problemOf(() => attach(network, place(first, 'i-00000001', 2)))).toMatchObject({
      kind: 'alreadyAttached',
    });
    expect(problemOf(() => detach(network, id))).toMatchObject({
      kind: 'attachmentState',
      status: 'detaching',
    });
    await clock.advance(3000);
    attach(network, place(second, 'i-00000001', 1));
  });

  test('is refused when the instance type has no room for another interface', () => {
    const { network } = networkRig();
    for (const index of [1, 2]) attach(network, place(make(network), 'i-00000001', index));

    const refused = problemOf(() => attach(network, place(make(network), 'i-00000001', 3)));

    expect(refused).toEqual({ kind: 'interfaceLimit', count: 4, type: 'm5.large' });
  });

  test('counts indexes and room for each network card', () => {
    const { network } = networkRig();
    const subnet = 'subnet-0000000b';
    for (let index = 1; index <= 15; index++)
      attach(network, place(make(network, subnet), 'i-00000003', index, 1));

    const attempt = (card: number, index: number) =>
      problemOf(() => attach(network, place(make(network, subnet), 'i-00000003', index, card)));

    expect(attempt(1, 16)).toMatchObject({ kind: 'interfaceLimit' });
    expect(attempt(4, 1)).toEqual({ kind: 'noSuchCard', cardIndex: 4, type: 'p4d.24xlarge' });
    attach(network, place(make(network, subnet), 'i-00000003', 1, 2));
  });

  test('is refused to an instance in another zone, and to one too small for what the interface carries', () => {
    const { network } = networkRig();
    const far = make(network, 'subnet-0000000b');
    const heavy = make(network);
    assign(network, heavy, { ...nothing, count: 9, prefixCount: 1 }, false);

    expect(problemOf(() => attach(network, place(far, 'i-00000001', 1)))).toMatchObject({
      kind: 'otherZone',
    });
    expect(problemOf(() => attach(network, place(heavy, 'i-00000001', 1)))).toMatchObject({
      kind: 'addressLimit',
    });
  });

  test('is possible while the instance runs or is stopped, but not in between', async () => {
    const { network, clock } = networkRig(slow);
    const attempt = () => problemOf(() => attach(network, place(make(network), 'i-00000001', 2)));

    stop(network, ['i-00000001']);
    expect(attempt()).toMatchObject({ kind: 'instanceState', state: 'stopping' });
    await clock.advance(5000);
    attach(network, place(make(network), 'i-00000001', 1));
    start(network, ['i-00000001']);
    expect(attempt()).toMatchObject({ kind: 'instanceState', state: 'pending' });
    await clock.advance(5000);
    terminate(network, ['i-00000001']);
    expect(attempt()).toMatchObject({ kind: 'instanceState', state: 'shutting-down' });
    await clock.advance(8000);
    expect(attempt()).toMatchObject({ kind: 'instanceState', state: 'terminated' });
  });

  test('cannot be ended for the primary interface', () => {
    const { network } = networkRig();
    const [primary] = network.instances.get('i-00000001')?.interfaceIds ?? [];
    const { attachment } = network.interfaces.get(primary ?? '') ?? {};

    expect(problemOf(() => detach(network, attachment?.id ?? ''))).toEqual({ kind: 'primaryNotDetachable' });
  });
});

describe('a termination', () => {
  test('deletes the interfaces marked for it, keeps the others, and drops the instance after a while', async () => {
    const { network, clock } = networkRig(slow);
    const [kept, deleted] = [make(network), make(network)];
    attach(network, place(kept, 'i-00000001', 1));
    const { id } = attach(network, place(deleted, 'i-00000001', 2));
    setDeleteOnTermination(network, deleted, id, true);
    const before = network.subnets.get('subnet-0000000a')?.available ?? 0;

    terminate(network, ['i-00000001']);
    await clock.advance(7999);
    expect(network.interfaces.get(deleted)).toMatchObject({ attachment: { status: 'detaching' } });
    await clock.advance(1);

    expect(network.instances.get('i-00000001')?.state).toBe('terminated');
    expect(network.interfaces.has(deleted)).toBe(false);
    expect(network.interfaces.get(kept)?.status).toBe('available');
    // The primary interface and the deleted one each freed an address.
    expect(network.subnets.get('subnet-0000000a')?.available).toBe(before + 2);
    await clock.advance(60_000);
    expect(network.instances.has('i-00000001')).toBe(false);
  });

  test('has no further effect when it is repeated', () => {
    const { network } = networkRig();

    const first = terminate(network, ['i-00000001']);
    const second = terminate(network, ['i-00000001']);

    expect(first).toEqual([{ id: 'i-00000001', before: 'running', after: 'shutting-down' }]);
    expect(second).toEqual([{ id: 'i-00000001', before: 'terminated', after: 'terminated' }]);
  });
});
