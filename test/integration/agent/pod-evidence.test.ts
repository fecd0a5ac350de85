// What the pods of a node say about its addresses, over the embedded API in virtual time.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GonePods } from '../../../src/agent/evidence/gone-pods.ts';
import { rebuild } from '../../../src/agent/evidence/rebuild.ts';
import { Holdings } from '../../../src/agent/ipam/holdings.ts';
import { NodePods } from '../../../src/agent/metadata/node-pods.ts';
import type { JsonObject } from '../../../src/runtime/json.ts';
import { Random } from '../../../src/runtime/random.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { AgentRig, printed } from '../../unit/agent/agent-rig.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';

const root = mkdtempSync(join(tmpdir(), 'headwater-evidence-'));
afterAll(() => rmSync(root, { recursive: true }));

let netns: string;
let count = 0;

beforeEach(() => {
  const directory = join(root, String(count++));
  mkdirSync(directory);
  netns = join(directory, 'ns1');
});

interface Scene {
  readonly rig: AgentRig;
  readonly api: EmbeddedApi;
  readonly pods: NodePods;
  readonly gone: GonePods;
  readonly start: () => void;
  readonly end: () => Promise<void>;
  /** Network namespaces of pods. */
  readonly sandboxes: Set<string>;
}

function play(holdings = new Holdings()): Scene {
  const rig = new AgentRig({ holdings, blocks: ['10.0.0.0/29'] });
  const { clock, ipam } = rig;
  const api = new EmbeddedApi(clock);
  const log = recordingLogger();
  const surroundings = { transport: api.transport, clock, random: new Random('pods'), log };
  const pods = new NodePods('one', surroundings, { onChange: () => ipam.retry() });
  const gone = new GonePods({ ipam, pods, clock, log });
  const stop = new AbortController();
  const sandboxes = new Set<string>();
  let running: Promise<unknown> = Promise.resolve();
  const start = (): void => {
    const learned = rebuild({ ipam, pods, clock, log }, () => [...sandboxes], Promise.resolve(), stop.signal);
    running = Promise.all([pods.run(stop.signal), gone.run(stop.signal), learned]);
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { rig, api, pods, gone, start, end, sandboxes };
}

function createPod(
  { api }: Scene,
  name: string,
  status: JsonObject = {},
  spec: JsonObject = {},
): Promise<JsonObject> {
  return api.kubectl('POST', '/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { nodeName: 'one', containers: [{ name: 'c', image: 'i' }], ...spec },
    status,
  });
}

async function show({ api }: Scene, name: string, status: JsonObject): Promise<void> {
  await api.kubectl('PATCH', `/api/v1/namespaces/default/pods/${name}/status`, { status });
}

const uidOf = (pod: JsonObject): string => (pod['metadata'] as { uid: string }).uid;
const envOf = (name: string, uid: string): Readonly<Record<string, string>> => ({
  CNI_CONTAINERID: name,
  CNI_NETNS: netns,
  CNI_ARGS: `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name};K8S_POD_UID=${uid}`,
});
const minute = 60_000;

async function minutes(scene: Scene, many: number): Promise<void> {
  for (let each = 0; each < many * 12; each++) await scene.rig.clock.advance(minute / 12);
}

