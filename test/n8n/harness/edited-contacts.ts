import { type KillableN8n, listAll } from './killable-n8n.ts';

/** A person in one of two systems. The email address identifies them. */
export interface Person {
	email: string;
	name: string | null;
	/** The version of the CRM's record, as the CRM has it or the other system has stored it. */
	version: number | null;
}

/** A system whose people are edited, and kept in sync with those of another system. */
export interface EditedSystem {
	people(): Promise<Person[]>;
	add(email: string, name: string): Promise<void>;
	/** @returns whether the person had another name */
	rename(email: string, name: string): Promise<boolean>;
}

type Contact = { id: string; email: string; last_name: string | null; version: number };

type ContactEvent = { request: { idempotency_key: string | null } | null; data: { object: Contact } };

/** Contacts of one domain, edited by somebody other than n8n. */
export class EditedContacts implements EditedSystem {
	private readonly ids = new Map<string, string>();

	private readonly call: KillableN8n['call'];
	private readonly domain: string;

	/** @param call calls the service */
	constructor(call: KillableN8n['call'], domain: string) {
		this.call = call;
		this.domain = domain;
	}

	async people(): Promise<Person[]> {
		const contacts = await listAll<Contact>(this.call, '/v1/contacts', `email[contains]=${this.domain}&fields=id,email,last_name,version`);
		for (const { id, email } of contacts) this.ids.set(email, id);
		return contacts.map(({ email, last_name: name, version }) => ({ email, name, version }));
	}

	async add(email: string, name: string): Promise<void> {
		const { id } = (await this.call('POST', '/v1/contacts', { email, last_name: name })) as Contact;
		this.ids.set(email, id);
	}

	async rename(email: string, name: string): Promise<boolean> {
		if (!this.ids.has(email)) await this.people();
		const path = `/v1/contacts/${this.ids.get(email)}`;
		const before = ((await this.call('GET', path)) as Contact).last_name;
		if (before === name) return false;
		await this.call('PATCH', path, { last_name: name });
		return true;
	}

	/** How often n8n has written each contact. The idempotency keys of its writes begin with its name. */
	async writesOfN8n(): Promise<Map<string, number>> {
		const events = await listAll<ContactEvent>(this.call, '/v1/events', 'type=contact.created,contact.updated,contact.deleted');
		const counts = new Map<string, number>();
		for (const { request, data } of events) {
			const { email } = data.object;
			if (!email?.endsWith(this.domain) || !request?.idempotency_key?.startsWith('n8n/')) continue;
			counts.set(email, (counts.get(email) ?? 0) + 1);
		}
		return counts;
	}
}
