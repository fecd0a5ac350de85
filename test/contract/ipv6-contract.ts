// The cases about IPv6 prefixes of interfaces: for clouds whose agents can use them, and for the others.
import { expect, test } from '@jest/globals';
import type { CloudRig } from './cloud-rig.ts';
import { CloudSession } from './cloud-session.ts';
import { effects, truth, visible, world } from './contract-world.ts';

/** The IPv6 prefixes that an instance has in the model. */
function ipv6Truth({ network }: CloudRig, instanceId: string): readonly string[] {
  return [...network.interfaces.values()]
    .filter((item) => item.instanceId === instanceId)
    .flatMap(({ ipv6Prefixes }) => ipv6Prefixes);
}

export function describeIpv6(newRig: () => CloudRig): void {
  if (newRig().ipv6 === undefined) describeWithoutIpv6(newRig);
  else describeWithIpv6(newRig);
}

function describeWithoutIpv6(newRig: () => CloudRig): void {
  test('promises no IPv6 prefix, shows none, and sends nothing for one', async () => {
    const { rig, session, first } = world(newRig);
    const item = await session.interfaceOf(first);
    const sent = rig.sent.length;

    const asked = session.perform(await session.ipv6(first));
    const kind = await asked.then((outcome) => outcome.kind).catch(() => 'failed');

    expect(kind).toBe('failed');
    expect(session.implementation.traits.ipv6).toBe(false);
    expect(item).not.toHaveProperty('ipv6Prefixes');
    expect(rig.sent.slice(sent)).not.toContain(rig.calls.grow);
  });
}

function describeWithIpv6(newRig: () => CloudRig): void {
  test('assigns one IPv6 prefix, takes no IPv4 address for it, and then shows it', async () => {
    const { rig, session, first } = world(newRig);
    const [before, addresses] = [await session.interfaceOf(first), truth(rig, first)];

    const outcome = await session.perform(await session.ipv6(first));
    await rig.clock.advance(visible);

    const ipv6Prefixes = ipv6Truth(rig, first);
    expect(session.implementation.traits.ipv6).toBe(true);
    expect(before).not.toHaveProperty('ipv6Prefixes');
    expect(ipv6Prefixes).toHaveLength(1);
    expect(outcome).toMatchObject({
      kind: 'done',
      answer: { kind: 'allocated', instanceId: first, addresses: [], prefixes: [], ipv6Prefixes },
    });
    expect((await session.interfaceOf(first)).ipv6Prefixes).toEqual(ipv6Prefixes);
    expect((await new CloudSession(rig).interfaceOf(first)).ipv6Prefixes).toEqual(ipv6Prefixes);
    expect(truth(rig, first)).toEqual(addresses);
  });

  test.each(effects)(
    'leaves it to a read whether an answer that is lost %s brought one',
    async (_, effect) => {
      const { rig, session, first } = world(newRig);
      const fault = { kind: 'lost', effect, connection: 'drop', delayMs: 45_000 } as const;
      rig.faults.add({ action: rig.ipv6?.call ?? '', rate: 1, count: 1, match: {}, fault });

      const outcome = await session.perform(await session.ipv6(first));
      await rig.clock.advance(120_000);

      const { ipv6Prefixes = [] } = await session.interfaceOf(first);
      expect(outcome.kind).toBe('ambiguous');
      expect(rig.sent.filter((call) => call === rig.ipv6?.call)).toHaveLength(1);
      expect(ipv6Prefixes).toEqual(ipv6Truth(rig, first));
      expect(ipv6Prefixes).toHaveLength(effect === 'after' ? 0 : 1);
    },
  );

  test('creates an interface with one, once for a token, beside its IPv4 addresses', async () => {
    const { rig, session, first } = world(newRig);
    const creation = await session.creation(first, 'contract-token');

    const outcomes = [await session.perform(creation), await session.perform(creation)];

    const made = [...rig.network.interfaces.values()].filter(({ description }) => description === 'contract');
    expect(made).toMatchObject([{ ipv6Prefixes: [expect.any(String)] }]);
    const { id, ipv6Prefixes } = made[0] ?? {};
    const answer = { kind: 'created', interface: { id, ipv6Prefixes } };
    expect(outcomes).toMatchObject([
      { kind: 'done', answer },
      { kind: 'done', answer },
    ]);
    expect(made[0]?.addresses).toHaveLength(3);
  });

  test('says that none is left, in both calls, and goes on with IPv4', async () => {
    const { rig, session, first } = world(newRig);
    const before = truth(rig, first);
    rig.ipv6?.exhaust();

    const refused = [
      await session.perform(await session.ipv6(first)),
      await session.perform(await session.creation(first, 'contract-token')),
    ];
    const grown = await session.perform(await session.growth(first, 3));

    const full = { kind: 'failed', failure: { kind: 'prefixSpaceFragmented' } };
    expect(refused).toMatchObject([full, full]);
    expect(grown.kind).toBe('done');
    expect(truth(rig, first)).toHaveLength(before.length + 3);
    expect(ipv6Truth(rig, first)).toEqual([]);
  });
}
