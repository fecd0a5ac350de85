// The cases that every cloud has to pass. They use the port alone, and look for the truth in the model behind it.
import { describe, expect, test } from '@jest/globals';
import { CallError } from '../../src/providers/gate/cloud-call.ts';
import type { CloudRig } from './cloud-rig.ts';
import { CloudSession, type Observed } from './cloud-session.ts';
import type { AuditLine } from '../support/audit-lines.ts';
import { effects, truth, visible, world } from './contract-world.ts';
import { type CloudMode, clouds } from '../../src/config/clouds/clouds.ts';
import { describeIpv6 } from './ipv6-contract.ts';

function holders({ interfaces }: Observed): ReadonlySet<string> {
  return new Set(interfaces.flatMap(({ attachment }) => attachment?.instanceId ?? []));
}

export function describeCloud(name: string, mode: CloudMode, newRig: () => CloudRig): void {
  describe(`the provider of ${name}`, () => {
    test('has the traits that its descriptor tells options and agents', () => {
      const { traits } = world(newRig).session.implementation;
      const { interfaces, ipv6 } = clouds[mode];

      expect({ interfaces: traits.interfaces, ipv6: traits.ipv6 }).toEqual({ interfaces, ipv6 });
    });

    describeGrowth(newRig);
    describeRelease(newRig);
    describeTrouble(newRig);
    describeReads(newRig);
    describeAudit(newRig);
    if (newRig().publicAddresses !== undefined) describePublicAddresses(newRig);
    describeIpv6(newRig);
  });
}

function describeAudit(newRig: () => CloudRig): void {
  test('writes a line to the audit for each change that the cloud was asked for', async () => {
    const { rig, session, first } = world(newRig);
    const { grow, shrink } = rig.calls;
    rig.faults.add({ action: grow, rate: 1, count: 1, match: {}, fault: refusal });

    await session.perform(await session.growth(first, 2));
    const grown = await session.perform(await session.growth(first, 2));
    await rig.clock.advance(visible);
    const shrinkage = await session.shrinkage(first, 1);
    await session.insistOn(shrinkage);

    const changes = rig.audited.filter(({ audit }) => audit === 'change');
    expect(changes.map(({ action }) => action.replace(/^Interfaces/, 'NetworkInterfaces'))).toEqual(
      rig.sent.filter((call) => call === grow || call === shrink),
    );
    const lastOf = (operation: string): AuditLine | undefined =>
      rig.audited.findLast((line) => line.operation === operation);
    const added = grown.kind === 'done' && grown.answer.kind === 'allocated' ? grown.answer.addresses : [];
    expect(added).toHaveLength(2);
    const of = { instance: first, result: 'ok' };
    const subject = { interface: shrinkage.interfaceId };
    expect(lastOf('allocateIPs')).toMatchObject({ ...of, why: 'pods', subjects: [{ addresses: added }] });
    expect(lastOf('releaseIPs')).toMatchObject({
      ...of,
      why: 'release',
      subjects: [{ ...subject, addresses: shrinkage.addresses }],
    });
    expect(changes[0]).toMatchObject({ change: 1, result: 'refused', code: refusal.code });
    expect(Object.keys(changes[0]?.tokens ?? {})).not.toEqual([]);
  });

  test.each(effects)('writes that the answer was lost %s', async (_, effect) => {
    const { rig, session, first } = world(newRig);
    const fault = { kind: 'lost', effect, connection: 'drop', delayMs: 45_000 } as const;
    await session.perform(await session.growth(first, 2));
    await rig.clock.advance(visible);
    rig.faults.add({ action: rig.calls.shrink, rate: 1, count: 1, match: {}, fault });

    const release = await session.shrinkage(first, 1);
    await session.insistOn(release);

    const { grow, shrink } = rig.calls;
    const [, ...changes] = rig.audited.filter(({ audit }) => audit === 'change');
    expect(changes).toHaveLength(rig.sent.filter((call) => call === grow || call === shrink).length - 1);
    expect(changes[0]).toMatchObject({ result: 'unclear', subjects: [{ addresses: release.addresses }] });
  });
}

const refusal = {
  kind: 'error',
  code: 'Refused',
  status: 400,
  message: 'the account is not allowed',
} as const;

