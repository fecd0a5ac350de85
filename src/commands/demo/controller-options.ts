// Defines the controller flags of the demonstration: endpoints, and the deviations from the defaults that make it fit
// into a minute.
import { type OptionName, optionTable } from '../../config/option-table.ts';

interface UnlikeDefault {
  readonly name: OptionName;
  readonly value: string;
  readonly why: string;
}

/** `lease`: how long the Lease lasts, in seconds. */
function inEveryCloud(lease: number): readonly UnlikeDefault[] {
  return [
    { name: 'serve-addr', value: '127.0.0.1:0', why: 'a port that is free' },
    { name: 'cloud-call-timeout', value: '8s', why: 'a lost answer is settled after this and the next' },
    { name: 'consistency-window', value: '4s', why: 'this cloud lags by a second at most' },
    { name: 'leader-election-lease-duration', value: `${lease}s`, why: 'a dead leader is missed sooner' },
    { name: 'leader-election-renew-deadline', value: `${lease - 2}s`, why: 'must be less than the lease' },
    { name: 'leader-election-retry-period', value: '1s', why: 'the lease is renewed more often' },
  ];
}

const collecting: UnlikeDefault = {
  name: 'cluster-name',
  value: 'demo',
  why: 'orphaned interfaces are deleted for a cluster with a name only',
};

const unlikeDefaults = {
  aws: [
    collecting,
    { name: 'aws-release-excess-ips', value: 'true', why: 'nothing is released without it' },
    { name: 'excess-ip-release-delay', value: '3', why: 'seconds that an excess must last' },
    { name: 'release-quarantine', value: '7500ms', why: 'the agents here are 10 times faster than in life' },
    ...inEveryCloud(8),
  ],
  azure: [
    { name: 'ipam', value: 'azure', why: 'the mode of the agents' },
    { name: 'azure-release-excess-ips', value: 'true', why: 'nothing is released without it' },
    { name: 'excess-ip-release-delay', value: '3', why: 'seconds that an excess must last' },
    { name: 'release-quarantine', value: '7500ms', why: 'the agents here are 10 times faster than in life' },
    ...inEveryCloud(8),
  ],
  alibaba: [
    { name: 'ipam', value: 'alibabacloud', why: 'the mode of the agents' },
    collecting,
    { name: 'eni-gc-interval', value: '5s', why: 'a minute detached is enough to be deleted' },
    { name: 'alibaba-cloud-release-excess-ips', value: 'true', why: 'nothing is released without it' },
    { name: 'excess-ip-release-delay', value: '3', why: 'seconds that an excess must last' },
    {
      name: 'cloud-quota-overrides',
      value: 'AssignPrivateIpAddresses=1600:26',
      why: 'agents that are 10 times faster ask more often',
    },
    ...inEveryCloud(7),
  ],
} as const satisfies Record<string, readonly UnlikeDefault[]>;

export type DemoCloudName = keyof typeof unlikeDefaults;

export const demoCloudNames = Object.keys(unlikeDefaults) as readonly DemoCloudName[];

/** All flags of the controller. `places`: those that say where the embedded parts are. */
export function controllerFlags(cloud: DemoCloudName, places: readonly string[]): readonly string[] {
  return [...places, ...unlikeDefaults[cloud].map(flagOf)];
}

/** A line for each option that deviates from its default, with the default. */
export function unlikeDefaultLines(cloud: DemoCloudName): readonly string[] {
  const unlike: readonly UnlikeDefault[] = unlikeDefaults[cloud];
  const width = Math.max(...unlike.map((option) => flagOf(option).length));
  const max = Math.max(...unlike.map(({ name }) => defaultOf(name).length));
  return unlike.map((option) => {
    const [flag, fallback] = [flagOf(option).padEnd(width), defaultOf(option.name).padEnd(max)];
    return `  ${flag}  default: ${fallback}  ${option.why}`;
  });
}

function flagOf({ name, value }: UnlikeDefault): string {
  return `--${name}=${value}`;
}

function defaultOf(name: OptionName): string {
  const { default: fallback = 'unset' } = optionTable[name];
  return typeof fallback === 'string' ? fallback : fallback.words;
}
