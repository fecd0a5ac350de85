// One elector and the server of its Lease, in virtual time.
import type { ApiRefusal } from '../../../src/kubernetes/transport/api-reply.ts';
import { LeaderElection, type Leadership } from '../../../src/kubernetes/lease/leader-election.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { LeaseServer } from './lease-server.ts';
import { ScriptedTransport, type Server } from './scripted-transport.ts';
import { rethrow } from '../../support/rethrow.ts';

export interface Rig {
  readonly clock: VirtualClock;
  readonly server: LeaseServer;
  readonly transport: ScriptedTransport;
  readonly election: LeaderElection;
  readonly states: Leadership[];
  readonly problems: ApiRefusal[];
  readonly stop: () => Promise<'lost' | 'stopped'>;
  readonly ended: Promise<'lost' | 'stopped'>;
}

/** `processClock`: the clock of the elector, if it differs from real time. */
export function rig(
  given: {
    answer?: (server: LeaseServer) => Server;
    server?: LeaseServer;
    processClock?: (clock: VirtualClock) => Clock;
  } = {},
): Rig {
  const { server = new LeaseServer() } = given;
  const clock = new VirtualClock();
  const processClock = given.processClock?.(clock) ?? clock;
  const transport = new ScriptedTransport(processClock, given.answer?.(server) ?? server.answer);
  const states: Leadership[] = [];
  const problems: ApiRefusal[] = [];
  const ports = { transport, clock: processClock, random: new Random('election'), onBug: rethrow };
  const election = new LeaderElection(ports, {
    namespace: 'ns',
    name: 'lock',
    identity: 'us',
    onChange: (state) => states.push(state),
    onProblem: (problem) => problems.push(problem),
  });
  const stopping = new AbortController();
  const ended = election.run(stopping.signal);
  const stop = (): Promise<'lost' | 'stopped'> => {
    stopping.abort(new Error('stop'));
    return ended;
  };
  return { clock, server, transport, election, states, problems, stop, ended };
}

export const kinds = (states: readonly Leadership[]): string[] => states.map(({ kind }) => kind);