function describePublicAddresses(newRig: () => CloudRig): void {
  test('associates a public address that carries the tags, and then shows it', async () => {
    const { rig, session, first } = world(newRig);
    const { tags = {}, of } = rig.publicAddresses ?? {};

    const outcome = await session.perform(await session.association(first, tags));
    await rig.clock.advance(visible);

    const [publicAddress = ''] = of?.(first) ?? [];
    expect(outcome).toMatchObject({ kind: 'done', answer: { kind: 'staticIPAssociated', publicAddress } });
    expect((await session.interfaceOf(first)).publicAddress).toBe(publicAddress);
    expect((await new CloudSession(rig).interfaceOf(first)).publicAddress).toBe(publicAddress);
  });

  test.each(effects)('associates one address after an answer that is lost %s', async (_, effect) => {
    const { rig, session, first } = world(newRig);
    const { tags = {}, call = '', of } = rig.publicAddresses ?? {};
    const association = await session.association(first, tags);
    const fault = { kind: 'lost', effect, connection: 'drop', delayMs: 45_000 } as const;
    rig.faults.add({ action: call, rate: 1, count: 1, match: {}, fault });

    await session.perform(association);
    await rig.clock.advance(120_000);
    const again = await session.perform(association);

    expect(again.kind).toBe('done');
    expect(of?.(first)).toHaveLength(1);
  });
}

function describeGrowth(newRig: () => CloudRig): void {
  test('grows an instance by what was asked, and then shows it', async () => {
    const { rig, session, first } = world(newRig);
    const before = truth(rig, first);

    const outcome = await session.perform(await session.growth(first, 3));
    await rig.clock.advance(visible);

    const added = truth(rig, first).filter((address) => !before.includes(address));
    expect(added).toHaveLength(3);
    expect(outcome).toMatchObject({ kind: 'done', answer: { kind: 'allocated', instanceId: first } });
    const { addresses, condition } = await session.interfaceOf(first);
    expect([...addresses].sort()).toEqual([...truth(rig, first)].sort());
    expect(condition).toBeUndefined();
  });

  test('grows many instances at once, with one change for each', async () => {
    const { rig, session } = world(newRig);
    const before = rig.instanceIds.map((id) => truth(rig, id).length);
    const growths = [];
    for (const id of rig.instanceIds) growths.push(await session.growth(id, 5));

    const outcomes = await session.ended(Promise.all(growths.map((growth) => session.begin(growth))));

    expect(outcomes.map(({ kind }) => kind)).toEqual(rig.instanceIds.map(() => 'done'));
    expect(rig.instanceIds.map((id) => truth(rig, id).length)).toEqual(before.map((count) => count + 5));
    expect(rig.sent.filter((call) => call === rig.calls.grow)).toHaveLength(rig.instanceIds.length);
  });

  test('takes nothing of a subnet that is too full, and then what is left', async () => {
    const { rig, session, first } = world(newRig);
    const before = truth(rig, first);
    rig.fill(2);

    const outcome = await session.perform(await session.growth(first, 3));

    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'subnetExhausted' } });
    expect(truth(rig, first)).toEqual(before);
    const next = await session.perform(await session.growth(first, 2));
    expect(next.kind).toBe('done');
    expect(truth(rig, first)).toHaveLength(before.length + 2);
  });

  test('leaves what another client adds at the same time', async () => {
    const { rig, session, first } = world(newRig);
    const before = truth(rig, first);
    rig.before(rig.calls.grow, () => rig.addByOthers(first));

    const outcome = await session.insist(await session.growth(first, 3));
    await rig.clock.advance(visible);

    expect(outcome.kind).toBe('done');
    expect(truth(rig, first)).toHaveLength(before.length + 4);
    expect(truth(rig, first)).toEqual(expect.arrayContaining([...before]));
  });

  test('says that the limits would delay the next change of an instance, once they are used up', async () => {
    const { rig, first } = world(newRig);
    const provider = rig.compose();
    const context = {
      caller: { priority: 'critical' as const },
      signal: new AbortController().signal,
      instanceId: first,
    };
    const wait = (): number => provider.expectedWait(['allocateIPs'], 'critical', first);
    const atFirst = wait();
    for (let calls = 0; wait() === 0 && calls < 1000; calls++) await provider.admit(['allocateIPs'], context);

    const afterMany = wait();

    expect(atFirst).toBe(0);
    expect(afterMany).toBeGreaterThan(0);
  });
}

