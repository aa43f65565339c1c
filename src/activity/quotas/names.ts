const common = [
  'nc_app_count',
  'nc_private_cloud_count',
  'nc_resource_count',
  'nc_service_project_link_count',
  'nc_snapshot_size',
  'nc_storage_count',
  'nc_vm_count',
  'nc_volume_size',
] as const;

/** The quotas of every object of a kind (events.md 2.1). */
export const quotaNames = {
  customer: [...common, 'nc_project_count', 'nc_service_count', 'nc_user_count'],
  project: [...common, 'nc_snapshot_count', 'nc_volume_count'],
  global: ['nc_global_customer_count', 'nc_global_project_count'],
} as const;
