// The definition of CiliumPodIPPools that Headwater creates where none is.
import type { JsonObject } from '../transport/json.ts';
import { definitionOf, open, text } from './cilium-definition.ts';

function networks(width: number): JsonObject {
  return {
    ...open({
      cidrs: { type: 'array', minItems: 1, items: text },
      maskSize: { type: 'integer', minimum: 1, maximum: width },
      allowFirstIP: { type: 'boolean' },
      allowLastIP: { type: 'boolean' },
    }),
    required: ['cidrs', 'maskSize'],
  };
}

export const ciliumPodIpPoolDefinition = definitionOf({
  kind: 'CiliumPodIPPool',
  shortNames: ['cpip'],
  version: 'v2alpha1',
  properties: { spec: open({ ipv4: networks(32), ipv6: networks(128) }) },
});