describe('an attachment whose pod is gone without a DEL', () => {
  async function attached(): Promise<{ scene: Scene; uid: string }> {
    const scene = play();
    scene.start();
    const uid = uidOf(await createPod(scene, 'p'));
    writeFileSync(netns, '');
    await scene.rig.call('ADD', { env: envOf('p', uid) });
    await minutes(scene, 11);
    return { scene, uid };
  }

  test('is released once its network namespace is gone as well', async () => {
    const { scene } = await attached();
    await scene.api.kubectl('DELETE', '/api/v1/namespaces/default/pods/p', { gracePeriodSeconds: 0 });
    await minutes(scene, 5);
    expect(scene.rig.held).toHaveLength(1);

    rmSync(netns);
    await minutes(scene, 2);

    expect(scene.rig.held).toEqual([]);
    await scene.end();
  });

  test('is only suspected where no network namespace was ever seen', async () => {
    const scene = play();
    scene.start();
    const uid = uidOf(await createPod(scene, 'p'));
    await scene.rig.call('ADD', { env: envOf('p', uid) });
    await minutes(scene, 11);
    const [attachment] = [...scene.rig.ipam.holdings.attachments()];
    if (attachment === undefined) throw new Error('nothing is attached');
    expect(scene.gone.isSuspected(attachment)).toBe(false);

    await scene.api.kubectl('DELETE', '/api/v1/namespaces/default/pods/p', { gracePeriodSeconds: 0 });
    await minutes(scene, 4);

    expect(scene.gone.isSuspected(attachment)).toBe(true);
    expect(scene.rig.held).toHaveLength(1);
    await scene.end();
  });

  test('stays while its pod is there, and while it is young', async () => {
    const { scene } = await attached();
    rmSync(netns);
    await minutes(scene, 5);
    expect(scene.rig.held).toHaveLength(1);

    writeFileSync(netns, '');
    const young = { ...envOf('young', 'uid-of-no-pod'), CNI_NETNS: `${netns}-young` };
    writeFileSync(young.CNI_NETNS, '');
    await scene.rig.call('ADD', { env: young });
    await minutes(scene, 2);
    rmSync(young.CNI_NETNS);
    await minutes(scene, 6);
    expect(scene.rig.held).toHaveLength(2);
    await minutes(scene, 5);
    expect(scene.rig.held).toHaveLength(1);
    await scene.end();
  });
});

