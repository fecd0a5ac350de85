import { describe, expect, test } from '@jest/globals';
import { type JsonObject, valueAt } from '../../../../src/runtime/json.ts';
import { LeaderElection, type Leadership } from '../../../../src/kubernetes/lease/leader-election.ts';
import type { TransportRequest } from '../../../../src/kubernetes/transport/transport.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { LeaseServer } from '../lease-server.ts';
import { type Script, ScriptedTransport, status, unreachable } from '../scripted-transport.ts';
import { rethrow } from '../../../support/rethrow.ts';

const key = 'headwater/withdrawals-held';
const held = {
  holderIdentity: 'them',
  leaseDurationSeconds: 15,
  renewTime: '2001-01-01T00:00:00.000000Z',
  leaseTransitions: 3,
};

interface Rig {
  readonly clock: VirtualClock;
  readonly server: LeaseServer;
  readonly election: LeaderElection;
  readonly kinds: Leadership['kind'][];
  readonly sent: TransportRequest[];
  readonly stop: () => Promise<unknown>;
}

function rig(
  given: { server?: LeaseServer; refuse?: (request: TransportRequest) => Script | undefined } = {},
): Rig {
  const { server = new LeaseServer(), refuse } = given;
  const clock = new VirtualClock();
  const transport = new ScriptedTransport(clock, (request) => refuse?.(request) ?? server.apply(request));
  const kinds: Leadership['kind'][] = [];
  const ports = { transport, clock, random: new Random('election'), onBug: rethrow };
  const election = new LeaderElection(ports, {
    namespace: 'ns',
    name: 'lock',
    identity: 'us',
    onChange: ({ kind }) => kinds.push(kind),
  });
  const stopping = new AbortController();
  const ended = election.run(stopping.signal);
  const stop = (): Promise<unknown> => {
    stopping.abort(new Error('stop'));
    return ended;
  };
  return { clock, server, election, kinds, sent: transport.requests, stop };
}

function annotationsOf({ lease }: LeaseServer): unknown {
  return valueAt(lease, 'metadata', 'annotations');
}

function sets({ body = '{}' }: TransportRequest): boolean {
  return valueAt(JSON.parse(body) as JsonObject, 'metadata', 'annotations', key) !== undefined;
}

/** A Lease written by another client. */
function leftBehind(annotations: JsonObject): LeaseServer {
  const server = new LeaseServer();
  server.write({ ...held, holderIdentity: '' });
  const metadata = { ...(server.lease?.['metadata'] as JsonObject), annotations };
  server.lease = { ...server.lease, metadata };
  return server;
}

describe('an annotation of the Lease', () => {
  test('is written with the next renewal, next to annotations of others', async () => {
    const { clock, server, election, sent } = rig({ server: leftBehind({ theirs: 'stays' }) });
    await clock.advance(1000);
    const before = sent.length;

    election.annotate(key, 'much is missing');
    await clock.advance(2000);

    expect(annotationsOf(server)).toEqual({ theirs: 'stays', [key]: 'much is missing' });
    expect(sent.length - before).toBe(1);
    expect(election.annotation(key)).toBe('much is missing');
  });

  test('is removed with the next renewal once there is nothing to keep', async () => {
    const { clock, server, election } = rig({ server: leftBehind({ theirs: 'stays', [key]: 'old' }) });
    await clock.advance(1000);

    election.annotate(key, undefined);
    await clock.advance(2000);

    expect(annotationsOf(server)).toEqual({ theirs: 'stays' });
    expect(election.annotation(key)).toBeUndefined();
  });

  test('leaves no empty list behind', async () => {
    const { clock, server, election } = rig({ server: leftBehind({ [key]: 'old' }) });

    election.annotate(key, undefined);
    await clock.advance(2000);

    expect(server.lease?.['metadata']).not.toHaveProperty('annotations');
  });

  test('survives another process taking the Lease, and its renewals, until that process removes it', async () => {
    const { clock, server, election } = rig({ server: leftBehind({ [key]: 'old' }) });

    await clock.advance(60_000);

    expect(server.spec).toMatchObject({ holderIdentity: 'us' });
    expect(annotationsOf(server)).toEqual({ [key]: 'old' });
    expect(election.annotation(key)).toBe('old');
  });

  test('survives the release of the Lease', async () => {
    const { clock, server, election, stop } = rig();
    await clock.advance(1000);

    election.annotate(key, 'much is missing');
    await stop();

    expect(server.spec).toMatchObject({ holderIdentity: '' });
    expect(annotationsOf(server)).toEqual({ [key]: 'much is missing' });
  });

  test('is written again after another client removed it, or the Lease', async () => {
    const { clock, server, election } = rig();
    election.annotate(key, 'much is missing');
    await clock.advance(3000);

    server.write({ ...server.spec });
    await clock.advance(2000);
    const afterWrite = annotationsOf(server);
    server.lease = undefined;
    await clock.advance(2000);

    expect(afterWrite).toEqual({ [key]: 'much is missing' });
    expect(annotationsOf(server)).toEqual({ [key]: 'much is missing' });
  });

  test('costs no renewal when it is refused, and is tried again a minute later', async () => {
    let refuses = true;
    const { clock, server, election, kinds, sent } = rig({
      refuse: (request) => (refuses && sets(request) ? status(422, 'too long') : undefined),
    });
    await clock.advance(1000);

    election.annotate(key, 'much is missing');
    await clock.advance(59_000);
    const tried = sent.filter(sets).length;
    refuses = false;
    await clock.advance(10_000);

    expect(tried).toBe(1);
    expect(kinds).toEqual(['leading']);
    expect(annotationsOf(server)).toEqual({ [key]: 'much is missing' });
  });

  test.each<[string, () => Script]>([
    ['is not sent', unreachable],
    ['gets no answer', () => 'silence'],
  ])('costs no renewal when the request that carries it %s', async (_, answer) => {
    const { clock, server, election, kinds, sent } = rig({
      refuse: (request) => (sets(request) ? answer() : undefined),
    });
    await clock.advance(1000);

    election.annotate(key, 'much is missing');
    await clock.advance(600_000);

    expect(kinds).toEqual(['leading']);
    expect(annotationsOf(server)).toBeUndefined();
    expect(sent.filter(sets).length).toBeGreaterThan(50);
  });
});
