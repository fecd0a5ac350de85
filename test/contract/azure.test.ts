import { azureMachinesRig, azureScaleSetRig } from './azure-rig.ts';
import { describeCloud } from './cloud-contract.ts';

describeCloud('Azure, for a scale set,', 'azure', azureScaleSetRig);
describeCloud('Azure, for VMs of their own,', 'azure', azureMachinesRig);
