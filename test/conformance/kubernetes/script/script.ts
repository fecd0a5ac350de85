// The whole script. The parts build on each other: `creating` creates the CiliumNode a1, which most of the others use.
import type { Step } from '../step.ts';
import { core } from './core.ts';
import { creating } from './creating.ts';
import { deleting } from './deleting.ts';
import { leasesAndEvents } from './leases-and-events.ts';
import { listing } from './listing.ts';
import { managing } from './managing.ts';
import { patching } from './patching.ts';
import { podSteps } from './pods.ts';
import { refusing } from './refusing.ts';
import { showing } from './showing.ts';
import { updating } from './updating.ts';
import { validating } from './validating.ts';
import { watching } from './watching.ts';

export const script: readonly Step[] = [
  ...creating,
  ...validating,
  ...updating,
  ...patching,
  ...managing,
  ...deleting,
  ...listing,
  ...watching,
  ...core,
  ...podSteps,
  ...leasesAndEvents,
  ...showing,
  ...refusing,
];
