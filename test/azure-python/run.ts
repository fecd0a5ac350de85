// Compares the model of Azure with Microsoft's Python clients: starts the model, runs the table of rows in Python, and
// prints how many passed.
//
//   node test/azure-python/run.ts [--require] [--only TEXT]
//
// HEADWATER_PYTHON names the interpreter. Without Python or the clients, it prints what to install and exits with 0, or
// with 1 if `--require` is given.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Random } from '../../src/runtime/random.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { startArmServer } from '../../src/simulator/arm/arm-server.ts';
import { readArmTopology } from '../../src/simulator/arm/arm-topology.ts';
import { createArm } from '../../src/simulator/arm/create-arm.ts';

const guid = (last: string): string => `00000000-0000-0000-0000-0000000000${last}`;
const tiny = Array.from({ length: 16 }, (_, index) => index);

/** Rows take machines of `rows`, `tinyN`, `growingN` and `single-N` one after the other. */
const cloud = {
  cloud: 'azure',
  seed: 'azure-python',
  subscriptions: [
    { id: guid('01'), groups: ['rows', 'network', 'empty'] },
    { id: guid('02'), groups: ['other'] },
  ],
  principals: [
    { name: 'owner', clientId: guid('c1'), secret: 'owner-secret', federated: true, identity: true },
    {
      name: 'reader',
      clientId: guid('c2'),
      secret: 'reader-secret',
      roles: [{ scope: '/', actions: ['*/read'] }],
    },
    {
      name: 'elsewhere',
      clientId: guid('c3'),
      secret: 'elsewhere-secret',
      roles: [{ scope: `/subscriptions/${guid('01')}/resourceGroups/empty`, actions: ['*'] }],
    },
    {
      name: 'joinless',
      clientId: guid('c4'),
      secret: 'joinless-secret',
      roles: [
        { scope: '/', actions: ['*/read', 'Microsoft.Compute/*', 'Microsoft.Network/networkInterfaces/*'] },
      ],
    },
    {
      name: 'imageless',
      clientId: guid('c5'),
      secret: 'imageless-secret',
      roles: [
        { scope: `/subscriptions/${guid('01')}/resourceGroups/rows`, actions: ['*'] },
        { scope: `/subscriptions/${guid('01')}/resourceGroups/network`, actions: ['*'] },
        { scope: '/', actions: ['Microsoft.Compute/locations/*'] },
      ],
    },
  ],
  virtualNetworks: [
    {
      name: 'main',
      group: 'network',
      blocks: ['10.0.0.0/8'],
      subnets: [
        { name: 'nodes', block: '10.0.0.0/18' },
        { name: 'pods', block: '10.1.0.0/20' },
        { name: 'listed', block: '10.2.0.0/24', listed: true },
        { name: 'given', block: '10.3.0.0/24' },
        ...tiny.map((number) => ({ name: `tiny${number}`, block: `10.4.${number}.0/28` })),
      ],
    },
    {
      name: 'far',
      subscription: guid('02'),
      blocks: ['10.9.0.0/16'],
      subnets: [{ name: 'far', block: '10.9.0.0/24' }],
    },
  ],
  publicIpPrefixes: [
    { name: 'egress', group: 'rows', block: '203.0.113.0/28', tags: { pool: 'egress' } },
    { name: 'full', group: 'empty', block: '203.0.113.16/32', tags: { pool: 'full' } },
  ],
  scaleSets: [
    { name: 'rows', count: 120, interfaces: [{ name: 'nic0', subnet: 'nodes' }] },
    {
      name: 'wide',
      count: 8,
      interfaces: [
        {
          name: 'nic0',
          subnet: 'nodes',
          addresses: 1,
          securityGroup: 'nodes',
          applicationSecurityGroups: ['pods'],
          loadBalancerPools: ['outbound/nodes'],
          publicAddress: true,
        },
        { name: 'nic1', subnet: 'pods' },
      ],
    },
    {
      name: 'gallery',
      count: 8,
      image: `/subscriptions/${guid('02')}/resourceGroups/other/providers/Microsoft.Compute/galleries/g/images/i/versions/1.0.0`,
      interfaces: [{ name: 'nic0', subnet: 'nodes' }],
    },
    { name: 'empty', count: 0, interfaces: [{ name: 'nic0', subnet: 'nodes' }] },
    { name: 'flexible', mode: 'Flexible', count: 4, interfaces: [{ name: 'nic0', subnet: 'nodes' }] },
    { name: 'far', subscription: guid('02'), count: 1, interfaces: [{ name: 'nic0', subnet: 'far' }] },
    ...tiny.map((number) => ({
      name: `tiny${number}`,
      count: 1,
      interfaces: [{ name: 'nic0', subnet: `tiny${number}` }],
    })),
    ...tiny.map((number) => ({
      name: `growing${number}`,
      count: 1,
      interfaces: [{ name: 'nic0', subnet: 'nodes' }],
    })),
  ],
  machines: [{ name: 'single', count: 40, interfaces: [{ name: 'nic0', subnet: 'nodes' }] }],
  limits: { throttle: false },
  latency: { scale: 0 },
  consistency: { listingLagMs: 0 },
  operations: { retryAfter: 0 },
  pageSize: 1000,
  reuse: 1,
};

