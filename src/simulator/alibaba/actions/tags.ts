// Tags interfaces, instances and security groups, and lists what is tagged.
import type { RecordKind } from '../../cloud/records.ts';
import { addTags, removeTags, type Tagged } from '../../cloud/tags.ts';
import { pageOf } from '../paging.ts';
import { flag, requiredText, tags, text, texts } from '../parameters.ts';
import { rpcAction } from '../rpc-action.ts';
import { invalidParameter } from '../rpc-refusal.ts';
import { hasTags, newTags } from '../tags.ts';

const kinds: ReadonlyMap<string, RecordKind> = new Map([
  ['eni', 'interfaces'],
  ['instance', 'instances'],
  ['securitygroup', 'groups'],
]);

const target = {
  RegionId: requiredText,
  ResourceType: requiredText,
  ResourceId: { ...texts(50), required: true },
} as const;

const add = rpcAction({
  product: 'ecs',
  parameters: { ...target, Tag: { ...tags, required: true } },
  run: (input, { network }) => {
    const things = thingsOf(input);
    const all = things.map((thing) => newTags(network.find(thing.kind, thing.id).tags, input.Tag));
    addTags(network, things, all[0] ?? {});
    return {};
  },
});

const remove = rpcAction({
  product: 'ecs',
  parameters: { ...target, TagKey: texts(20), All: flag },
  run: (input, { network }) => {
    const keys = input.TagKey.map((key) => ({ key }));
    if (keys.length === 0 && input.All !== true) throw invalidParameter('TagKey');
    removeTags(network, thingsOf(input), keys.length === 0 ? undefined : keys);
    return {};
  },
});

const list = rpcAction({
  product: 'ecs',
  parameters: {
    RegionId: requiredText,
    ResourceType: requiredText,
    ResourceId: texts(50),
    Tag: tags,
    NextToken: text,
  },
  run: (input, context) => {
    if (input.ResourceId.length === 0 && input.Tag.length === 0) throw invalidParameter('ResourceId');
    const ids = new Set(input.ResourceId);
    const { items, about } = pageOf({ ...input, MaxResults: 50 }, context, {
      name: 'ListTagResources',
      moment: context.view(kindOf(input.ResourceType)),
      fits: ({ id, tags: own }) => (ids.size === 0 || ids.has(id)) && hasTags(own, input.Tag),
    });
    const TagResource = items.flatMap(({ id, tags: own }) =>
      Object.entries(own).map(([TagKey, TagValue]) => ({
        ResourceId: id,
        ResourceType: input.ResourceType,
        TagKey,
        TagValue,
      })),
    );
    return { NextToken: about['NextToken'], TagResources: { TagResource } };
  },
});

function thingsOf(input: {
  readonly ResourceType: string;
  readonly ResourceId: readonly string[];
}): readonly Tagged[] {
  const kind = kindOf(input.ResourceType);
  return [...new Set(input.ResourceId)].map((id) => ({ kind, id }));
}

function kindOf(type: string): RecordKind {
  const kind = kinds.get(type.toLowerCase());
  if (kind === undefined) throw invalidParameter('ResourceType.NotFound');
  return kind;
}

export const tagActions = { TagResources: add, UntagResources: remove, ListTagResources: list };
