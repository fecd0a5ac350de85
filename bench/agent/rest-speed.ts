// How long a client waits for an address and its release by REST, and for two requests to a server that does nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request, type RequestOptions } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { AgentProcess } from './agent-process.ts';

/** Ms of a pair of requests. */
export interface RestTimes {
  readonly ours: number;
  readonly empty: number;
}

const emptyServer = `
  require('node:http').createServer((_, response) => response.end('{}')).listen(process.argv[1], () => console.log('on'));`;
/** Pairs before the other's turn: so few that some turns are not interrupted on a busy machine. */
const ofTurn = 10;

export async function restTimes(agent: AgentProcess, pairs: number): Promise<RestTimes> {
  const socket = join(agent.directory, 'empty.sock');
  const server = spawn(process.execPath, ['--eval', emptyServer, socket], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const connection = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (socketPath: string, method: string, path: string): Promise<string> =>
    answerOf({ socketPath, method, path, agent: connection });
  try {
    await once(server.stdout, 'data');
    const times = { ours: [] as number[], empty: [] as number[] };
    for (let turn = 0; turn < pairs / ofTurn; turn++) {
      times.ours.push(
        await timed(ofTurn, async () => {
          const { address } = JSON.parse(
            await send(agent.socket, 'POST', '/v1/ipam?family=ipv4&owner=bench'),
          ) as {
            address: { ipv4: string };
          };
          await send(agent.socket, 'DELETE', `/v1/ipam/${address.ipv4}`);
        }),
      );
      times.empty.push(
        await timed(ofTurn, async () => {
          JSON.parse(await send(socket, 'POST', '/v1/ipam?family=ipv4&owner=bench'));
          await send(socket, 'DELETE', '/v1/ipam/10.64.0.1');
        }),
      );
    }
    // Only the fastest turn of each counts: the others also measure what else runs on the machine.
    const undisturbed = (all: readonly number[]): number => Math.min(...all) / ofTurn;
    return { ours: undisturbed(times.ours), empty: undisturbed(times.empty) };
  } finally {
    connection.destroy();
    server.kill();
    await once(server, 'exit');
  }
}

async function timed(count: number, act: () => Promise<void>): Promise<number> {
  const start = performance.now();
  for (let index = 0; index < count; index++) await act();
  return performance.now() - start;
}

function answerOf(options: RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(options, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => (body += piece));
      answer.once('end', () => {
        if (answer.statusCode !== undefined && answer.statusCode < 300) resolve(body);
        else reject(new Error(`${answer.statusCode} ${body}`));
      });
    });
    asked.once('error', reject);
    asked.end();
  });
}
