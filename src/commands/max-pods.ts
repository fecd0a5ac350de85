// The command max-pods: asks the cloud what instance types can hold, and prints how many pods a node can have.
import { cloudOf, cloudSettings } from '../config/clouds/clouds.ts';
import { loadOptions } from '../config/load-options.ts';
import type { Options } from '../config/option-table.ts';
import { thisProcess } from '../config/process-environment.ts';
import type { RawFlags } from '../config/raw-option.ts';
import { integer, list, oneOf, type ValueKind } from '../config/value-kinds.ts';
import type { Cloud } from '../controller/clouds/cloud.ts';
import { askCloud, problemWithCloud } from './cloud-access.ts';
import { exitCode } from './exit-code.ts';
import {
  capacityLines,
  capacityOf,
  type CapacityQuestion,
  type FoundLimits,
  isKnown,
  nodeClassPart,
  type TypeCapacity,
} from './max-pods/pod-capacity.ts';
import { maxPodsOptions } from './max-pods-description.ts';
import { printLines } from './status/print-lines.ts';

export async function maxPods(given: RawFlags): Promise<number> {
  const read = questionIn(given);
  if ('problem' in read) return fail(read.problem);
  const { question } = read;
  const flags = new Map([...given].filter(([name]) => maxPodsOptions.some((known) => known === name)));
  const loaded = loadOptions(flags, thisProcess, { checks: { problems: () => [], warnings: () => [] } });
  if (loaded.kind === 'refused') return fail(loaded.problems.join('; '));
  const { options, outbound } = loaded;
  const unfit = misfitOf(question, options);
  if (unfit !== undefined) return fail(unfit);
  try {
    const capacities = await askCloud({ options, outbound, warn }, (cloud, signal) =>
      askLimits(cloud, { question, options, signal }),
    );
    print(capacities, question.output, options);
    return capacities.every(isKnown) ? exitCode.fine : exitCode.failure;
  } catch (error) {
    return fail(problemWithCloud(error));
  }
}

interface Question {
  readonly types: readonly string[];
  readonly firstInterfaceIndex: number | undefined;
  readonly interfaces: number | undefined;
  readonly hostNetworkPods: number;
  readonly output: 'text' | 'json' | 'karpenter';
}

const kinds = {
  type: list('type,...', /^[\w.-]{1,64}$/, 'names of instance types, separated by commas or spaces'),
  'first-interface-index': integer({ min: 0, max: 255 }),
  interfaces: integer({ min: 1, max: 64 }),
  'host-network-pods': integer({ min: 0, max: 1000 }),
  output: oneOf(['text', 'json', 'karpenter']),
} as const satisfies Record<string, ValueKind<unknown>>;

function questionIn(given: RawFlags): { readonly question: Question } | { readonly problem: string } {
  const problems: string[] = [];
  const read = <T>(name: keyof typeof kinds, kind: ValueKind<T>): T | undefined => {
    const values = (given.get(name) ?? []).map((text) => {
      const value = kind.parse(text);
      if (value === undefined || (Array.isArray(value) && value.length === 0))
        problems.push(`--${name} is ${JSON.stringify(text)}; accepted: ${kind.accepts}`);
      return value;
    });
    const parsed = values.filter((value) => value !== undefined);
    return kind.combine === undefined || parsed.length === 0 ? parsed.at(-1) : kind.combine(parsed);
  };
  const question: Question = {
    types: read('type', kinds.type) ?? [],
    firstInterfaceIndex: read('first-interface-index', kinds['first-interface-index']),
    interfaces: read('interfaces', kinds.interfaces),
    hostNetworkPods: read('host-network-pods', kinds['host-network-pods']) ?? 2,
    output: read('output', kinds.output) ?? 'text',
  };
  return problems.length > 0 ? { problem: problems.join('; ') } : { question };
}

/** Why this cloud has no answer to the question. */
function misfitOf({ types, interfaces, output }: Question, { ipam }: Options): string | undefined {
  const cloud = cloudOf(ipam);
  if (cloud === undefined)
    return `--ipam=${ipam} has no cloud: there, the size of the blocks says how many pods a node can have`;
  const isByType = cloud.interfaces === 'made';
  if (isByType && types.length === 0) return 'name instance types by --type, such as --type=m6i.large';
  if (isByType && interfaces !== undefined)
    return `--interfaces is for clouds that give machines their interfaces; with --ipam=${ipam}, the type says how many there can be`;
  if (output === 'karpenter' && cloud.nodeClass === undefined)
    return `--output is "karpenter"; accepted with --ipam=${ipam}: text, json`;
  return undefined;
}

async function askLimits(
  { implementation }: Cloud,
  {
    question,
    options,
    signal,
  }: { readonly question: Question; readonly options: Options; readonly signal: AbortSignal },
): Promise<readonly TypeCapacity[]> {
  const { traits, section } = implementation;
  const { types, interfaces = 1, hostNetworkPods } = question;
  const settings = cloudSettings(options);
  const ofSection = section.requirements({});
  if ('problems' in ofSection) throw new Error('a section that says nothing is readable');
  const { firstInterfaceIndex, usePrimaryAddress } = ofSection.value;
  const asked: CapacityQuestion = {
    firstInterfaceIndex: question.firstInterfaceIndex ?? firstInterfaceIndex,
    usePrimaryAddress: usePrimaryAddress || settings.usePrimaryAddress,
    prefixDelegation: settings.prefixDelegation,
    hostNetworkPods,
    mostPods: cloudOf(options.ipam)?.mostPods,
  };
  const { limits } = traits;
  if (limits !== 'byType') {
    const named = types.length === 0 ? ['any'] : types;
    return named.map((type) => capacityOf(type, { ...limits, interfaces }, asked));
  }
  const found: ReadonlyMap<string, FoundLimits> = await implementation.readLimits(types, {
    caller: { priority: 'high' },
    signal,
  });
  return types.map((type) => capacityOf(type, found.get(type), asked));
}

function print(capacities: readonly TypeCapacity[], output: Question['output'], { ipam }: Options): void {
  if (output === 'text') return printLines((width) => capacityLines(capacities, width));
  if (output === 'json') return void process.stdout.write(`${JSON.stringify({ types: capacities })}\n`);
  const { nodeClass } = cloudOf(ipam) ?? {};
  const part = nodeClass && nodeClassPart(capacities, nodeClass);
  process.stdout.write(part ?? '');
  for (const capacity of capacities) if (!isKnown(capacity)) warn(`${capacity.type}: ${capacity.problem}`);
}

function warn(message: string): void {
  process.stderr.write(`headwater max-pods: ${message}\n`);
}

function fail(problem: string): number {
  warn(problem);
  return exitCode.unanswered;
}
