import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from './openapi/document.ts';

/** Writes contract/openapi.json, so that a change of the contract shows in review. */
const folder = join(import.meta.dirname, '..', 'contract');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'openapi.json'), `${JSON.stringify(openApiDocument(), null, '\t')}\n`);
