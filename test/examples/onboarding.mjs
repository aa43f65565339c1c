/** A small application that uses Tenantry: it onboards customers and monitors their machines. The examples beside it test it. */
export class Onboarding {
  #url;
  #token;

  /** `token` belongs to a staff user. */
  constructor(url, token) {
    this.#url = url;
    this.#token = token;
  }

  /** Creates a customer with a project and an invitation for its manager; returns both. */
  async takeIn({ company, project: name, manager }) {
    const customer = await this.#send('POST', '/api/customers/', { name: company });
    const project = await this.#send('POST', '/api/projects/', { name, customer: customer.url });
    await this.#send('POST', '/api/user-invitations/', {
      email: manager,
      project: project.url,
      project_role: 'manager',
      link_template: 'https://app.example.com/welcome/{uuid}/',
    });
    return { customer, project };
  }

  /** Stops a machine. */
  stop(machine) {
    return this.#send('POST', `${machine}stop/`, {});
  }

  /** Problems that need an operator, one sentence each. */
  async troubles() {
    const machines = await this.#send('GET', '/api/resources/?state=Erred');
    return machines.map(({ error_message: message, name }) => `${name}: ${message}`);
  }

  async #send(method, path, body) {
    const response = await fetch(new URL(path, this.#url), {
      method,
      headers: { Authorization: `Token ${this.#token}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}
