// The definition of CiliumPodIPPools that Headwater creates where none is. What decides the size of blocks never changes: nodes
// have blocks of that size.
import type { JsonObject } from '../../runtime/json.ts';
import { definitionOf, open, text } from './cilium-definition.ts';

const flag: JsonObject = { type: 'boolean' };

function networks(width: number): JsonObject {
  return {
    ...open({
      cidrs: { type: 'array', minItems: 1, items: text },
      maskSize: {
        type: 'integer',
        minimum: 1,
        maximum: width,
        'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'maskSize cannot be changed' }],
      },
    }),
    required: ['cidrs', 'maskSize'],
  };
}

/** Absent means false. Older pools of Headwater have these fields in each family, where they stay as they are. */
function isFixed(field: string): JsonObject {
  const valueIn = (object: string): string => `(has(${object}.${field}) && ${object}.${field})`;
  return { rule: `${valueIn('self')} == ${valueIn('oldSelf')}`, message: `${field} cannot be changed` };
}

const selector = open({
  matchLabels: { type: 'object', additionalProperties: text },
  matchExpressions: {
    type: 'array',
    items: {
      ...open({ key: text, operator: text, values: { type: 'array', items: text } }),
      required: ['key', 'operator'],
    },
  },
});

const spec = {
  ...open({
    ipv4: networks(32),
    ipv6: networks(128),
    allowFirstIP: flag,
    allowLastIP: flag,
    podSelector: selector,
    namespaceSelector: selector,
  }),
  'x-kubernetes-validations': [isFixed('allowFirstIP'), isFixed('allowLastIP')],
};

export const ciliumPodIpPoolDefinition = definitionOf({
  kind: 'CiliumPodIPPool',
  shortNames: ['cpip'],
  version: 'v2alpha1',
  properties: { spec },
});
