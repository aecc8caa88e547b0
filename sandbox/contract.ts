import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scopes } from './domain/access/scopes.ts';
import { createApp } from './app.ts';
import { choicesOf } from './api/openapi/choices.ts';
import { resources } from './core/schemas/index.ts';
import { webhooks } from './core/schemas/webhooks.ts';
import { Store } from './core/store/store.ts';

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
