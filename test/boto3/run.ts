// Compares the EC2 model with boto3: starts the model, runs the table of rows in Python, and prints how many passed.
//
//   node test/boto3/run.ts [--require]
//
// HEADWATER_PYTHON names the interpreter. Without Python or boto3, it prints what to install and exits with 0, or with 1
// if `--require` is given.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Random } from '../../src/runtime/random.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { readTopology } from '../../src/simulator/cloud/topology.ts';
import { allActions } from '../../src/simulator/ec2/actions/all-actions.ts';
import { createEc2 } from '../../src/simulator/ec2/create-ec2.ts';
import { startEc2Server } from '../../src/simulator/ec2/ec2-server.ts';

const cloud = `
seed: boto3
credentials: [{ accessKeyId: AKIABOTO3ROWS0000001, secretAccessKey: boto3-rows-secret, user: rows }]
vpcs: [{ name: base, blocks: [10.255.0.0/16] }]
subnets:
  - { name: a, zone: us-east-1a, block: 10.255.0.0/24 }
  - { name: b, zone: us-east-1b, block: 10.255.1.0/24 }
limits: { throttle: false }
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
reuse: 1
`;

/** Two clouds: in one nothing takes time, in the other everything takes an hour unless a row advances time. */
const clouds = {
  instant: 'times: { attachMs: 0, detachMs: 0, startMs: 0, stopMs: 0, terminateMs: 0 }',
  slow: 'times: { attachMs: 3600000, detachMs: 3600000, startMs: 3600000, stopMs: 3600000, terminateMs: 3600000, terminatedVisibleMs: 36000000 }',
};

const python = process.env['HEADWATER_PYTHON'] ?? 'python3';

interface RunningCloud {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

async function startCloud(times: string): Promise<RunningCloud> {
  const result = readTopology(`${cloud}\n${times}`);
  if ('problems' in result) throw new Error(result.problems.join('\n'));
  const { topology } = result;
  const { gateway, clock } = createEc2({ topology, clock: systemClock, random: new Random(topology.seed) });
  const server = await startEc2Server({ gateway, clock: systemClock, port: 0 });
  const stop = (): Promise<void> => {
    clock.stop();
    return server.close();
  };
  return { url: server.url, stop };
}

/** The exit code of the rows; their output is printed as it comes. */
function runRows(instant: string, slow: string): Promise<number> {
  const shapes = Object.fromEntries(
    [...allActions].map(([name, { input, output }]) => [name, { input, output }]),
  );
  const rows = fileURLToPath(new URL('rows.py', import.meta.url));
  const child = spawn(python, [rows, '--instant', instant, '--slow', slow], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  child.stdin.end(JSON.stringify(shapes));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function main(): Promise<number> {
  const probe = spawnSync(python, ['-c', 'import boto3']);
  if (probe.status !== 0) {
    const wanted = process.argv.includes('--require');
    const line = `boto3 rows not run: install Python 3 and boto3 (pip install boto3), or name an interpreter in HEADWATER_PYTHON\n`;
    process.stdout.write(line);
    return wanted ? 1 : 0;
  }
  const [instant, slow] = await Promise.all([startCloud(clouds.instant), startCloud(clouds.slow)]);
  try {
    return await runRows(instant.url, slow.url);
  } finally {
    await Promise.all([instant.stop(), slow.stop()]);
  }
}

process.exitCode = await main();
