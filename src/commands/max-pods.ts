// The command max-pods: asks the cloud what instance types can hold, and prints how many pods a node can have.
import { cloudOf, cloudSettings } from '../config/clouds/clouds.ts';
import type { Options } from '../config/option-table.ts';
import type { RawFlags } from '../config/raw-option.ts';
import type { Cloud } from '../controller/clouds/cloud.ts';
import { askCloud, problemWithCloud } from './cloud-access.ts';
import { exitCode } from './exit-code.ts';
import { optionsAmong, readFlags, type Values } from './flag-values.ts';
import {
  capacityLines,
  capacityOf,
  type CapacityQuestion,
  type FoundLimits,
  isKnown,
  nodeClassPart,
  type TypeCapacity,
} from './max-pods/pod-capacity.ts';
import { maxPodsKinds, maxPodsOptions } from './max-pods-description.ts';
import { printLines } from './status/print-lines.ts';

export async function maxPods(given: RawFlags): Promise<number> {
  const question = readFlags(given, maxPodsKinds);
  if (typeof question === 'string') return fail(question);
  const loaded = optionsAmong(given, maxPodsOptions);
  if (typeof loaded === 'string') return fail(loaded);
  const { options, outbound } = loaded;
  const unfit = misfitOf(question, options);
  if (unfit !== undefined) return fail(unfit);
  try {
    const capacities = await askCloud({ options, outbound, warn }, (cloud, signal) =>
      askLimits(cloud, question, { asked: askedBy(question, options, cloud), signal }),
    );
    print(capacities, question.output, options);
    return capacities.every(isKnown) ? exitCode.fine : exitCode.failure;
  } catch (error) {
    return fail(problemWithCloud(error));
  }
}

type Question = Values<typeof maxPodsKinds>;

/** Why this cloud has no answer to the question. */
function misfitOf({ type: types = [], interfaces, output }: Question, { ipam }: Options): string | undefined {
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
  { type: types = [], interfaces = 1 }: Question,
  { asked, signal }: { readonly asked: CapacityQuestion; readonly signal: AbortSignal },
): Promise<readonly TypeCapacity[]> {
  const { limits } = implementation.traits;
  if (limits !== 'byType') {
    const named = types.length === 0 ? ['any'] : types;
    return named.map((type) => capacityOf(type, { ...limits, interfaces }, asked));
  }
  const context = { caller: { priority: 'high' }, signal } as const;
  const found: ReadonlyMap<string, FoundLimits> = await implementation.readLimits(types, context);
  return types.map((type) => capacityOf(type, found.get(type), asked));
}

/** The question of a node, where its CiliumNode says nothing. */
function askedBy(question: Question, options: Options, { implementation }: Cloud): CapacityQuestion {
  const { 'first-interface-index': given, 'host-network-pods': hostNetworkPods = 2 } = question;
  const settings = cloudSettings(options);
  const ofSection = implementation.section.requirements({});
  if ('problems' in ofSection) throw new Error('a section that says nothing is readable');
  const { firstInterfaceIndex: usual, usePrimaryAddress } = ofSection.value;
  // The primary interface is in the network of the instance.
  const index = settings.scope.podNetworkId === undefined ? usual : Math.max(1, usual);
  return {
    firstInterfaceIndex: given ?? index,
    usePrimaryAddress: usePrimaryAddress || settings.usePrimaryAddress,
    prefixDelegation: settings.prefixDelegation,
    hostNetworkPods,
    mostPods: cloudOf(options.ipam)?.mostPods,
  };
}

function print(
  capacities: readonly TypeCapacity[],
  output: Question['output'] = 'text',
  { ipam }: Options,
): void {
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
