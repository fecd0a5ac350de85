import { afterEach, describe, expect, test } from '@jest/globals';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { openPodPort } from '../../../src/kubernetes/port-forward/pod-port.ts';
import { UndiciTransport } from '../../../src/kubernetes/transport/undici-transport.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { certificateAuthority } from '../../../src/simulator/certificates.ts';
import { accessTo, noTls } from '../../support/cluster-access.ts';
import { forwardingFront } from '../../support/forwarding-front.ts';
import { startProxy } from '../../support/local-proxy.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { json, loopbackServer } from '../../support/loopback-server.ts';

const never = new AbortController().signal;
const ended: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

describe('a port of a pod', () => {
  test('is reached over TLS, through a proxy, below a path, and with every header of the user', async () => {
    const pod = await loopbackServer((_, response) => response.end('from the pod'));
    const authority = certificateAuthority('api');
    const seen: unknown[] = [];
    const front = await forwardingFront(
      (_, response) => json(response, 404, {}),
      ({ url, headers }) => {
        const { authorization, 'impersonate-group': groups, 'user-agent': agent } = headers;
        seen.push({ url, authorization, groups, agent });
        return true;
      },
      authority.issue('api.headwater.test'),
    );
    const proxy = await startProxy({ routes: { 'api.headwater.test:6443': front.url } });
    const access = accessTo('https://api.headwater.test:6443/k8s/clusters/c-1', {
      tls: { ...noTls, ca: authority.cert },
      headers: { authorization: 'Bearer abc', 'impersonate-group': ['one', 'two'] },
    });
    const transport = new UndiciTransport({
      access: { ...access, proxy: new URL(proxy.url) },
      clock: systemClock,
    });
    ended.push(pod.close, front.close, proxy.close, () => transport.close());
    const port = Number(new URL(pod.url).port);

    const opened = await openPodPort(transport, { namespace: 'a', pod: 'p', port }, never);
    if (opened.kind !== 'open') throw new Error(opened.message);
    const answer = await new Promise<string>((resolve, reject) => {
      request({ createConnection: () => opened.connection, headers: { connection: 'close' } }, (response) =>
        resolve(text(response)),
      )
        .on('error', reject)
        .end();
    });

    expect(answer).toBe('from the pod');
    expect(seen).toEqual([
      {
        url: `/k8s/clusters/c-1/api/v1/namespaces/a/pods/p/portforward?ports=${port}`,
        authorization: 'Bearer abc',
        groups: 'one, two',
        agent: 'headwater',
      },
    ]);
  });

  test('is not asked for once its caller has given up', async () => {
    const front = await forwardingFront((_, response) => json(response, 404, {}));
    const transport = new UndiciTransport({ access: accessTo(front.url), clock: systemClock });
    ended.push(front.close, () => transport.close());

    const opened = openPodPort(transport, { namespace: 'a', pod: 'p', port: 1 }, AbortSignal.abort('over'));

    await expect(opened).rejects.toBe('over');
    expect(front.forwarded).toEqual([]);
  });

  test('is given up by a silent API server after one request', async () => {
    const asked: (string | undefined)[] = [];
    const arrived = Promise.withResolvers<void>();
    const server = await loopbackServer(({ method }) => {
      asked.push(method);
      arrived.resolve();
    });
    const clock = new VirtualClock();
    const transport = new UndiciTransport({ access: accessTo(server.url), clock });
    ended.push(server.close, () => transport.close());

    const opening = openPodPort(transport, { namespace: 'a', pod: 'p', port: 1 }, never);
    await arrived.promise;
    await clock.advance(10_000);

    expect(await opening).toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/ within 10000 ms$/),
    });
    expect(asked).toEqual(['GET']);
  });
});
