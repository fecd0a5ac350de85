// Tags of any resource.
import type { RecordKind, Tags } from '../../cloud/records.ts';
import { addTags, kindOfId, removeTags, type Tagged } from '../../cloud/tags.ts';
import type { NetworkView } from '../../cloud/cloud-network.ts';
import { type Action, action } from '../action.ts';
import { Ec2Refusal, missingParameter } from '../ec2-refusal.ts';
import { compileFilters, type FilterTable } from '../filters.ts';
import { refuseMalformedId } from '../ids.ts';
import { listRequest, pageFields, refuseCombination, turnPage } from '../listing.ts';
import { as, list, record, text } from '../shape.ts';
import { tagsIn } from '../tag-shapes.ts';

/** EC2's names of taggable resource types. */
const types: Readonly<Record<RecordKind, string>> = {
  vpcs: 'vpc',
  subnets: 'subnet',
  reservations: 'subnet-cidr-reservation',
  routeTables: 'route-table',
  groups: 'security-group',
  publicAddresses: 'elastic-ip',
  instances: 'instance',
  interfaces: 'network-interface',
};

interface TagOfResource {
  /** Resource and key: identifies one tag. */
  readonly id: string;
  readonly key: string;
  readonly value: string;
  readonly resourceId: string;
  readonly type: string;
  readonly tags: Tags;
}

const filters: FilterTable<TagOfResource> = {
  key: (tag) => tag.key,
  value: (tag) => tag.value,
  'resource-id': ({ resourceId }) => resourceId,
  'resource-type': ({ type }) => type,
};

const describeTags = action({
  input: record(pageFields),
  output: record({
    Tags: as('tagSet', list(record({ Key: text, Value: text, ResourceId: text, ResourceType: text }))),
    NextToken: text,
  }),
  run: (input, context) => {
    const request = listRequest([], input);
    refuseCombination({ idParameter: '' }, request);
    const fits = compileFilters(request.filters, filters);
    const page = turnPage(
      {
        action: 'DescribeTags',
        after: (cursor) => allTags(context.view).filter(({ id }) => id > cursor),
        fits: (tag) => fits(tag, context.view),
      },
      request,
      context,
    );
    return {
      Tags: page.records.map(({ key, value, resourceId, type }) => ({
        Key: key,
        Value: value,
        ResourceId: resourceId,
        ResourceType: type,
      })),
      NextToken: page.nextToken,
    };
  },
});

function allTags(view: NetworkView): readonly TagOfResource[] {
  const tags = (Object.keys(types) as RecordKind[]).flatMap((kind) =>
    [...view(kind).after('')].flatMap((thing) =>
      Object.entries(thing.tags).map(([key, value]) => ({
        id: `${thing.id} ${key}`,
        key,
        value,
        resourceId: thing.id,
        type: types[kind],
        tags: { [key]: value },
      })),
    ),
  );
  return tags.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

const createTags = action({
  input: record({
    Resources: as('ResourceId', list(text)),
    Tags: as('Tag', list(record({ Key: text, Value: text }))),
  }),
  output: record({}),
  run: ({ Resources, Tags: given }, { network }) => {
    if (given === undefined || given.length === 0) throw missingParameter('tagSet');
    addTags(network, resourcesOf(Resources), tagsIn(given));
    return {};
  },
});

const deleteTags = action({
  input: record({
    Resources: as('ResourceId', list(text)),
    Tags: as('Tag', list(record({ Key: text, Value: text }))),
  }),
  output: record({}),
  run: ({ Resources, Tags: given }, { network }) => {
    const removals = given?.map(({ Key = '', Value }) => ({ key: Key, value: Value }));
    removeTags(network, resourcesOf(Resources), removals);
    return {};
  },
});

function resourcesOf(ids: readonly string[] | undefined): readonly Tagged[] {
  if (ids === undefined || ids.length === 0) throw missingParameter('resourceIdSet');
  return ids.map((id) => {
    const kind = kindOfId(id);
    if (kind === undefined) throw new Ec2Refusal('InvalidID', `The ID '${id}' is not valid`);
    refuseMalformedId(kind, id);
    return { kind, id };
  });
}

export const tagActions: Readonly<Record<string, Action>> = {
  DescribeTags: describeTags,
  CreateTags: createTags,
  DeleteTags: deleteTags,
};
