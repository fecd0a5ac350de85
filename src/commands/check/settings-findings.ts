// Faults of the options, in the words of the process that would take them. Pure.
import { askedNameTag } from '../../config/cluster-name.ts';
import type { LoadedOptions } from '../../config/load-options.ts';
import { type OptionName, type Options, propertyOf } from '../../config/option-table.ts';
import type { OptionWarning } from '../../config/option-warnings.ts';
import { type Finding, rowsAbout } from './finding.ts';

const rows = rowsAbout('options');

export function settingsFindings(loaded: LoadedOptions): readonly Finding[] {
  if (loaded.kind === 'refused')
    return loaded.problems.map((problem) =>
      rows.problem(problem, 'correct it: Headwater does not start with it'),
    );
  const { options, texts, warnings } = loaded;
  return [
    rows.ok(`accepted: --ipam=${options.ipam}, and options that are set: ${texts.size}`),
    ...warnings.map(findingOf),
  ];
}

/** Details of a log line, as the rest of a sentence. */
function findingOf({ message, details }: OptionWarning): Finding {
  const { remedy, because, cost, option, reason } = details;
  const parts = [option === undefined ? undefined : `--${option}`, because ?? cost ?? reason];
  const why = parts.filter((part) => part !== undefined).join(': ');
  const found = why === '' ? message : `${message} (${why})`;
  return rows.warning(found, remedy === undefined ? undefined : String(remedy));
}

/** The options of agents beside Headwater: those of one name, in the ConfigMap of Cilium. */
export type CiliumConfig = Readonly<Record<string, string>>;

const shared = {
  ipam: {
    verdict: 'problem',
    effect: 'agents of another mode never use what Headwater gives them',
  },
  'cluster-name': {
    verdict: 'warning',
    effect: 'the tags of interfaces name another cluster, and those that cilium-operator left are not found',
  },
} as const satisfies Partial<Record<OptionName, unknown>>;

export function ciliumConfigFindings(
  config: CiliumConfig,
  options: Pick<Options, 'ipam' | 'clusterName'>,
): readonly Finding[] {
  return (['ipam', 'cluster-name'] as const).flatMap((name) => {
    const [theirs, ours] = [config[name], options[propertyOf(name) as 'ipam' | 'clusterName']];
    // The name in a tag is compared once it is read.
    const isOpen = name === 'cluster-name' && askedNameTag(options) !== undefined;
    if (theirs === undefined || theirs === ours || isOpen) return [];
    const { verdict, effect } = shared[name];
    const found = `the agents have ${name}=${theirs} by the ConfigMap cilium-config, and Headwater ${ours}: ${effect}`;
    return [rows[verdict](found, `set --${name} to the same, or mount cilium-config as --config-dir`)];
  });
}
