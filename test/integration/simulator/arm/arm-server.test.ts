import { request } from 'node:https';
import { describe, expect, test } from '@jest/globals';
import { startArmServer } from '../../../../src/simulator/arm/arm-server.ts';
import { armRig, groupPath, vmPath } from '../../../unit/simulator/arm/arm-rig.ts';

describe('Azure on a socket', () => {
  test('answers over HTTPS to who trusts its authority', async () => {
    const { gateway } = armRig();
    const server = await startArmServer({ gateway });
    try {
      const [principal] = gateway.tokens.principals;
      if (principal === undefined) throw new Error('the topology has no principal');
      const { token } = gateway.tokens.issue(principal, 'https://management.azure.com');
      const { url, ca } = server;
      const path = `${groupPath}${vmPath}?api-version=2024-07-01`;
      const text = await get(url + path, token, ca);
      expect(JSON.parse(text)).toMatchObject({ instanceId: '0', name: 'pool_0' });
      await expect(get(url + path, token)).rejects.toThrow(/certificate/);
    } finally {
      await server.close();
    }
  });
});

function get(url: string, token: string, ca?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = request(url, { headers, agent: false, ...(ca !== undefined && { ca }) }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () => resolve(Buffer.concat(pieces).toString()));
    });
    sent.once('error', reject);
    sent.end();
  });
}
