// The definition of CiliumPodIPPools that Headwater creates where none is.
import type { JsonObject } from '../transport/json.ts';
import { definitionLabels, open, text } from './cilium-definition.ts';

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

export const ciliumPodIpPoolDefinition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ciliumpodippools.cilium.io', labels: definitionLabels },
  spec: {
    group: 'cilium.io',
    scope: 'Cluster',
    names: {
      kind: 'CiliumPodIPPool',
      listKind: 'CiliumPodIPPoolList',
      plural: 'ciliumpodippools',
      singular: 'ciliumpodippool',
      shortNames: ['cpip'],
      categories: ['cilium'],
    },
    versions: [
      {
        name: 'v2alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['metadata', 'spec'],
            properties: {
              apiVersion: text,
              kind: text,
              metadata: { type: 'object' },
              spec: open({ ipv4: networks(32), ipv6: networks(128) }),
            },
          },
        },
      },
    ],
  },
};
