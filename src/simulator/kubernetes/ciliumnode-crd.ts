// The CustomResourceDefinition of CiliumNode, to install into any Kubernetes API: the embedded one and real ones.
import { text } from './ciliumnode-schema-parts.ts';
import { ciliumNodeSpecSchema } from './ciliumnode-spec-schema.ts';
import { ciliumNodeStatusSchema } from './ciliumnode-status-schema.ts';

const addressColumn = (type: string): string => `.spec.addresses[?(@.type=="${type}")].ip`;

export const ciliumNodeCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ciliumnodes.cilium.io' },
  spec: {
    group: 'cilium.io',
    scope: 'Cluster',
    names: {
      kind: 'CiliumNode',
      listKind: 'CiliumNodeList',
      plural: 'ciliumnodes',
      singular: 'ciliumnode',
      shortNames: ['cn', 'ciliumn'],
      categories: ['cilium'],
    },
    versions: [
      {
        name: 'v2',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          {
            name: 'CiliumInternalIP',
            type: 'string',
            description: 'Address of the node inside the Cilium network',
            jsonPath: addressColumn('CiliumInternalIP'),
          },
          {
            name: 'InternalIP',
            type: 'string',
            description: 'Address of the node',
            jsonPath: addressColumn('InternalIP'),
          },
          {
            name: 'Age',
            type: 'date',
            description: 'Time since creation',
            jsonPath: '.metadata.creationTimestamp',
          },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A node of the cluster as Cilium sees it.',
            required: ['metadata', 'spec'],
            properties: {
              apiVersion: text,
              kind: text,
              metadata: { type: 'object' },
              spec: ciliumNodeSpecSchema,
              status: ciliumNodeStatusSchema,
            },
          },
        },
      },
    ],
  },
} as const;
