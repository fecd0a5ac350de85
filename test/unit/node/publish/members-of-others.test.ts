// Members of a status that Headwater does not write belong to others: agents of newer versions, cilium-operator, people.
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isList, isObject, type Json, type JsonObject, textAt } from '../../../../src/runtime/json.ts';
import { applyMergePatch } from '../../../../src/kubernetes/transport/merge-patch.ts';
import { interfacesIn, sectionPatch, writableLayout } from '../../../../src/node/publish/status-section.ts';
import { alibabaSection } from '../../../../src/providers/alibaba/cilium-node-section.ts';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import type {
  CiliumNodeSection,
  OwnedMembers,
  StatusContext,
  StatusLayout,
} from '../../../../src/providers/contract/cilium-node-section.ts';
import { emptyInfrastructure } from '../../../../src/providers/contract/infrastructure.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { infrastructure as onAzure, nic, section as azureSection } from '../../providers/azure/published.ts';
import { addresses, attachment, networkInterface } from '../../providers/interfaces.ts';
import { subnet, view } from '../allocation-facts.ts';

interface Cloud {
  readonly section: CiliumNodeSection;
  readonly infrastructure: StatusContext['infrastructure'];
  readonly named: (name: string, change: Partial<NetworkInterface>) => NetworkInterface;
}

const byId: Omit<Cloud, 'section'> = {
  infrastructure: {
    ...emptyInfrastructure,
    subnets: new Map([['subnet-1', subnet('subnet-1', { cidr: '10.0.0.0/16' })]]),
    networks: new Map([['vpc-1', { id: 'vpc-1', primaryCidr: '10.0.0.0/16', cidrs: ['10.1.0.0/16'] }]]),
  },
  named: (name, change) =>
    networkInterface({ id: name, attachment: attachment({ deviceIndex: 2 }), ...change }),
};

const clouds: readonly [string, Cloud][] = [
  ['AWS', { ...byId, section: awsSection }],
  ['Azure', { infrastructure: onAzure, named: nic, section: azureSection }],
  ['Alibaba Cloud', { ...byId, section: alibabaSection }],
];

function statusOf({ section, infrastructure }: Cloud, items: readonly NetworkInterface[]): Json {
  const nothing = new Set<string>();
  const shown = { usePrimaryAddress: true, unfit: nothing, retired: nothing, excluded: nothing };
  return section.status(view(items), { infrastructure, ...shown }) as Json;
}

/** The value with `members` in each object that has fixed fields, but for those that Headwater writes there. */
function withOthers(value: Json, owned: OwnedMembers | 'whole', members: JsonObject): Json {
  if (owned === 'whole') return value;
  if (isList(value)) return value.map((item) => withOthers(item, owned, members));
  if (!isObject(value)) return value;
  const ours = Object.entries(value).map(([name, member]): [string, Json] => [
    name,
    withOthers(member, Object.hasOwn(owned, name) ? (owned[name] ?? 'whole') : 'whole', members),
  ]);
  const others = Object.entries(members).filter(([name]) => !Object.hasOwn(owned, name));
  return Object.fromEntries([...others, ...ours]);
}

function publishedWith({ section: { layout } }: Cloud, status: Json, members: JsonObject): Json {
  const isKeyed = layout.identifiedBy.get(layout.interfaces) !== undefined;
  const enis = [...interfacesIn(status, layout)].map(
    ([id, item]) => [id, withOthers(item, layout.owned, members)] as const,
  );
  const others = Object.entries(members).filter(([name]) => name !== layout.interfaces);
  const interfaces: Json = isKeyed ? enis.map(([, item]) => item) : Object.fromEntries(enis);
  return Object.fromEntries<Json>([...others, [layout.interfaces, interfaces]]);
}

/** The status without this field of each interface. */
function withoutField(status: Json, name: string, { interfaces, identifiedBy }: StatusLayout): Json {
  const items = [...interfacesIn(status, { interfaces, identifiedBy })].map(([id, item]): [string, Json] => [
    id,
    Object.fromEntries(Object.entries(isObject(item) ? item : {}).filter(([member]) => member !== name)),
  ]);
  const isKeyed = identifiedBy.get(interfaces) !== undefined;
  return { [interfaces]: isKeyed ? items.map(([, item]) => item) : Object.fromEntries(items) };
}

/** Names of any kind, and those that newer versions of Cilium have. */
const names = fc.oneof(
  fc.constantFrom('ipv6-prefixes', 'GatewayIP', 'availability-zone', 'ipv6-cidr', '__proto__', 'constructor'),
  fc.string({ maxLength: 6 }),
);
const values = fc
  .jsonValue({ maxDepth: 2 })
  .filter((value) => value !== null && !JSON.stringify(value).includes('null'));
const others = fc.dictionary(names, values as fc.Arbitrary<Json>, { maxKeys: 4 });

