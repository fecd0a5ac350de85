// Compares the model of Alibaba Cloud with the vendor's Python clients, of both lines: starts the model, runs the table
// of rows in Python, and prints how many passed.
//
//   node test/alibaba-python/run.ts [--require] [--only TEXT]
//
// HEADWATER_PYTHON names the interpreter. Without Python or the clients, it prints what to install and exits with 0, or
// with 1 if `--require` is given.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Random } from '../../src/runtime/random.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { startAlibabaServer } from '../../src/simulator/alibaba/alibaba-server.ts';
import { readAlibabaTopology } from '../../src/simulator/alibaba/alibaba-topology.ts';
import { createAlibaba } from '../../src/simulator/alibaba/create-alibaba.ts';

const tiny = Array.from({ length: 40 }, (_, index) => index);
const zone = 'cn-hangzhou-a';

/** Rows take instances of `row-N` and vSwitches of `tinyN` one after the other. */
const cloud = {
  cloud: 'alibabacloud',
  seed: 'alibaba-python',
  credentials: [
    { accessKeyId: 'LTAIrows00000001', accessKeySecret: 'rows-secret', user: 'rows' },
    {
      accessKeyId: 'LTAIreader000001',
      accessKeySecret: 'reader-secret',
      user: 'reader',
      actions: ['ecs:DescribeInstances'],
    },
    {
      accessKeyId: 'STS.temporary001',
      accessKeySecret: 'temporary-secret',
      securityToken: 'temporary-token',
      user: 'role',
    },
  ],
  vpcs: [
    { id: 'vpc-main', name: 'main', blocks: ['10.0.0.0/8', '192.168.0.0/16'], tags: { purpose: 'rows' } },
    { id: 'vpc-other', name: 'other', blocks: ['172.16.0.0/12'] },
  ],
  vSwitches: [
    { id: 'vsw-nodes', name: 'nodes', vpc: 'main', zone, block: '10.0.0.0/18', tags: { for: 'nodes' } },
    { id: 'vsw-far', name: 'far', vpc: 'main', zone: 'cn-hangzhou-b', block: '10.0.64.0/24' },
    { id: 'vsw-other', name: 'other', vpc: 'other', zone, block: '172.16.0.0/24' },
    ...tiny.map((number) => ({
      id: `vsw-tiny${number}`,
      name: `tiny${number}`,
      vpc: 'main',
      zone,
      block: `10.1.${number}.0/28`,
    })),
  ],
  securityGroups: [
    { id: 'sg-pods', name: 'pods', vpc: 'main', tags: { purpose: 'pods' } },
    { id: 'sg-nodes', name: 'nodes', vpc: 'main' },
    { id: 'sg-other', name: 'other', vpc: 'other' },
    ...tiny.map((number) => ({ id: `sg-more${number}`, name: `more${number}`, vpc: 'main' })),
  ],
  instances: [
    { name: 'row', count: 180, type: 'ecs.g7.large', vSwitch: 'nodes', securityGroups: ['nodes'] },
    { id: 'i-far', name: 'far', type: 'ecs.g7.large', vSwitch: 'far', tags: { where: 'far' } },
    { id: 'i-other', name: 'other', type: 'ecs.g7.large', vSwitch: 'other' },
    {
      id: 'i-managed',
      name: 'managed',
      type: 'ecs.g7.xlarge',
      vSwitch: 'nodes',
      interfaces: [{ serviceManaged: true, name: 'managed' }],
    },
  ],
  limits: { throttle: false },
  latency: { scale: 0 },
  consistency: { visibilityDelayMs: 0, listingLagMs: 0 },
  reuse: 1,
};

/** Two clouds: in one nothing takes time, in the other everything takes an hour unless a row advances time. */
const times = {
  instant: { createMs: 0, attachMs: 0, detachMs: 0, deleteMs: 0 },
  slow: { createMs: 3_600_000, attachMs: 3_600_000, detachMs: 3_600_000, deleteMs: 3_600_000 },
};

const python = process.env['HEADWATER_PYTHON'] ?? 'python3';

interface RunningCloud {
  readonly places: readonly [string, string];
  readonly stop: () => Promise<void>;
}

async function startCloud(name: keyof typeof times): Promise<RunningCloud> {
  const result = readAlibabaTopology(JSON.stringify({ ...cloud, times: times[name] }));
  if ('problems' in result) throw new Error(result.problems.join('\n'));
  const { topology } = result;
  const { gateway, clock } = createAlibaba({
    topology,
    clock: systemClock,
    random: new Random(topology.seed),
  });
  const server = await startAlibabaServer({ gateway, clock: systemClock, port: 0 });
  const stop = (): Promise<void> => {
    clock.stop();
    return server.close();
  };
  return { places: [server.url, server.metadataUrl], stop };
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
  const needed = 'import alibabacloud_ecs20140526, alibabacloud_vpc20160428, aliyunsdkecs, aliyunsdkvpc';
  const probe = spawnSync(python, ['-c', needed]);
  if (probe.status !== 0) {
    process.stdout.write(
      'Alibaba Cloud rows not run: install Python 3 and the clients (pip install -r test/alibaba-python/requirements.txt), or name an interpreter in HEADWATER_PYTHON\n',
    );
    return process.argv.includes('--require') ? 1 : 0;
  }
  const [instant, slow] = await Promise.all([startCloud('instant'), startCloud('slow')]);
  try {
    return await runRows(instant, slow);
  } finally {
    await Promise.all([instant.stop(), slow.stop()]);
  }
}

process.exitCode = await main();
