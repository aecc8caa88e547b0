import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { withBuiltPackage } from './build.ts';
import { Failure, reportFailure } from './failure.mjs';
import { modulesFolder } from './link.ts';
import { runNode } from './run-node.ts';
import { pageWithScopes, type SecuredContract, type SecuredMenu, scopesFile } from './scopes.ts';

/** npm run contract: writes the files derived from the sandbox's schemas, and the scopes that each operation needs. */
async function main(): Promise<void> {
	if (!(await runNode([resolve('sandbox', 'contract.ts')]))) throw new Failure('The contract was not written.');
	await withBuiltPackage(async () => {
		const contract = JSON.parse(readFileSync('contract/openapi.json', 'utf8')) as SecuredContract;
		const require = createRequire(import.meta.url);
		const { resources } = require(join(modulesFolder, 'nodes/CrmPlatform/resources/index.js')) as { resources: SecuredMenu[] };
		writeFileSync(scopesFile, pageWithScopes(readFileSync(scopesFile, 'utf8'), contract, resources));
	});
}

main().catch(reportFailure);