describe.each(clouds)('members of others in the status on %s', (_, cloud) => {
  const { layout } = cloud.section;
  const plan = fc.record({
    others,
    before: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 }),
    after: fc.array(fc.option(fc.integer({ min: 0, max: 5 })), { minLength: 3, maxLength: 4 }),
  });
  const items = (counts: readonly (number | null)[]): readonly NetworkInterface[] =>
    counts.flatMap((count, index) =>
      count === null
        ? []
        : [
            cloud.named(`eth${index}`, {
              primaryAddress: `10.0.${index}.4`,
              addresses: addresses(count, index),
            }),
          ],
    );

  test('include fields of an interface that Headwater cannot write', () => {
    const published = statusOf(cloud, items([2, 3]));
    const known = writableLayout(cloud.section, () => true);
    const names = Object.keys(layout.owned).filter(
      (name) => name !== layout.identifiedBy.get(layout.interfaces),
    );

    const without = names.map((name) => {
      const writable = writableLayout(cloud.section, (path) => path.at(-1) !== name);
      return sectionPatch(published, withoutField(published, name, layout), writable);
    });

    expect(known).toBe(layout);
    expect(names.length).toBeGreaterThan(5);
    expect(without).toEqual(names.map(() => undefined));
  });

  test('stay in every write, go with their interface, and are never a difference', () => {
    fc.assert(
      fc.property(plan, ({ others: members, before, after }) => {
        const published = publishedWith(cloud, statusOf(cloud, items(before)), members);
        const wanted = statusOf(cloud, items(after));

        const patch = sectionPatch(published, wanted, layout);
        const written = patch === undefined ? published : applyMergePatch(published, patch);

        const [known, plain] = [interfacesIn(published, layout), interfacesIn(wanted, layout)];
        const shown = interfacesIn(written, layout);
        expect([...shown.keys()].toSorted()).toEqual([...plain.keys()].toSorted());
        for (const [id, item] of shown) {
          const isAddressThere = (address: string): boolean =>
            JSON.stringify(plain.get(id)).includes(`"${address}"`);
          expect(onlyOwned(item, layout.owned)).toEqual(plain.get(id));
          expect(membersOfOthers(item, layout)).toEqual(
            membersOfOthers(known.get(id) ?? {}, layout).filter(({ of }) => of === '' || isAddressThere(of)),
          );
        }
        expect(sectionPatch(written, wanted, layout)).toBeUndefined();
        expect(sectionPatch(published, statusOf(cloud, items(before)), layout)).toBeUndefined();
      }),
    );
  });

  test('are all that Headwater does not write', () => {
    const item = cloud.named('eth0', {
      name: 'eth0',
      description: 'first',
      publicAddress: '203.0.113.1',
      addresses: addresses(2),
      prefixes: ['10.0.8.0/28'],
      tags: { team: 'a' },
    });
    for (const shown of interfacesIn(statusOf(cloud, [item]), layout).values())
      expect(unowned(shown, layout.owned)).toEqual([]);
  });
});

/** What others have in an interface: by its place, and the address whose item has it. */
function membersOfOthers(
  item: Json,
  { owned, identifiedBy }: StatusLayout,
): readonly { readonly of: string }[] {
  const found: { readonly of: string; readonly place: string; readonly value: Json }[] = [];
  const walk = (value: Json, ours: OwnedMembers | 'whole', [of, place]: readonly [string, string]): void => {
    if (ours === 'whole' || !isObject(value)) return;
    for (const [name, member] of Object.entries(value)) {
      const next = Object.hasOwn(ours, name) ? ours[name] : undefined;
      const key = identifiedBy.get(name);
      if (next === undefined) found.push({ of, place: `${place}/${name}`, value: member });
      else if (key !== undefined && isList(member))
        for (const entry of member) {
          const address = textAt(entry, key) ?? '';
          walk(entry, next, [address, `${place}/${name}/${address}`]);
        }
      else walk(member, next, [of, `${place}/${name}`]);
    }
  };
  walk(item, owned, ['', '']);
  return found.toSorted((x, y) => (x.place < y.place ? -1 : 1));
}

function onlyOwned(value: Json, owned: OwnedMembers | 'whole'): Json {
  if (owned === 'whole') return value;
  if (isList(value)) return value.map((item) => onlyOwned(item, owned));
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([name]) => Object.hasOwn(owned, name));
  return Object.fromEntries(
    members.map(([name, member]) => [name, onlyOwned(member, owned[name] ?? 'whole')]),
  );
}

function unowned(value: Json, owned: OwnedMembers | 'whole'): readonly string[] {
  if (owned === 'whole') return [];
  if (isList(value)) return value.flatMap((item) => unowned(item, owned));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const ours = owned[name];
    return ours === undefined ? [name] : unowned(member, ours);
  });
}