describe('a record that was damaged', () => {
  function damaged(): Holdings {
    const holdings = new Holdings();
    holdings.apply({ rebuilding: true });
    return holdings;
  }

  test('is rebuilt from what living pods show, and gives nothing out before', async () => {
    const scene = play(damaged());
    await createPod(scene, 'a');
    await show(scene, 'a', { phase: 'Running', podIPs: [{ ip: '10.0.0.2' }] });
    await createPod(scene, 'late');
    await createPod(scene, 'ended');
    await show(scene, 'ended', { phase: 'Succeeded', podIPs: [{ ip: '10.0.0.3' }] });
    await createPod(scene, 'host', {}, { hostNetwork: true });
    await show(scene, 'host', { phase: 'Running', podIPs: [{ ip: '10.0.0.4' }] });

    scene.start();
    expect(printed(await scene.rig.call('ADD'))).toMatchObject({
      code: 11,
      msg: expect.stringContaining('being read again'),
    });
    await scene.rig.clock.advance(30_000);
    expect(scene.rig.held).toEqual([]);
    await show(scene, 'late', { phase: 'Running', podIPs: [{ ip: '10.0.0.5' }] });
    await scene.rig.clock.advance(5000);

    expect(scene.rig.held).toEqual(['10.0.0.2', '10.0.0.5']);
    expect([...scene.rig.ipam.holdings.held()].map(({ owner }) => owner).toSorted()).toEqual([
      'default/a',
      'default/late',
    ]);
    expect(printed(await scene.rig.call('ADD'))).toHaveProperty('ips');
    await scene.end();
  });

  test('waits at most a minute for pods that show nothing', async () => {
    const scene = play(damaged());
    await createPod(scene, 'waits');
    scene.start();
    await scene.rig.clock.advance(59_000);
    expect(scene.rig.ipam.holdings.isRebuilding).toBe(true);

    await scene.rig.clock.advance(5000);
    expect(scene.rig.ipam.holdings.isRebuilding).toBe(false);
    await scene.end();
  });

  test.each(['shows its address', 'is gone'])(
    'gives out nothing while more sandboxes live than pods show addresses, until the one of none %s',
    async (end) => {
      const scene = play(damaged());
      for (const name of ['cni-1', 'cni-2']) scene.sandboxes.add(name);
      await createPod(scene, 'a');
      await show(scene, 'a', { phase: 'Running', podIPs: [{ ip: '10.0.0.2' }] });
      await createPod(scene, 'quiet');
      scene.start();
      await minutes(scene, 10);
      expect(scene.rig.ipam.holdings.isRebuilding).toBe(true);

      // A sandbox that an ADD waits in came later.
      scene.sandboxes.add('cni-3');
      if (end === 'is gone') scene.sandboxes.delete('cni-2');
      else await show(scene, 'quiet', { phase: 'Running', podIPs: [{ ip: '10.0.0.3' }] });
      await scene.rig.clock.advance(5000);

      expect(scene.rig.ipam.holdings.isRebuilding).toBe(false);
      expect(scene.rig.held).toEqual(end === 'is gone' ? ['10.0.0.2'] : ['10.0.0.2', '10.0.0.3']);
      await scene.end();
    },
  );

  test('waits for no pod whose sandbox it still names, and gives nobody its address', async () => {
    const holdings = damaged();
    const places = [{ pool: 'default', ip: '10.0.0.2' }];
    const name = { network: 'pods', container: 'c9', interface: 'eth0' };
    const attach = { ...name, owner: 'default/quiet', since: 0, netns: '/var/run/netns/cni-1', places };
    holdings.apply({ hold: places.map((place) => ({ ...place, owner: 'default/quiet' })), attach });
    const scene = play(holdings);
    scene.sandboxes.add('cni-1').add('cni-2');
    await createPod(scene, 'quiet');
    await createPod(scene, 'a');
    await show(scene, 'a', { phase: 'Running', podIPs: [{ ip: '10.0.0.3' }] });
    scene.start();
    await minutes(scene, 2);

    expect(scene.rig.ipam.holdings.isRebuilding).toBe(false);
    await show(scene, 'quiet', { phase: 'Running', podIPs: [{ ip: '10.0.0.2' }] });
    expect(printed(await scene.rig.call('ADD', { env: { CNI_ARGS: 'IP=10.0.0.2' } }))).toMatchObject({
      code: 102,
    });
    await scene.rig.call('DEL', { env: { CNI_CONTAINERID: 'c9' } });
    expect(scene.rig.held).toEqual(['10.0.0.3']);
    await scene.end();
  });

  test('counts no pod whose address it still names among those that show the others', async () => {
    const holdings = damaged();
    const places = [{ pool: 'default', ip: '10.0.0.2' }];
    const name = { network: 'pods', container: 'c9', interface: 'eth0' };
    const attach = { ...name, owner: 'default/a', since: 0, netns: '/run/netns/cni-1', places };
    holdings.apply({ hold: places.map((place) => ({ ...place, owner: 'default/a' })), attach });
    const scene = play(holdings);
    scene.sandboxes.add('cni-1').add('cni-2');
    await createPod(scene, 'a');
    await show(scene, 'a', { phase: 'Running', podIPs: [{ ip: '10.0.0.2' }] });
    scene.start();
    await minutes(scene, 10);

    expect(scene.rig.ipam.holdings.isRebuilding).toBe(true);
    scene.sandboxes.delete('cni-2');
    await minutes(scene, 1);
    expect(scene.rig.ipam.holdings.isRebuilding).toBe(false);
    expect([...scene.rig.ipam.holdings.held()]).toEqual([{ ...places[0], owner: 'default/a' }]);
    await scene.end();
  });

  test('releases what a pod shows by a DEL that names it, and after it is gone', async () => {
    const scene = play(damaged());
    const uid = uidOf(await createPod(scene, 'a'));
    await show(scene, 'a', { phase: 'Running', podIPs: [{ ip: '10.0.0.2' }] });
    await createPod(scene, 'b');
    await show(scene, 'b', { phase: 'Running', podIPs: [{ ip: '10.0.0.3' }] });
    scene.start();
    await scene.rig.clock.advance(5000);
    expect(scene.rig.held).toHaveLength(2);

    await scene.rig.call('DEL', { env: envOf('a', 'another-uid') });
    expect(scene.rig.held).toHaveLength(2);
    await scene.rig.call('DEL', { env: envOf('a', uid) });
    expect(scene.rig.held).toEqual(['10.0.0.3']);

    await scene.api.kubectl('DELETE', '/api/v1/namespaces/default/pods/b', { gracePeriodSeconds: 0 });
    await minutes(scene, 4);
    expect(scene.rig.held).toEqual([]);
    await scene.end();
  });
});
