// The name of the cluster by the tag that EKS sets: a real process, the SDK, and EC2 over HTTP.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DescribeNetworkInterfacesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child, endAll, headwater, problemsOf } from './child.ts';
import { create, createNode, flagsFor, rowsOf } from './check-rig.ts';
import { announce, simulate, type Simulated, smallCloud, supplyKeys } from './simulated.ts';

const tag = 'aws:eks:cluster-name';
const asking = `--cluster-name=tag=${tag}`;
const ids = { one: 'i-00000000000000001', two: 'i-00000000000000002' };

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-cluster-name-'));
});

afterEach(endAll);
afterAll(() => rm(directory, { recursive: true }));

/** The cloud with this value of the tag on each of its machines; undefined: without the tag. */
function taggedCloud(values: Readonly<Record<keyof typeof ids, string | undefined>>): string {
  return Object.entries(values).reduce(
    (cloud, [name, value]) =>
      value === undefined
        ? cloud
        : cloud.replace(
            `name: ${name}, id`,
            `name: ${name}, tags: { '${tag}': ${JSON.stringify(value)} }, id`,
          ),
    smallCloud(),
  );
}

function joinAs(api: string, name: keyof typeof ids): Promise<void> {
  return createNode(api, name, `aws:///us-east-1a/${ids[name]}`);
}

function run({ ec2, kubeconfig }: Pick<Simulated, 'ec2' | 'kubeconfig'>): Child {
  return new Child(
    [
      'run',
      asking,
      `--k8s-kubeconfig-path=${kubeconfig}`,
      `--ec2-api-endpoint=${ec2}`,
      '--aws-region=us-east-1',
      '--serve-addr=127.0.0.1:0',
    ],
    { environment: supplyKeys },
  );
}

