// The controller against an EC2 that is not ours: finds or starts LocalStack or moto, seeds it, runs bin/headwater against
// it, and says how many checks passed.
//
//   node localstack/run.ts [--server localstack|moto] [--require]
//
// AWS_ENDPOINT_URL_EC2 names a server that runs already, unless --server asks for one to be started. Where none can be had
// it says what to install and exits with 0, or with 1 where --require is given.
import { parseArgs } from 'node:util';
import { systemClock as clock } from '../src/scheduling/system-clock.ts';
import { acts } from './acts.ts';
import { GivenUp } from './checks.ts';
import { Play } from './play.ts';
import { setScene } from './scene.ts';
import { connectTo, type NoServer, type Server, serverKinds, startOneOf } from './server.ts';
import type { Surroundings } from './surroundings.ts';

async function findServer(asked: string | undefined, surroundings: Surroundings): Promise<Server | NoServer> {
  const running = process.env['AWS_ENDPOINT_URL_EC2'] ?? '';
  if (asked === undefined && running !== '') return connectTo(running, surroundings.signal);
  const kinds = serverKinds.filter((kind) => asked === undefined || asked === kind);
  if (kinds.length === 0) throw new Error(`--server is ${asked}; accepted: ${serverKinds.join(', ')}`);
  return startOneOf(kinds, surroundings);
}

async function runAgainst(server: Server, surroundings: Surroundings): Promise<number> {
  const { say } = surroundings;
  const scene = await setScene(server.ec2, server.endpoint, clock);
  const play = new Play(scene, surroundings);
  say(`${server.name} on ${server.endpoint}, seeded`);
  try {
    for (const act of acts) await act(play);
  } catch (error) {
    if (!(error instanceof GivenUp)) throw error;
    const warnings = play.lines.filter(({ level }) => level === 'warn' || level === 'error').slice(-20);
    say('given up; what the controller warned of last:');
    for (const { message, details } of warnings) say(`  ${message} ${JSON.stringify(details)}`);
    say(`what the server said last:\n${server.lastWords()}`);
  } finally {
    play.kill();
    await scene.close();
  }
  const { passed, failed } = play.checks;
  say(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function main(surroundings: Surroundings): Promise<number> {
  const { values } = parseArgs({ options: { server: { type: 'string' }, require: { type: 'boolean' } } });
  const server = await findServer(values.server, surroundings);
  if ('missing' in server) {
    surroundings.say(`third-party EC2 checks not run: ${server.missing}`);
    return values.require === true ? 1 : 0;
  }
  try {
    return await runAgainst(server, surroundings);
  } finally {
    await server.stop();
  }
}

const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupt.abort(new Error(name)));
const say = (line: string): void => void process.stdout.write(`${line}\n`);
try {
  process.exitCode = await main({ clock, signal: interrupt.signal, say });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
