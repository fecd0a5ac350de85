// The clouds, by the value of the option ipam: the mode of the agents, which names the cloud.
import { alibaba } from './alibaba.ts';
import { aws } from './aws.ts';
import { azure } from './azure.ts';
import type { CloudDescriptor, CloudSettings } from './cloud-descriptor.ts';

export const clouds = { eni: aws, azure, alibabacloud: alibaba } as const;

export type CloudMode = keyof typeof clouds;

export const cloudModes = Object.keys(clouds) as readonly CloudMode[] as readonly [CloudMode, ...CloudMode[]];

/** The modes of clouds where Headwater makes interfaces. */
export const makesInterfaces = cloudModes.filter((mode) => clouds[mode].interfaces === 'made');

export function isCloudMode(mode: string): mode is CloudMode {
  return Object.hasOwn(clouds, mode);
}

/** Undefined for a mode without a cloud. */
export function cloudOf(mode: string): CloudDescriptor<never> | undefined {
  return isCloudMode(mode) ? clouds[mode] : undefined;
}

type SettingsOptions = Parameters<(typeof clouds)[CloudMode]['settings']>[0];

/** Only for the mode of a cloud. */
export function cloudSettings(
  options: UnionToIntersection<SettingsOptions> & { readonly ipam: string },
): CloudSettings {
  if (!isCloudMode(options.ipam)) throw new Error('blocks to nodes have no cloud');
  return clouds[options.ipam].settings(options);
}

type UnionToIntersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;
