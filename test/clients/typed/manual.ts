import createClient from 'openapi-fetch';
import type { paths } from 'tenantry';

const api = createClient<paths>({
  baseUrl: process.env.TENANTRY_URL ?? 'http://127.0.0.1:8080',
  headers: { Authorization: `Token ${process.env.TENANTRY_TOKEN}` },
});

const { data: customer, error } = await api.POST('/api/customers/', { body: { name: 'Alice Ltd', country: 'EE' } });
if (error) throw new Error(JSON.stringify(error));
const { data: customers = [] } = await api.GET('/api/customers/', {
  params: { query: { name: 'alice', o: ['name'] } },
});
console.log(JSON.stringify({ country: customer.country_name, names: customers.map(({ name }) => name) }));
