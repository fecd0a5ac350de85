// What an agent follows of Kubernetes, over the embedded API in virtual time.
import { describe, expect, test } from '@jest/globals';
import { OwnNode } from '../../../src/agent/own-node/own-node.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';

describe('a CiliumNode that cannot be created', () => {
  test('is logged once with the reason, which health shows until it can', async () => {
    const clock = new VirtualClock();
    const api = new EmbeddedApi(clock);
    const log = recordingLogger();
    const field = 'spec.ipam.podCIDRs';
    const ownNode = new OwnNode(
      { kind: 'CiliumNode', field, name: 'one', newSpec: () => ({}), onObject: () => undefined },
      { transport: api.transport, clock, random: new Random('own-node'), log },
    );
    const stop = new AbortController();
    const running = ownNode.run(stop.signal);

    // Longer than a watch: another one that begins does not hide the reason.
    for (let second = 0; second < 60; second++) {
      await clock.advance(1000);
      expect(ownNode.missing).toContain('the Node one cannot be read: ');
    }
    await api.kubectl('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } });
    await clock.advance(5000);

    expect(ownNode.missing).toBe('spec.ipam.podCIDRs of the CiliumNode one');
    expect(log.lines.map(({ message }) => message)).toEqual([
      'cannot create the CiliumNode of this node',
      'created the CiliumNode of this node',
    ]);
    stop.abort();
    await running;
  });
});
