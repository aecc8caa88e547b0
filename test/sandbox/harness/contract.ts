import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file of the contract. `contract.test.ts` checks that it is up to date. */
export const contractFile = (name: string): ReturnType<typeof JSON.parse> =>
	JSON.parse(readFileSync(join(__dirname, '../../../contract', name), 'utf8'));

/** The OpenAPI document of the service. */
export const document = contractFile('openapi.json');