const portOf = (controller: Child): Promise<string> => controller.word(/"port":(\d+).*"msg":"serving health/);

async function readiness(port: string): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/readyz`)).text();
}

async function tagsOfNewInterfaces(endpoint: string): Promise<readonly (string | undefined)[]> {
  const credentials = { accessKeyId: 'AKIASUPPLY0000000001', secretAccessKey: 'supply-secret' };
  const client = new EC2Client({ endpoint, region: 'us-east-1', credentials });
  const Filters = [{ Name: 'tag:io.cilium/cilium-managed', Values: ['true'] }];
  const { NetworkInterfaces: all = [] } = await client.send(
    new DescribeNetworkInterfacesCommand({ Filters }),
  );
  client.destroy();
  return all.map(({ TagSet = [] }) => TagSet.find(({ Key }) => Key === 'io.cilium/cluster-name')?.Value);
}

describe('a controller that takes the name of its cluster from the tag of EKS', () => {
  test('waits for a Node, then leads and tags interfaces with the name, and says from where it has it', async () => {
    const simulated = await simulate(join(directory, 'named'), taggedCloud({ one: 'blue', two: 'other' }));
    await announce(simulated.api, 'one', ids.one, { 'first-interface-index': 1 });
    const controller = run(simulated);
    const port = await portOf(controller);

    await controller.said(
      /no Node names an instance by its provider ID.*"msg":"the name of the cluster is not known yet/,
    );
    const waiting = await readiness(port);
    const before = await tagsOfNewInterfaces(simulated.ec2);
    await joinAs(simulated.api, 'one');

    await controller.said(
      /"name":"blue","tag":"aws:eks:cluster-name","instances":1,"msg":"the cluster has the name that its instances carry"/,
    );
    await controller.said(/"node":"one".*"msg":"attached /);
    expect(waiting).toContain('the name of the cluster is not known: no Node names an instance');
    expect(before).toEqual([]);
    expect(await tagsOfNewInterfaces(simulated.ec2)).toEqual(['blue']);
    const status = await headwater(['status', `--address=127.0.0.1:${port}`]);
    expect(status.out).toMatch(/cluster +blue, by the tag aws:eks:cluster-name of 1 instance/);
    expect(await controller.stop()).toMatchObject({ code: 0 });
  });

  test.each<[string, Parameters<typeof taggedCloud>[0], string]>([
    [
      'name two clusters',
      { one: 'blue', two: 'green' },
      `instances of its Nodes carry 2 names in the tag ${tag}: "blue" on ${ids.one}, "green" on ${ids.two}: set --cluster-name to the name itself, or delete the Nodes of another cluster`,
    ],
    [
      'have an empty tag',
      { one: '', two: 'blue' },
      `the tag ${tag} of ${ids.one} is empty: set --cluster-name`,
    ],
    [
      'have a tag that is no name',
      { one: 'a b*', two: undefined },
      `the tag ${tag} of ${ids.one} is "a b*", which is no name of a cluster: set --cluster-name`,
    ],
    [
      'lack the tag',
      { one: undefined, two: undefined },
      `none of the instances that Nodes name carries the tag ${tag} (${ids.one}, ${ids.two}): set --cluster-name`,
    ],
  ])('is not ready and changes nothing while the instances %s', async (place, values, why) => {
    const simulated = await simulate(join(directory, place.replaceAll(' ', '-')), taggedCloud(values));
    await Promise.all([joinAs(simulated.api, 'one'), joinAs(simulated.api, 'two')]);
    await announce(simulated.api, 'one', ids.one, { 'first-interface-index': 1 });

    const controller = run(simulated);
    const port = await portOf(controller);
    await controller.said(/"msg":"the name of the cluster is not known yet/);

    expect(await readiness(port)).toContain(why);
    const status = await headwater(['status', `--address=127.0.0.1:${port}`]);
    expect(status).toMatchObject({ code: 1, out: expect.stringContaining(why.slice(0, 40)) });
    expect(await tagsOfNewInterfaces(simulated.ec2)).toEqual([]);
    const { code, out } = await controller.stop();
    expect(code).toBe(0);
    expect(out).not.toContain('"msg":"leading"');
  });

  test('tries again while EC2 is away, says so, and ends with 0 on SIGTERM', async () => {
    const { api, kubeconfig } = await simulate(join(directory, 'away'));
    await joinAs(api, 'one');
    const controller = run({ ec2: 'http://127.0.0.1:1', kubeconfig });
    const port = await portOf(controller);

    await controller.said(/"why":"the tag aws:eks:cluster-name cannot be read".*ECONNREFUSED.*trying again/);

    expect(await readiness(port)).toMatch(
      /the name of the cluster is not known: the tag aws:eks:cluster-name cannot/,
    );
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect(await controller.stop()).toMatchObject({ code: 0 });
  });

  test.each(['azure', 'alibabacloud'])(
    'is refused with --ipam=%s, where no instance carries it',
    async (ipam) => {
      const { code, err } = await headwater(['run', asking, `--ipam=${ipam}`]);

      expect(code).toBe(2);
      expect(problemsOf({ err })).toEqual([
        expect.stringMatching(
          /^cluster-name: .* is refused because only instances of ipam=eni carry that tag; accepted: with /,
        ),
      ]);
    },
  );
});

describe('headwater check with the name of the cluster in the tag of EKS', () => {
  /** The rows of a check about the name, beside agents that have this one. */
  async function rowsBeside(theirs: string, flags: readonly string[] = []): Promise<readonly string[]> {
    const simulated = await simulate(join(directory, 'check'), taggedCloud({ one: 'blue', two: 'blue' }));
    await joinAs(simulated.api, 'one');
    await create(simulated.api, '/api/v1/namespaces/kube-system/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cilium-config' },
      data: { 'cluster-name': theirs },
    });
    const [command = '', ...common] = flagsFor(simulated);
    const others = common.filter((flag) => !flag.startsWith('--cluster-name'));
    const ended = await headwater([command, ...others, asking, ...flags], { environment: supplyKeys });
    return rowsOf(ended).filter((row) => /cluster[- ]name/.test(row));
  }

  const named = `ok          cluster name: blue, by the tag ${tag} of 1 instance`;

  test.each([
    ['the same name', 'blue', []],
    ['none, so that cilium-operator takes that of the tag', 'default', []],
    [
      'another one',
      'green',
      [expect.stringMatching(/agents have cluster-name=green .*, and Headwater blue:/)],
    ],
  ])('compares it with that of agents that have %s', async (_, theirs, rows) => {
    const found = await rowsBeside(theirs);

    expect(found.toSorted()).toEqual([named, ...rows]);
  });

  test('reads it from Nodes of other releases, too, as the controller does', async () => {
    expect(await rowsBeside('default', ['--node-selector=pool=a'])).toEqual([named]);
  });

  test('says that the controller waits if exclude-interface-tags has the name', async () => {
    const rows = await rowsBeside('default', ['--exclude-interface-tags=io.cilium/cluster-name=blue']);

    expect(rows).toEqual([
      expect.stringMatching(
        /^problem +cluster name: .*"io.cilium\/cluster-name=blue", which exclude-interface-tags has/,
      ),
    ]);
  });
});
