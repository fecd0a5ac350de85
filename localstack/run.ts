// Runs the controller against a third-party EC2: finds or starts LocalStack or moto, seeds it, runs bin/headwater against
// it, and prints how many checks passed.
//
//   node localstack/run.ts [--server localstack|moto] [--manifest FILE] [--require]
//
// --manifest gives the controller the options that the chart renders: FILE is the output of `helm template`.
// AWS_ENDPOINT_URL_EC2 names a running server; with --server the run starts one itself. Without a server, the run prints
// what to install and exits with 0, or with 1 if --require is given.
import { parseArgs } from 'node:util';
import { endedBySignals } from '../rig/ended-by-signals.ts';
import { systemClock as clock } from '../src/runtime/system-clock.ts';
import { acts } from './acts.ts';
import { GivenUp } from './checks.ts';
import { Play } from './play.ts';
import { startTestBed } from './test-bed.ts';
import { flagsOfManifest } from './rendered-options.ts';
import { connectTo, type NoServer, type Server, serverKinds, startOneOf } from './server.ts';
import type { ProcessEnvironment } from './process-environment.ts';

async function findServer(
  asked: string | undefined,
  processEnvironment: ProcessEnvironment,
): Promise<Server | NoServer> {
  const running = process.env['AWS_ENDPOINT_URL_EC2'] ?? '';
  if (asked === undefined && running !== '') return connectTo(running, processEnvironment.signal);
  const kinds = serverKinds.filter((kind) => asked === undefined || asked === kind);
  if (kinds.length === 0) throw new Error(`--server is ${asked}; accepted: ${serverKinds.join(', ')}`);
  return startOneOf(kinds, processEnvironment);
}

async function runAgainst(
  server: Server,
  manifest: string | undefined,
  processEnvironment: ProcessEnvironment,
): Promise<number> {
  const { say } = processEnvironment;
  const flags = manifest === undefined ? [] : await flagsOfManifest(manifest);
  const testBed = await startTestBed(server.ec2, server.endpoint, clock);
  const play = new Play(testBed, processEnvironment, flags);
  say(`${server.name} on ${server.endpoint}, seeded`);
  try {
    for (const act of acts) await act(play);
  } catch (error) {
    if (!(error instanceof GivenUp)) throw error;
    const warnings = play.lines.filter(({ level }) => level === 'warn' || level === 'error').slice(-20);
    say('given up; the last warnings of the controller:');
    for (const { message, details } of warnings) say(`  ${message} ${JSON.stringify(details)}`);
    say(`the last output of the server:\n${server.lastWords()}`);
  } finally {
    play.kill();
    await testBed.close();
  }
  const { passed, failed } = play.checks;
  say(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function main(processEnvironment: ProcessEnvironment): Promise<number> {
  const { values } = parseArgs({
    options: { server: { type: 'string' }, manifest: { type: 'string' }, require: { type: 'boolean' } },
  });
  const server = await findServer(values.server, processEnvironment);
  if ('missing' in server) {
    processEnvironment.say(`third-party EC2 checks not run: ${server.missing}`);
    return values.require === true ? 1 : 0;
  }
  try {
    return await runAgainst(server, values.manifest, processEnvironment);
  } finally {
    await server.stop();
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
await endedBySignals((signal) => main({ clock, signal, say }));
