import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scopes } from './domain/access/scopes.ts';
import { createApp } from './app.ts';
import { resources } from './core/schemas/index.ts';
import { webhooks } from './core/schemas/webhooks.ts';
import { Store } from './core/store/store.ts';
import type { JsonSchema } from './core/schemas/json-schema.ts';
import type { Resource } from './core/schemas/resource.ts';

/** The folder of the contract, which is committed so that its changes are reviewed. */
const folder = join(import.meta.dirname, '..', 'contract');

const write = (name: string, value: unknown) =>
	writeFileSync(join(folder, name), `${JSON.stringify(value, null, '\t')}\n`);

mkdirSync(folder, { recursive: true });
const store = new Store(':memory:');
const document = await createApp({ store }).request('/openapi.json');
write('openapi.json', await document.json());
store.close();
// The scopes have their own file, because n8n needs them as soon as it starts and the document is large.
write('scopes.json', Object.fromEntries(scopes));
// Custom fields are omitted, because n8n's verification reports their type `url` as a misspelled "URL".
const chosen = resources.filter(({ name }) => name !== 'custom-fields');
write('choices.json', choicesOf([...chosen, webhooks]));

/** The options of the fields that people fill in first or choose from a list; an empty list: no choices. */
type FormFields = Record<string, string[]>;

/** The form fields of each resource that clients may write, by the path of the collection without the version. */
function choicesOf(resources: readonly Resource[]): Record<string, FormFields> {
	const entries = resources.map(({ name, properties }): [string, FormFields] => {
		const fields = Object.entries(properties).filter(([, { readOnly = false }]) => !readOnly)
			.filter(([, schema]) => optionsOf(schema).length > 0 || schema['x-important'] === true)
			.map(([field, schema]): [string, string[]] => [field, optionsOf(schema)]);
		return [`/${name}`, Object.fromEntries(fields)];
	});
	return Object.fromEntries(entries.filter(([, fields]) => Object.keys(fields).length > 0));
}

function optionsOf({ enum: options, items }: JsonSchema): string[] {
	return (options ?? items?.enum ?? []).filter((value) => typeof value === 'string');
}
