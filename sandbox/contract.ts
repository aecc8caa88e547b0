import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scopes } from './oauth/scopes.ts';
import { openApiDocument } from './openapi/document.ts';

/** Writes the contract into contract/, so that a change of it shows in review. */
const folder = join(import.meta.dirname, '..', 'contract');

const write = (name: string, value: object) =>
	writeFileSync(join(folder, name), `${JSON.stringify(value, null, '\t')}\n`);

mkdirSync(folder, { recursive: true });
write('openapi.json', openApiDocument());
// By itself, since a credential needs it as soon as n8n starts, and the document is large.
write('scopes.json', Object.fromEntries(scopes));
