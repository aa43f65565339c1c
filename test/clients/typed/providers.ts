/** Provider accounts, what they offer, and what runs there. */
import { answer, connected, keyOf, type Schema } from './client.ts';

const api = connected();

const customer = await answer(api.POST('/api/customers/', { body: { name: 'Alice' } }));
const project = await answer(api.POST('/api/projects/', { body: { name: 'Web shop', customer: customer.url } }));
const certification = await answer(api.POST('/api/service-certifications/', { body: { name: 'ISO 27001' } }));
const settings = await answer(
  api.POST('/api/service-settings/', { body: { name: 'Droplets', type: 'DigitalOcean', customer: customer.url } }),
);
const service = await answer(
  api.POST('/api/digitalocean/', { body: { name: 'Droplets', customer: customer.url, settings: settings.url } }),
);
await answer(
  api.POST('/api/digitalocean-service-project-link/', { body: { project: project.url, service: service.url } }),
);

/** A resource of any type, told apart by its type. */
const summary = (resource: Schema<'AnyResource'>): string => {
  if (resource.resource_type === 'DigitalOcean.Droplet') return `${resource.name}: ${resource.cores} cores`;
  if (resource.resource_type === 'OpenStack.Tenant') return `${resource.name}: ${resource.quotas.length} quotas`;
  return resource.name;
};

const catalogue = await Promise.all([
  answer(api.GET('/api/aws-images/')),
  answer(api.GET('/api/aws-regions/')),
  answer(api.GET('/api/aws-sizes/')),
  answer(api.GET('/api/digitalocean-images/')),
  answer(api.GET('/api/digitalocean-regions/')),
  answer(api.GET('/api/digitalocean-sizes/')),
  answer(api.GET('/api/jira-project-templates/')),
  answer(api.GET('/api/jira-issue-types/')),
  answer(api.GET('/api/jira-priorities/')),
  answer(api.GET('/api/openstack-flavors/')),
  answer(api.GET('/api/openstack-images/')),
  answer(api.GET('/api/oracle-zones/')),
  answer(api.GET('/api/oracle-templates/')),
]);
const connections = await Promise.all([
  answer(api.GET('/api/service-settings/')),
  answer(api.GET('/api/service-certifications/')),
  answer(api.GET('/api/services/')),
  answer(api.GET('/api/aws/')),
  answer(api.GET('/api/digitalocean/')),
  answer(api.GET('/api/gitlab/')),
  answer(api.GET('/api/jira/')),
  answer(api.GET('/api/openstack/')),
  answer(api.GET('/api/oracle/')),
  answer(api.GET('/api/aws-service-project-link/')),
  answer(api.GET('/api/digitalocean-service-project-link/')),
  answer(api.GET('/api/gitlab-service-project-link/')),
  answer(api.GET('/api/jira-service-project-link/')),
  answer(api.GET('/api/openstack-service-project-link/')),
  answer(api.GET('/api/oracle-service-project-link/')),
]);
const resources = await Promise.all([
  answer(api.GET('/api/aws-instances/')),
  answer(api.GET('/api/aws-volumes/')),
  answer(api.GET('/api/digitalocean-droplets/', { params: { query: { project_uuid: project.uuid, state: ['OK'] } } })),
  answer(api.GET('/api/gitlab-groups/')),
  answer(api.GET('/api/gitlab-projects/')),
  answer(api.GET('/api/jira-projects/')),
  answer(api.GET('/api/openstack-tenants/')),
  answer(api.GET('/api/openstack-instances/')),
  answer(api.GET('/api/openstack-volumes/')),
  answer(api.GET('/api/openstack-snapshots/')),
  answer(api.GET('/api/openstack-security-groups/')),
  answer(api.GET('/api/openstack-floating-ips/')),
  answer(api.GET('/api/openstack-networks/')),
  answer(api.GET('/api/openstack-subnets/')),
  answer(api.GET('/api/oracle-databases/')),
  answer(api.GET('/api/jira-issues/')),
  answer(api.GET('/api/jira-comments/')),
  answer(api.GET('/api/jira-attachments/')),
  answer(api.GET('/api/resource-sla/')),
  answer(api.GET('/api/monitoring-items/')),
]);
const all = await answer(
  api.GET('/api/resources/', { params: { query: { resource_type: ['DigitalOcean.Droplet'], tag: ['blue'] } } }),
);
const types = await answer(api.GET('/api/service-metadata/'));
const rules: Schema<'SecurityGroupRule'>[] = (await answer(api.GET('/api/openstack-security-groups/'))).flatMap(
  (group) => group.rules,
);

// Creating and steering a machine, as far as the compiler looks at it.
void (async () => {
  const droplet = await answer(
    api.POST('/api/digitalocean-droplets/', {
      body: { name: 'web-1', service_project_link: '/', region: '/', image: '/', size: '/' },
    }),
  );
  await answer(api.POST('/api/digitalocean-droplets/{key}/stop/', { params: keyOf(droplet) }));
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
