// What the counts of the model of a cloud say. Pure.
import type { CallCounts } from './rig/cloud-process.ts';

/** Calls that the cloud was sent by kind; throttled ones are calls too. */
export interface CallFigures {
  readonly calls: number;
  /** Without ModifyNetworkInterfaceAttribute, which is counted apart. */
  readonly mutating: number;
  readonly modify: number;
  readonly reads: number;
  readonly throttled: number;
  /** CreateNetworkInterface calls that were not refused. */
  readonly created: number;
}

/** Azure's operations are named with their resource: `VirtualMachineScaleSetVMs.Get`. */
const isRead = (action: string): boolean => /^(\w+\.)?(Describe|Get|List)/.test(action);

export function callFigures(counts: CallCounts): CallFigures {
  const sum = (wanted: (action: string) => boolean): number =>
    Object.entries(counts).reduce((total, [action, { calls }]) => total + (wanted(action) ? calls : 0), 0);
  const modify = counts['ModifyNetworkInterfaceAttribute']?.calls ?? 0;
  const create = counts['CreateNetworkInterface'];
  return {
    calls: sum(() => true),
    mutating: sum((action) => !isRead(action)) - modify,
    modify,
    reads: sum(isRead),
    throttled: Object.values(counts).reduce((total, { throttled }) => total + throttled, 0),
    created: create === undefined ? 0 : create.calls - create.refused - create.throttled - create.lost,
  };
}

/** What came in between two counts. */
export function callsBetween(before: CallCounts, after: CallCounts): CallCounts {
  return Object.fromEntries(
    Object.entries(after).map(([action, now]) => {
      const then = before[action] ?? { calls: 0, refused: 0, throttled: 0, lost: 0 };
      return [
        action,
        {
          calls: now.calls - then.calls,
          refused: now.refused - then.refused,
          throttled: now.throttled - then.throttled,
          lost: now.lost - then.lost,
        },
      ];
    }),
  );
}

/** `CreateNetworkInterface 1000, AttachNetworkInterface 1000`: what was called at all, with refusals. */
export function callsInWords(counts: CallCounts): string {
  return Object.entries(counts)
    .filter(([, { calls }]) => calls > 0)
    .map(([action, { calls, refused, throttled }]) => {
      const bad = [refused > 0 ? `${refused} refused` : '', throttled > 0 ? `${throttled} throttled` : ''];
      const words = bad.filter((each) => each !== '').join(', ');
      return words === '' ? `${action} ${calls}` : `${action} ${calls} (${words})`;
    })
    .join(', ');
}
