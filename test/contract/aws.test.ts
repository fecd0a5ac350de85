import { awsRig } from './aws-rig.ts';
import { describeCloud } from './cloud-contract.ts';

describeCloud('AWS', 'eni', awsRig);
