// What is wrong with the options, in the words of the process that would take them. Pure.
import type { LoadedOptions } from '../../config/load-options.ts';
import type { OptionWarning } from '../../config/option-warnings.ts';
import { type Finding, finding, ok } from './finding.ts';

const what = 'options';

export function settingsFindings(loaded: LoadedOptions): readonly Finding[] {
  if (loaded.kind === 'refused')
    return loaded.problems.map((problem) =>
      finding('problem', what, problem, 'correct it: Headwater does not start with it'),
    );
  const { options, texts, warnings } = loaded;
  return [
    ok(what, `accepted: --ipam=${options.ipam}, and options that are set: ${texts.size}`),
    ...warnings.map(findingOf),
  ];
}

/** Details of a log line, as the rest of a sentence. */
function findingOf({ message, details }: OptionWarning): Finding {
  const { remedy, because, cost, option, reason } = details;
  const parts = [option === undefined ? undefined : `--${option}`, because ?? cost ?? reason];
  const why = parts.filter((part) => part !== undefined).join(': ');
  const found = why === '' ? message : `${message} (${why})`;
  return finding('warning', what, found, remedy === undefined ? undefined : String(remedy));
}
