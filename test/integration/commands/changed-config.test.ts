// A directory of options that changes while a process runs, as a mounted ConfigMap does.
import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { mountedConfig } from '../../support/config-directory.ts';
import { Child, endAll, headwater } from './child.ts';
import { simulate } from './simulated.ts';
import { testDirectory } from './test-directory.ts';

const directory = testDirectory('changed-config');

describe('a process whose directory of options changes', () => {
  test('names at the start what has no effect there, then what changed since, and takes over the rest', async () => {
    const config = mountedConfig();
    directory.closeLater(() => Promise.resolve(config.remove()));
    const { kubeconfig } = await simulate(join(directory.path, 'cluster'));
    const data = {
      ipam: 'cluster-pool',
      'cluster-pool-ipv4-cidr': '10.0.0.0/16',
      'remove-cilium-node-taints': 'true',
      'dry-run': 'true',
    };
    config.mount(data);
    const child = new Child([
      'run',
      `--config-dir=${config.path}`,
      `--k8s-kubeconfig-path=${kubeconfig}`,
      '--serve-addr=127.0.0.1:0',
    ]);
    await child.said(/"msg":"leading"/);
    config.mount({ ...data, 'cluster-pool-ipv4-cidr': '10.9.0.0/16', 'dry-run': 'false' });
    await child.said(/"msg":"options changed while running"/);
    const port = await child.word(/"port":(\d+).*"msg":"serving health/);
    const status = await headwater(['status', `--address=http://127.0.0.1:${port}`]);
    await endAll();

    const { out } = await child.ended;
    expect(status.out).toContain('\nrestart needed cluster-pool-ipv4-cidr\n');
    expect(out).toMatch(
      /"remove-cilium-node-taints":"set manage-agent-taint instead".*"msg":"options without effect in the directory"/,
    );
    expect(out).toMatch(
      /"problem":"cluster-pool-ipv4-cidr: it differs in .*restart every replica.*"msg":"option not changed: the previous value stays"/,
    );
    expect(out).not.toMatch(/"problem":"(?:ipam|dry-run|config-dir)/);
  });
});
