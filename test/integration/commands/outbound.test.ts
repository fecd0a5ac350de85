import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { certificateAuthority } from '../../../src/simulator/certificates.ts';
import { startFront } from '../../support/front.ts';
import { startProxy } from '../../support/local-proxy.ts';
import { Child, headwater, linesOf, problemsOf } from './child.ts';
import { announce, simulate, supplyKeys } from './simulated.ts';
import { testDirectory } from './test-directory.ts';

const directory = testDirectory('outbound');

describe('a controller behind a proxy that wants a password', () => {
  test('supplies nodes over TLS from a cloud whose certificate authority only --extra-ca-file names', async () => {
    const { ec2, api } = await simulate(join(directory.path, 'proxied'));
    await announce(api, 'one', 'i-00000000000000001');
    const [cloud, cluster] = [certificateAuthority('of the cloud'), certificateAuthority('of the cluster')];
    const ec2Front = await startFront(ec2, cloud.issue('ec2.headwater.test'));
    const apiFront = await startFront(api, cluster.issue('api.headwater.test'));
    const routes = {
      'ec2.headwater.test:443': ec2Front.url,
      'api.headwater.test:6443': apiFront.url,
    };
    const proxy = await startProxy({ routes, credentials: 'user:hunter2' });
    directory.closeLater(proxy.close, ec2Front.close, apiFront.close);
    const authorities = await directory.file('ca.pem', cloud.cert);
    const kubeconfig = await directory.file(
      'front.kubeconfig',
      kubeconfigOf('https://api.headwater.test:6443', cluster.cert),
    );

    const child = new Child(
      [
        'run',
        '--k8s-kubeconfig-path',
        kubeconfig,
        '--ec2-api-endpoint=ec2.headwater.test',
        '--extra-ca-file',
        authorities,
        '--aws-region=us-east-1',
        '--serve-addr=127.0.0.1:0',
        '--log-level=debug',
      ],
      {
        environment: {
          ...supplyKeys,
          HTTPS_PROXY: proxy.url.replace('//', '//user:hunter2@'),
          NO_PROXY: '10.0.0.0/8,nonsense/8',
        },
      },
    );
    const address = `http://127.0.0.1:${await child.word(/"port":(\d+).*"msg":"serving health/)}`;
    await child.said(/"node":"one".*"msg":"(?:assigned|attached) /);
    const status = await (await fetch(`${address}/status`)).text();
    const { code, out, err } = await child.stop();

    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = linesOf(out).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(
      expect.objectContaining({
        msg: 'connecting to Kubernetes',
        server: 'https://api.headwater.test:6443',
        proxy: proxy.url,
      }),
    );
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'connecting to AWS', host: 'ec2.headwater.test', proxy: proxy.url }),
    );
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', variable: 'NO_PROXY', entry: 'nonsense/8' }),
    );
    expect(out + status).not.toContain('hunter2');
    expect(new Set(proxy.asked)).toEqual(
      new Set(['CONNECT ec2.headwater.test:443', 'CONNECT api.headwater.test:6443']),
    );
  });
});

describe('an outbound setting that cannot be used', () => {
  test('ends with exit code 2 and one line: a proxy of another kind, a file without a certificate', async () => {
    const text = await directory.file('text', 'just text\n');

    const { code, out, err } = await headwater(['run', '--extra-ca-file', text], {
      environment: { https_proxy: 'socks5://user:hunter2@proxy:1080' },
    });

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(problemsOf({ err })).toEqual([
      expect.stringMatching(
        /^https_proxy: "socks5:\/\/proxy:1080" from the environment is refused; accepted: /,
      ),
      expect.stringMatching(
        /^extra-ca-file: ".*\/text" from the flag --extra-ca-file is refused because it holds no certificate as PEM; accepted: /,
      ),
    ]);
  });
});

/** JSON is YAML. */
function kubeconfigOf(server: string, authority: string): string {
  const data = Buffer.from(authority).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'main', user: 'main' } }],
    clusters: [{ name: 'main', cluster: { server, 'certificate-authority-data': data } }],
    users: [{ name: 'main', user: {} }],
  });
}
