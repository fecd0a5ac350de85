// The definition of CiliumNodes that Headwater creates where none is. It describes what blocks need, and keeps every other
// field, so that agents of any version can write what they do. Its version is below any of Cilium's: a cilium-operator that
// starts later replaces it by its own.
import type { JsonObject } from '../../runtime/json.ts';
import { definitionOf, open, text } from './cilium-definition.ts';

const address = open({ type: text, ip: text });

const flag = { type: 'boolean' };

const pool = {
  ...open({
    pool: text,
    cidrs: { type: 'array', items: text },
    allowFirstIP: flag,
    allowLastIP: flag,
  }),
  required: ['pool'],
};

const spec = open({
  'instance-id': text,
  addresses: { type: 'array', items: address },
  ipam: open({
    podCIDRs: { type: 'array', items: text },
    pools: open({
      requested: { type: 'array', items: { ...open({ pool: text }), required: ['pool'] } },
      allocated: { type: 'array', items: pool },
    }),
  }),
});

const status = open({ ipam: open({ 'operator-status': open({ error: text }) }) });

function addressColumn(type: string): JsonObject {
  return { name: type, type: 'string', jsonPath: `.spec.addresses[?(@.type=="${type}")].ip` };
}

export const ciliumNodeDefinition = definitionOf({
  kind: 'CiliumNode',
  shortNames: ['cn', 'ciliumn'],
  version: 'v2',
  properties: { spec, status },
  extras: {
    subresources: { status: {} },
    additionalPrinterColumns: [
      addressColumn('CiliumInternalIP'),
      addressColumn('InternalIP'),
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  },
});
