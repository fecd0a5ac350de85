import { azureMachinesRig, azureScaleSetRig } from './azure-rig.ts';
import { describeCloud } from './cloud-contract.ts';

describeCloud('Azure, for a scale set,', azureScaleSetRig);
describeCloud('Azure, for VMs of their own,', azureMachinesRig);
