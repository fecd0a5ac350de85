import { afterEach, describe, expect, test } from '@jest/globals';
import { connectToAlibaba } from '../../../src/controller/clouds/connect-to-alibaba.ts';
import { readNoProxy } from '../../../src/network/no-proxy.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { type HttpFront, type HttpRequest, startHttpFront } from '../../../src/simulator/http-front.ts';
import { type GivenFlags, optionsOf } from '../../support/given-options.ts';
import { type LogLine, recordingLogger } from '../../support/recording-logger.ts';

const fronts: HttpFront[] = [];

afterEach(async () => {
  await Promise.all(fronts.splice(0).map((front) => front.close()));
});

/** A metadata service; returns its URL. */
async function metadata(
  answer: (request: HttpRequest) => readonly [status: number, body: string],
): Promise<string> {
  const front = await startHttpFront({
    port: 0,
    answer: (request) => {
      const [status, body] = answer(request);
      return Promise.resolve({ kind: 'answer', status, headers: {}, body });
    },
  });
  fronts.push(front);
  return front.url;
}

async function connect(
  flags: GivenFlags,
): Promise<{ readonly regionId: string; readonly logged: readonly LogLine[] }> {
  const log = recordingLogger();
  const { api, regionId } = await connectToAlibaba(
    {
      options: optionsOf({ ipam: 'alibabacloud', ...flags }),
      outbound: {
        proxies: { http: undefined, https: undefined, exempt: readNoProxy('') },
        extraAuthorities: [],
      },
      environment: {},
      log,
      clock: systemClock,
    },
    new AbortController().signal,
  );
  api.close();
  return { regionId, logged: log.lines };
}

describe('a connection to Alibaba Cloud', () => {
  test('takes the region from the metadata service, by a token', async () => {
    const url = await metadata(({ method, url: path, headers }) => {
      if (method === 'PUT') return [200, 'token-1'];
      const isAllowed = headers['x-aliyun-ecs-metadata-token'] === 'token-1';
      return path === '/latest/meta-data/region-id' && isAllowed ? [200, 'cn-shanghai'] : [403, ''];
    });

    expect(await connect({ 'alibaba-cloud-metadata-endpoint': url })).toMatchObject({
      regionId: 'cn-shanghai',
    });
  });

  test('does without a token where the metadata service has none', async () => {
    const url = await metadata(({ method }) => (method === 'PUT' ? [404, ''] : [200, 'cn-beijing']));

    expect(await connect({ 'alibaba-cloud-metadata-endpoint': url })).toMatchObject({
      regionId: 'cn-beijing',
    });
  });

  test('takes what the option says before that', async () => {
    const flags = {
      'alibaba-cloud-region': 'cn-hangzhou',
      'alibaba-cloud-metadata-endpoint': 'http://127.0.0.1:9',
    };

    expect(await connect(flags)).toMatchObject({ regionId: 'cn-hangzhou' });
  });

  test.each([
    ['no answer', (): readonly [number, string] => [404, '']],
    ['an error page', (): readonly [number, string] => [200, '<html>']],
  ])('is refused with a remedy if the metadata service has %s', async (_, answer) => {
    const url = await metadata(answer);

    await expect(connect({ 'alibaba-cloud-metadata-endpoint': url })).rejects.toThrow(
      'set --alibaba-cloud-region',
    );
  });

  test('says that a plain HTTP endpoint is not encrypted', async () => {
    const flags = { 'alibaba-cloud-region': 'cn-hangzhou', 'alibaba-cloud-endpoint': 'http://127.0.0.1:9' };
    const { logged } = await connect(flags);

    expect(logged.map(({ message }) => message)).toContain(
      'requests to Alibaba Cloud are signed but not encrypted: its endpoint is plain HTTP',
    );
  });
});
