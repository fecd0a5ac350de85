import { describe, expect, test } from '@jest/globals';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkingAgent, checkedOnceConnected } from '../../../src/network/pre-send-agents.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';

/** A server that counts requests, and a client of it. */
async function rig() {
  const heard: string[] = [];
  const server: Server = createServer(({ url = '' }, response) => {
    heard.push(url);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = checkingAgent({ keepAlive: true }, systemClock);
  const ask = (path: string, check: () => void): Promise<number | undefined> =>
    checkedOnceConnected(
      { check, isRepeatable: true },
      () =>
        new Promise((resolve, reject) => {
          const asking = request({ host: '127.0.0.1', port, path, agent }, (response) => {
            response.resume().once('end', () => resolve(response.statusCode));
          });
          asking.once('error', reject);
          asking.end();
        }),
    );
  const close = async (): Promise<void> => {
    agent.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { heard, ask, close };
}

describe('a request of an agent with a check before sending', () => {
  test('is sent when the check allows it, checked once for each request, on new and on existing connections', async () => {
    const { heard, ask, close } = await rig();
    let looks = 0;
    const look = (): void => void looks++;

    const answers = [await ask('/a', look), await ask('/b', look)];
    await close();

    expect(answers).toEqual([200, 200]);
    expect(heard).toEqual(['/a', '/b']);
    expect(looks).toBe(2);
  });

  test('is not sent when the check forbids it, and fails with the reason of the check', async () => {
    const { heard, ask, close } = await rig();
    const forbid = (): void => {
      throw new Error('no longer allowed');
    };

    await expect(ask('/a', forbid)).rejects.toThrow('no longer allowed');
    await ask('/b', () => undefined);
    await expect(ask('/c', forbid)).rejects.toThrow('no longer allowed');
    await close();

    expect(heard).toEqual(['/b']);
  });
});
