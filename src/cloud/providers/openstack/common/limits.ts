/** Quotas of a tenant with the provider's default limits (providers.md 4.3); sizes in MiB. */
export const firstLimits = {
  vcpu: 20,
  ram: 51_200,
  storage: 1_024_000,
  instances: 30,
  security_group_count: 100,
  security_group_rule_count: 100,
  floating_ip_count: 50,
  volumes: 50,
  snapshots: 50,
  network_count: 10,
  subnet_count: 10,
  volumes_size: -1,
  snapshots_size: -1,
} as const;
