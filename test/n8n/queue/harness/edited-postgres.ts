import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { EditedSystem, Person } from '../../harness/edited-system.ts';
import { psqlCommand } from './postgres.ts';

/** A table of people in PostgreSQL, as an application without knowledge of n8n has it. */
export class EditedPostgres implements EditedSystem {
	private readonly port: number;
	private readonly table: string;

	constructor(port: number, table: string) {
		this.port = port;
		this.table = table;
	}

	async create(): Promise<void> {
		await this.ask(`create table ${this.table} (
			id serial primary key, email text not null unique, name text,
			crm_id text unique, crm_version integer, synced text,
			"updatedAt" timestamptz(3) not null default now())`);
	}

	async people(): Promise<Person[]> {
		const columns = `json_build_object('email', email, 'name', name, 'version', crm_version)`;
		return JSON.parse((await this.ask(`select json_agg(${columns}) from ${this.table}`)) || '[]') as Person[];
	}

	async stored(): Promise<unknown> {
		return await this.ask(`select * from ${this.table} order by id`);
	}

	async add(email: string, name: string): Promise<void> {
		await this.ask(`insert into ${this.table} (email, name) values ('${email}', '${name}')`);
	}

	async rename(email: string, name: string): Promise<boolean> {
		const changed = await this.ask(`update ${this.table} set name = '${name}', "updatedAt" = now()
			where email = '${email}' and name is distinct from '${name}' returning id`);
		return changed !== '';
	}

	private async ask(query: string): Promise<string> {
		const { stdout } = await promisify(execFile)(...psqlCommand(this.port, query));
		return stdout.trim();
	}
}
