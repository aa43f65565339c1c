/** Provider accounts, their offers, and their resources. */
import { connected, dataOf, keyOf, type Schema } from './client.ts';

const api = connected();

const customer = await dataOf(api.POST('/api/customers/', { body: { name: 'Alice' } }));
const project = await dataOf(api.POST('/api/projects/', { body: { name: 'Web shop', customer: customer.url } }));
const certification = await dataOf(api.POST('/api/service-certifications/', { body: { name: 'ISO 27001' } }));
const settings = await dataOf(
  api.POST('/api/service-settings/', { body: { name: 'Droplets', type: 'DigitalOcean', customer: customer.url } }),
);
const service = await dataOf(
  api.POST('/api/digitalocean/', { body: { name: 'Droplets', customer: customer.url, settings: settings.url } }),
);
await dataOf(
  api.POST('/api/digitalocean-service-project-link/', { body: { project: project.url, service: service.url } }),
);

/** A resource of any type, discriminated by its type. */
const summary = (resource: Schema<'AnyResource'>): string => {
  if (resource.resource_type === 'DigitalOcean.Droplet') return `${resource.name}: ${resource.cores} cores`;
  if (resource.resource_type === 'OpenStack.Tenant') return `${resource.name}: ${resource.quotas.length} quotas`;
  return resource.name;
};

const catalogue = await Promise.all([
  dataOf(api.GET('/api/aws-images/')),
  dataOf(api.GET('/api/aws-regions/')),
  dataOf(api.GET('/api/aws-sizes/')),
  dataOf(api.GET('/api/digitalocean-images/')),
  dataOf(api.GET('/api/digitalocean-regions/')),
  dataOf(api.GET('/api/digitalocean-sizes/')),
  dataOf(api.GET('/api/jira-project-templates/')),
  dataOf(api.GET('/api/jira-issue-types/')),
  dataOf(api.GET('/api/jira-priorities/')),
  dataOf(api.GET('/api/openstack-flavors/')),
  dataOf(api.GET('/api/openstack-images/')),
  dataOf(api.GET('/api/oracle-zones/')),
  dataOf(api.GET('/api/oracle-templates/')),
]);
const connections = await Promise.all([
  dataOf(api.GET('/api/service-settings/')),
  dataOf(api.GET('/api/service-certifications/')),
  dataOf(api.GET('/api/services/')),
  dataOf(api.GET('/api/aws/')),
  dataOf(api.GET('/api/digitalocean/')),
  dataOf(api.GET('/api/gitlab/')),
  dataOf(api.GET('/api/jira/')),
  dataOf(api.GET('/api/openstack/')),
  dataOf(api.GET('/api/oracle/')),
  dataOf(api.GET('/api/aws-service-project-link/')),
  dataOf(api.GET('/api/digitalocean-service-project-link/')),
  dataOf(api.GET('/api/gitlab-service-project-link/')),
  dataOf(api.GET('/api/jira-service-project-link/')),
  dataOf(api.GET('/api/openstack-service-project-link/')),
  dataOf(api.GET('/api/oracle-service-project-link/')),
]);
const resources = await Promise.all([
  dataOf(api.GET('/api/aws-instances/')),
  dataOf(api.GET('/api/aws-volumes/')),
  dataOf(api.GET('/api/digitalocean-droplets/', { params: { query: { project_uuid: project.uuid, state: ['OK'] } } })),
  dataOf(api.GET('/api/gitlab-groups/')),
  dataOf(api.GET('/api/gitlab-projects/')),
  dataOf(api.GET('/api/jira-projects/')),
  dataOf(api.GET('/api/openstack-tenants/')),
  dataOf(api.GET('/api/openstack-instances/')),
  dataOf(api.GET('/api/openstack-volumes/')),
  dataOf(api.GET('/api/openstack-snapshots/')),
  dataOf(api.GET('/api/openstack-security-groups/')),
  dataOf(api.GET('/api/openstack-floating-ips/')),
  dataOf(api.GET('/api/openstack-networks/')),
  dataOf(api.GET('/api/openstack-subnets/')),
  dataOf(api.GET('/api/oracle-databases/')),
  dataOf(api.GET('/api/jira-issues/')),
  dataOf(api.GET('/api/jira-comments/')),
  dataOf(api.GET('/api/jira-attachments/')),
  dataOf(api.GET('/api/resource-sla/')),
  dataOf(api.GET('/api/monitoring-items/')),
]);
const all = await dataOf(
  api.GET('/api/resources/', { params: { query: { resource_type: ['DigitalOcean.Droplet'], tag: ['blue'] } } }),
);
const types = await dataOf(api.GET('/api/service-metadata/'));
const rules: Schema<'SecurityGroupRule'>[] = (await dataOf(api.GET('/api/openstack-security-groups/'))).flatMap(
  (group) => group.rules,
);

// Creating and controlling a machine, for the compiler only.
void (async () => {
  const droplet = await dataOf(
    api.POST('/api/digitalocean-droplets/', {
      body: { name: 'web-1', service_project_link: '/', region: '/', image: '/', size: '/' },
    }),
  );
  await dataOf(api.POST('/api/digitalocean-droplets/{key}/stop/', { params: keyOf(droplet) }));
  // @ts-expect-error a size is required
  await api.POST('/api/digitalocean-droplets/{key}/resize/', { params: keyOf(droplet), body: {} });
});

console.log(
  JSON.stringify({
    certification: certification.name,
    state: settings.state,
    catalogue: catalogue.length,
    connections: connections.map((list) => list.length),
    resources: resources.reduce((sum, list) => sum + list.length, 0),
    summaries: all.map(summary),
    types: Object.keys(types),
    rules: rules.length,
  }),
);
