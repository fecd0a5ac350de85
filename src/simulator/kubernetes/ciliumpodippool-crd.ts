// The CustomResourceDefinition of CiliumPodIPPool, to install into any Kubernetes API: the embedded one and real ones.
import { described, flag, listOf, struct, text, textByName } from './ciliumnode-schema-parts.ts';
import type { StructuralSchema } from './schema/structural-schema.ts';

function networks(family: string, max: number): StructuralSchema {
  return described(`The ${family} networks of the pool.`, {
    ...struct({
      cidrs: { type: 'array', minItems: 1, items: text },
      maskSize: { type: 'integer', minimum: 1, maximum: max },
      // Pools of older versions of Headwater have these here.
      allowFirstIP: flag,
      allowLastIP: flag,
    }),
    required: ['cidrs', 'maskSize'],
  });
}

const selector = struct({
  matchLabels: textByName,
  matchExpressions: listOf(struct({ key: text, operator: text, values: listOf(text) })),
});

export const ciliumPodIpPoolCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ciliumpodippools.cilium.io' },
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
            description: 'Networks that nodes get blocks of, for pods that ask for this pool.',
            required: ['metadata', 'spec'],
            properties: {
              apiVersion: text,
              kind: text,
              metadata: { type: 'object' },
              spec: struct({
                ipv4: networks('IPv4', 32),
                ipv6: networks('IPv6', 128),
                allowFirstIP: flag,
                allowLastIP: flag,
                podSelector: selector,
                namespaceSelector: selector,
              }),
            },
          },
        },
      },
    ],
  },
} as const;
