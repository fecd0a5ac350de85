import { describe, expect, test } from '@jest/globals';
import { NodeWriter } from '../../../../src/kubernetes/node/node-writer.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { type Script, ScriptedTransport, status } from '../scripted-transport.ts';

const never = new AbortController().signal;
const target = { name: 'node-1', uid: 'uid-1', resourceVersion: '42' };

function writerFor(script: Script): NodeWriter {
  return new NodeWriter(new ScriptedTransport(new VirtualClock(), () => script), () => true, 1000);
}

describe('a write of a Node', () => {
  test.each<[string, Script, object]>([
    [
      'credentials that are not accepted are no permission that lacks',
      status(401, 'Unauthorized'),
      { kind: 'unavailable', message: 'the API server refuses our credentials: Unauthorized' },
    ],
    [
      'a permission that lacks is named',
      status(403, 'forbidden'),
      { kind: 'denied', message: 'allow Headwater to patch nodes: forbidden' },
    ],
    [
      'CIDRs that are there already are another state',
      status(422, 'may not change', { causes: [{ field: 'spec.podCIDRs' }] }),
      { kind: 'conflict', message: 'may not change' },
    ],
    [
      'a patch that cannot be decoded is wrong itself',
      status(400, 'no CIDR', { causes: [{ field: 'spec.podCIDRs' }] }),
      { kind: 'invalid', message: 'no CIDR' },
    ],
  ])('fails so that its kind says what follows: %s', async (_, script, outcome) => {
    expect(await writerFor(script).setPodCidrs(target, ['10.0.0.0/24'], never)).toEqual(outcome);
  });

  test('of taints that fails a test met other taints', async () => {
    const outcome = await writerFor(status(422, 'the test failed')).patchTaints('node-1', [], never);

    expect(outcome).toEqual({ kind: 'conflict', message: 'the test failed' });
  });
});