/** A world in which the first instance has grown by so many addresses. */
async function grownWorld(newRig: () => CloudRig, count: number): Promise<ReturnType<typeof world>> {
  const all = world(newRig);
  const { rig, session, first } = all;
  await session.insist(await session.growth(first, count));
  await rig.clock.advance(visible);
  return all;
}

function describeRelease(newRig: () => CloudRig): void {
  test('releases exactly what was asked, and then shows it', async () => {
    const { rig, session, first } = await grownWorld(newRig, 5);
    const before = truth(rig, first);
    const release = await session.shrinkage(first, 3);

    const outcome = await session.perform(release);
    await rig.clock.advance(visible);

    const left = before.filter((address) => !release.addresses.includes(address));
    expect(outcome.kind).toBe('done');
    expect(release.addresses).toHaveLength(3);
    expect([...truth(rig, first)].sort()).toEqual([...left].sort());
    expect([...(await session.interfaceOf(first)).addresses].sort()).toEqual([...left].sort());
  });

  test.each(effects)('releases nothing else after an answer that is lost %s', async (_, effect) => {
    const { rig, session, first } = await grownWorld(newRig, 5);
    const before = truth(rig, first);
    const release = await session.shrinkage(first, 2);
    const fault = { kind: 'lost', effect, connection: 'drop', delayMs: 45_000 } as const;
    rig.faults.add({ action: rig.calls.shrink, rate: 1, count: 1, match: {}, fault });

    await session.insistOn(release);
    await rig.clock.advance(120_000);

    const left = before.filter((address) => !release.addresses.includes(address));
    expect([...truth(rig, first)].sort()).toEqual([...left].sort());
  });

  test('releases what was asked after calls that were throttled', async () => {
    const { rig, session, first } = await grownWorld(newRig, 3);
    const release = await session.shrinkage(first, 2);
    rig.faults.add({ action: rig.calls.shrink, rate: 1, count: 2, match: {}, fault: { kind: 'throttle' } });

    const throttled = await session.perform(release);
    const outcome = await session.insistOn(release);

    expect(throttled).toMatchObject({ kind: 'failed', failure: { kind: 'throttled' } });
    expect(outcome.kind).toBe('done');
    expect(truth(rig, first).filter((address) => release.addresses.includes(address))).toEqual([]);
  });

  test('releases nothing that another client adds at the same time', async () => {
    const { rig, session, first } = await grownWorld(newRig, 3);
    const before = truth(rig, first);
    const release = await session.shrinkage(first, 2);
    rig.before(rig.calls.shrink, () => rig.addByOthers(first));

    const outcome = await session.insistOn(release);
    await rig.clock.advance(visible);

    expect(outcome.kind).toBe('done');
    expect(truth(rig, first)).toHaveLength(before.length - 2 + 1);
    expect(truth(rig, first).filter((address) => release.addresses.includes(address))).toEqual([]);
  });

  test('calls what is gone already released, or not assigned', async () => {
    const { rig, session, first } = await grownWorld(newRig, 3);
    const release = await session.shrinkage(first, 1);
    await session.insistOn(release);
    await rig.clock.advance(visible);
    const before = truth(rig, first);

    const outcome = await session.perform(release);

    if (outcome.kind !== 'done')
      expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'notAssigned' } });
    expect(truth(rig, first)).toEqual(before);
  });

  test('lets another process end what one began to release', async () => {
    const { rig, session, first } = await grownWorld(newRig, 4);
    const before = truth(rig, first);
    const release = await session.shrinkage(first, 2);
    const calls = rig.sent.length;
    const begun = session.begin(release);
    await rig.clock.runUntil(() => rig.sent.slice(calls).includes(rig.calls.shrink), 60_000);
    await rig.clock.advance(1500);
    session.end();
    const next = new CloudSession(rig);

    await next.insistOn(release);

    const left = before.filter((address) => !release.addresses.includes(address));
    expect(['done', 'ambiguous']).toContain((await next.ended(begun)).kind);
    expect([...truth(rig, first)].sort()).toEqual([...left].sort());
  });
}

