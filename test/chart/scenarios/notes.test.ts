import { describe, expect, test } from '@jest/globals';
import { chart, helmDone, pathOfValues } from '../rig/helm.ts';

/** The notes, in a cluster that serves CiliumNodes unless `args` say otherwise. */
async function notes(values: string, ...args: readonly string[]): Promise<string> {
  const named = ['install', 'headwater', chart, '--values', pathOfValues(values), '--dry-run=client'];
  const output = await helmDone(...named, '--namespace', 'kube-system', ...args);
  return output.slice(output.indexOf('NOTES:'));
}

const unsafe = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith('UNSAFE'));

describe('the notes of the chart', () => {
  test('say what to check next', async () => {
    const text = await notes('irsa');

    expect(text).toContain('kubectl --namespace kube-system rollout status deployment/headwater');
    expect(text).toContain('curl http://127.0.0.1:9966/status');
    expect(text).toMatch(/^ {2}headwater status --k8s-namespace=kube-system {4}# /m);
    expect(text).toMatch(/^ {2}headwater explain NODE --k8s-namespace=kube-system {4}# /m);
    expect(text).toContain('Uninstalling leaves the Lease headwater');
  });

  test.each([
    ['irsa', 'port-forward deployment/headwater 9966', 'curl http://127.0.0.1:9966/status'],
    ['pod-network', 'port-forward deployment/headwater 9966', 'curl http://127.0.0.1:9966/status'],
    // A port-forward connects to the loopback address of the pod.
    [
      'monitored',
      'get pods --selector app.kubernetes.io/name=headwater,app.kubernetes.io/instance=headwater',
      'curl http://ADDRESS:9977/status',
    ],
  ])('read the status where it is served: %s', async (values, way, address) => {
    const text = await notes(values);

    expect(text).toContain(`kubectl --namespace kube-system ${way}`);
    expect(text.match(/curl \S+/g)).toEqual([address]);
    // The commands forward a port, too.
    expect(text.includes('headwater explain')).toBe(way.startsWith('port-forward'));
  });

  test.each([
    ['replicas is 1.', 'single', []],
    ['options.cluster-name is not set.', 'least', []],
    ['this is the namespace default.', 'irsa', ['--namespace', 'default']],
    ['serve.bind is all.', 'pod-network', []],
    ['hostNetwork is off.', 'pod-network', []],
    ['the service account is default.', 'irsa', ['--set', 'serviceAccount.create=false']],
  ])('name what is unsafe: %s', async (what, values, args) => {
    expect(unsafe(await notes(values, ...args))).toContainEqual(expect.stringContaining(`UNSAFE: ${what}`));
  });

  test('find nothing unsafe in the values of the installation page, except a cluster without CiliumNodes', async () => {
    expect(unsafe(await notes('irsa'))).toEqual([
      'UNSAFE: this cluster serves no CiliumNodes. Install Cilium with --set ipam.mode=eni first: Headwater waits for them.',
    ]);
  });

  test('name the mode and the page of the cloud, and nothing about interfaces that are never made there', async () => {
    const text = await notes('azure');

    expect(text).toContain('(docs/install-aks.md)');
    expect(unsafe(text)).toEqual([
      'UNSAFE: this cluster serves no CiliumNodes. Install Cilium with --set ipam.mode=azure first: Headwater waits for them.',
    ]);
  });

  test.each([
    [
      'nodeipam',
      ['kube-controller-manager must not give CIDRs', 'the Lease headwater-nodeipam', 'kubectl get nodes'],
      ['CiliumNode', 'cilium-operator', 'interfaces'],
    ],
    [
      'blocks',
      ['cilium-operator must not give blocks', '(docs/cidr-modes.md)', 'CiliumNodes with their blocks'],
      ['kube-controller-manager', 'interfaces'],
    ],
    ['pools', ['with mode multi-pool', 'cilium-operator must not give blocks'], ['interfaces']],
  ])('say what is true of the mode: %s', async (values, words, others) => {
    const text = await notes(values);

    for (const each of words) expect(text).toContain(each);
    for (const each of others) expect(text).not.toContain(each);
    expect(unsafe(text)).toEqual([]);
  });

  test('say what runs without a controller', async () => {
    const off = ['--set', 'controller.enabled=false'];
    const agents = await notes('agent', ...off);

    expect(agents).toContain('rollout status daemonset/headwater-agent');
    expect(agents).not.toContain('deployment/');
    expect(unsafe(agents)).toEqual([]);
    expect(unsafe(await notes('least', ...off))).toEqual([
      'UNSAFE: nothing runs. Enable controller, nodeIpam or agent.',
    ]);
  });

  test('name the second controller', async () => {
    const second = ['--set', 'nodeIpam.enabled=true', '--set', 'nodeIpam.options.cluster-cidr=10.0.0.0/16'];

    expect(await notes('irsa', ...second)).toContain('rollout status deployment/headwater-nodeipam');
  });

  test('say whose credentials are used on Alibaba Cloud, if none are named', async () => {
    const without = await notes('rrsa', '--set', 'alibabaCloud.roleName=');
    const named = await notes('rrsa');

    expect(without).toContain('alibabaCloud names no credentials: Headwater takes those of the RAM role');
    expect(named).not.toContain('names no credentials');
    expect(named).toContain('(docs/install-ack.md)');
    expect(unsafe(named)).toEqual([
      'UNSAFE: this cluster serves no CiliumNodes. Install Cilium with --set ipam.mode=alibabacloud first: Headwater waits for them.',
    ]);
  });

  test('say that nothing is done in a dry run and while paused', async () => {
    const text = await notes('own-lease');

    expect(text).toContain('dryRun is on');
    expect(text).toContain('Paused: releases, mutations.');
  });
});
