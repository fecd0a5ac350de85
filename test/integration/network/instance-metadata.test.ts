import { afterEach, describe, expect, test } from '@jest/globals';
import { regionOfInstance } from '../../../src/providers/aws/instance-metadata.ts';
import { type Answer, type LoopbackServer, loopbackServer } from '../../support/loopback-server.ts';

const never = new AbortController().signal;
let server: LoopbackServer;

afterEach(() => server.close());

async function serviceWith(region: Answer): Promise<string> {
  server = await loopbackServer((request, response) => {
    if (request.method === 'PUT')
      response.end(String(request.headers['x-aws-ec2-metadata-token-ttl-seconds']));
    else region(request, response);
  });
  return server.url;
}

describe('the region of the instance', () => {
  test('is requested with a token', async () => {
    const url = await serviceWith(({ url: path, headers }, response) => {
      const asked =
        path === '/latest/meta-data/placement/region' && headers['x-aws-ec2-metadata-token'] === '60';
      response.writeHead(asked ? 200 : 401).end('eu-central-1\n');
    });

    expect(await regionOfInstance(url, never)).toBe('eu-central-1');
  });

  test.each<[string, Answer, string]>([
    [
      'a refusal',
      (_, response) => response.writeHead(403).end(),
      '/latest/meta-data/placement/region answers 403',
    ],
    ['a page', (_, response) => response.end('<html>'), 'it names no region: <html>'],
    ['a torn answer', ({ socket }) => socket.destroy(), 'socket hang up'],
  ])('is unknown after %s', async (_, answer, text) => {
    await expect(regionOfInstance(await serviceWith(answer), never)).rejects.toThrow(text);
  });
});
