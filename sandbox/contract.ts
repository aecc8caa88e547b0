import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scopes } from './access/scopes.ts';
import { choicesOf } from './openapi/choices.ts';
import { openApiDocument } from './openapi/document.ts';
import { resources } from './schemas/index.ts';
import { webhooks } from './schemas/webhooks.ts';

/** Writes the contract into contract/, so that a change of it shows in review. */
const folder = join(import.meta.dirname, '..', 'contract');

const write = (name: string, value: object) =>
	writeFileSync(join(folder, name), `${JSON.stringify(value, null, '\t')}\n`);

mkdirSync(folder, { recursive: true });
write('openapi.json', openApiDocument());
// By themselves, since n8n needs them as soon as it starts, and the document is large.
write('scopes.json', Object.fromEntries(scopes));
// Not those of custom fields: n8n's gate takes their type `url` for a word in the wrong case.
const chosen = resources.filter(({ name }) => name !== 'custom-fields');
write('choices.json', choicesOf([...chosen, webhooks]));
