import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { callJson, getText } from '../../rig/http.ts';
import { RigChild } from '../../rig/child-process.ts';
import { sleep } from '../../src/runtime/clock.ts';
import { systemClock as clock } from '../../src/runtime/system-clock.ts';
import { freePorts } from '../e2e/rig/free-ports.ts';
import { causes } from './causes.ts';
import { alerts } from './rules/promtool-file.ts';

const { signal } = new AbortController();
const shipped = join(import.meta.dirname, '../../charts/headwater/alertmanager/inhibit-rules.yaml');

interface ShownAlert {
  readonly labels: Readonly<Record<string, string>>;
}

let alertmanager: RigChild;
let url = '';
let config = '';

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'alertmanager-'));
  config = join(directory, 'alertmanager.yml');
  const inhibitRules = parse(await readFile(shipped, 'utf8')) as object;
  await writeFile(
    config,
    stringify({ route: { receiver: 'night' }, receivers: [{ name: 'night' }], ...inhibitRules }),
  );
  const [port] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  alertmanager = new RigChild({
    name: 'alertmanager',
    command: 'prometheus-alertmanager',
    args: [
      `--config.file=${config}`,
      `--storage.path=${directory}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--cluster.listen-address=',
    ],
  });
  await until(() => getText(`${url}/-/ready`, signal).then(Boolean, () => false));
});

afterAll(() => alertmanager.kill());

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(clock, 100, signal);
}

function severityOf(name: string): string {
  return alerts.find((alert) => alert.name === name)?.severity ?? '';
}

async function fire(names: readonly string[], cluster: string): Promise<void> {
  const fired = names.map((alertname) => ({
    labels: { alertname, severity: severityOf(alertname), cluster, subnet_id: 'subnet-1' },
    startsAt: new Date(clock.wall()).toISOString(),
  }));
  // The answer is not JSON.
  await fetch(`${url}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fired),
  });
}

async function listed(cluster: string, filter: string): Promise<readonly string[]> {
  const path = `/api/v2/alerts?filter=cluster%3D%22${cluster}%22&${filter}`;
  const reported = await callJson<readonly ShownAlert[]>('GET', url + path, undefined, signal);
  return reported.map(({ labels }) => labels['alertname'] ?? '');
}

/** What pages: critical, and not inhibited. */
async function pages(cluster: string): Promise<readonly string[]> {
  const reported = await listed(cluster, 'inhibited=false');
  return reported.filter((name) => severityOf(name) === 'critical');
}

describe('Alertmanager with the shipped inhibitions', () => {
  test('accepts them', async () => {
    const { stdout } = await promisify(execFile)('amtool', ['check-config', config]);

    expect(stdout).toContain('SUCCESS');
  });

  test.each(causes.map((cause, index) => [cause.what, cause, `cluster-${index}`] as const))(
    'lets each cause page at most once: %s',
    async (_, { firing, paged }, cluster) => {
      await fire(firing, cluster);
      await until(async () => (await listed(cluster, '')).length === firing.length);
      await until(async () => (await pages(cluster)).length < 2);

      expect(await pages(cluster)).toEqual(paged === undefined ? [] : [paged]);
    },
  );

  test('does not inhibit an alert of another cluster', async () => {
    await fire(['HeadwaterNoLeader'], 'east');
    await fire(['HeadwaterPodsPending'], 'west');
    await until(async () => (await listed('west', '')).length === 1);

    expect(await pages('west')).toEqual(['HeadwaterPodsPending']);
  });
});