/** Two clouds: in one nothing takes time, in the other everything takes an hour unless a row advances time. */
const times = {
  instant: { machineMs: 0, interfaceMs: 0, startMs: 0, deallocateMs: 0, deleteMs: 0 },
  slow: {
    machineMs: 3_600_000,
    interfaceMs: 3_600_000,
    startMs: 3_600_000,
    deallocateMs: 3_600_000,
    deleteMs: 3_600_000,
  },
};

const python = process.env['HEADWATER_PYTHON'] ?? 'python3';

interface RunningCloud {
  /** Where it is, its metadata, and the file with its authority. */
  readonly places: readonly [string, string, string];
  readonly stop: () => Promise<void>;
}

async function startCloud(name: keyof typeof times, directory: string): Promise<RunningCloud> {
  const result = readArmTopology(JSON.stringify({ ...cloud, times: times[name] }));
  if ('problems' in result) throw new Error(result.problems.join('\n'));
  const { topology } = result;
  const { gateway, clock } = createArm({ topology, clock: systemClock, random: new Random(topology.seed) });
  const server = await startArmServer({ gateway });
  const file = join(directory, `${name}.pem`);
  await writeFile(file, server.ca);
  const stop = (): Promise<void> => {
    clock.stop();
    return server.close();
  };
  return { places: [server.url, server.metadataUrl, file], stop };
}

/** The exit code of the rows; their output is printed as it comes. */
function runRows(instant: RunningCloud, slow: RunningCloud): Promise<number> {
  const rows = fileURLToPath(new URL('rows.py', import.meta.url));
  const only = process.argv.includes('--only') ? process.argv.slice(process.argv.indexOf('--only')) : [];
  const child = spawn(python, [rows, '--instant', ...instant.places, '--slow', ...slow.places, ...only], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function main(): Promise<number> {
  const probe = spawnSync(python, ['-c', 'import azure.identity, azure.mgmt.compute, azure.mgmt.network']);
  if (probe.status !== 0) {
    process.stdout.write(
      'Azure rows not run: install Python 3 and the clients (pip install -r test/azure-python/requirements.txt), or name an interpreter in HEADWATER_PYTHON\n',
    );
    return process.argv.includes('--require') ? 1 : 0;
  }
  const directory = await mkdtemp(join(tmpdir(), 'headwater-azure-'));
  const [instant, slow] = await Promise.all([
    startCloud('instant', directory),
    startCloud('slow', directory),
  ]);
  try {
    return await runRows(instant, slow);
  } finally {
    await Promise.all([instant.stop(), slow.stop()]);
    await rm(directory, { recursive: true });
  }
}

process.exitCode = await main();
