import { faults } from '../../../vendors/faults.ts';
import { faultyVendors } from '../../../vendors/faulty-vendors.ts';

faults(faultyVendors.openstack);
