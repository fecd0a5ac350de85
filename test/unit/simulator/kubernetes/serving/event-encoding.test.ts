import { expect, test } from '@jest/globals';
import type { KubernetesObject } from '../../../../../src/simulator/kubernetes/objects/kubernetes-object.ts';
import { EventEncoding } from '../../../../../src/simulator/kubernetes/serving/event-encoding.ts';

test('a change is encoded once, however many clients watch it', () => {
  let encodings = 0;
  const object = {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'x' },
    toJSON: () => {
      encodings++;
      return 'encoded';
    },
  } as unknown as KubernetesObject;
  const encoding = new EventEncoding();

  const lines = Array.from({ length: 1000 }, () => encoding.encode({ type: 'MODIFIED', object }).line);
  lines.push(encoding.encode({ type: 'DELETED', object }).line);

  expect(encodings).toBe(2);
  expect(new Set(lines)).toEqual(
    new Set(['{"type":"MODIFIED","object":"encoded"}\n', '{"type":"DELETED","object":"encoded"}\n']),
  );
});