function describeTrouble(newRig: () => CloudRig): void {
  test.each(effects)('adds nothing twice after an answer that is lost %s', async (_, effect) => {
    const { rig, session, first } = world(newRig);
    const before = truth(rig, first).length;
    const fault = { kind: 'lost', effect, connection: 'drop', delayMs: 45_000 } as const;
    rig.faults.add({ action: rig.calls.grow, rate: 1, count: 1, match: {}, fault });

    await session.insist(await session.growth(first, 3));
    await rig.clock.advance(120_000);

    expect(truth(rig, first)).toHaveLength(before + 3);
    expect((await session.interfaceOf(first)).addresses).toHaveLength(before + 3);
  });

  test('adds everything once after calls that were throttled', async () => {
    const { rig, session, first } = world(newRig);
    const before = truth(rig, first).length;
    rig.faults.add({ action: rig.calls.grow, rate: 1, count: 2, match: {}, fault: { kind: 'throttle' } });
    const growth = await session.growth(first, 3);

    const throttled = await session.perform(growth);
    const outcome = await session.insist(growth);

    expect(throttled).toMatchObject({ kind: 'failed', failure: { kind: 'throttled' } });
    expect(outcome.kind).toBe('done');
    expect(truth(rig, first)).toHaveLength(before + 3);
  });

  test('shows another process what one began that ended in the middle', async () => {
    const { rig, session, first } = world(newRig);
    const before = truth(rig, first).length;
    const growth = await session.growth(first, 3);
    const isSent = (): boolean => rig.sent.includes(rig.calls.grow);
    const begun = session.begin(growth);
    await rig.clock.runUntil(isSent, 60_000);
    await rig.clock.advance(1500);
    session.end();
    const next = new CloudSession(rig);

    // While an interface is changing, its addresses are neither known to be there nor known to be gone.
    for (let look = 0; look < 30; look++) {
      const { condition, addresses } = await next.interfaceOf(first);
      if (condition === undefined && addresses.length === before + 3) break;
      await rig.clock.advance(5000);
    }

    const outcome = await next.ended(begun);
    expect(['done', 'ambiguous']).toContain(outcome.kind);
    expect((await next.interfaceOf(first)).addresses).toHaveLength(before + 3);
    expect(truth(rig, first)).toHaveLength(before + 3);
  });
}

function describeReads(newRig: () => CloudRig): void {
  test('concludes nothing from a listing that breaks off', async () => {
    const { rig, session } = world(newRig);
    let isTorn = false;
    const lose = (): never => {
      isTorn = true;
      throw new CallError({ result: 'noAnswer', code: 'ECONNRESET', message: 'torn' });
    };
    rig.before(rig.calls.list, lose, 2);

    const seen = await session.observe(rig.instanceIds, 'all').catch(() => 'torn' as const);

    expect(isTorn).toBe(true);
    if (seen === 'torn') return;
    const known = [...holders(seen), ...seen.failed];
    expect(new Set(known)).toEqual(new Set(rig.instanceIds));
    expect(seen.instances).toEqual(new Map());
  });

  test.each(['instances', 'all'] as const)(
    'takes no instance for gone when nothing at all is shown, in a read of %s',
    async (kind) => {
      const { rig, session } = world(newRig);
      rig.hideEverything();

      const seen = await session.observe(rig.instanceIds, kind).catch(() => undefined);

      expect([...(seen?.instances.values() ?? [])].filter((state) => state === 'terminated')).toEqual([]);
      expect(seen?.interfaces ?? []).toEqual([]);
    },
  );

  test('takes an instance for gone only by a positive word, and shows the others', async () => {
    const { rig, session, first } = world(newRig);
    rig.terminate(first);
    await rig.clock.advance(90_000);

    const seen = await session.observe(rig.instanceIds);

    expect(seen.instances.get(first)).toBe(rig.gone);
    expect(holders(seen)).toEqual(new Set(rig.instanceIds.slice(1)));
    expect(seen.failed).toEqual([]);
  });

  test.each(['instances', 'all'] as const)(
    'sets one bad interface aside and shows the others, in a read of %s',
    async (kind) => {
      const { rig, session, first } = world(newRig);
      rig.breakInterface(first);
      await rig.clock.advance(visible);

      const seen = await session.observe(rig.instanceIds, kind);

      expect(holders(seen)).toEqual(new Set(rig.instanceIds.slice(1)));
      const bad = seen.observations.filter(({ kind: what }) => what === 'unreadableInterface');
      expect(bad).toMatchObject([{ interface: { instanceId: first } }]);
      expect(seen.failed).toEqual([]);
    },
  );
}
