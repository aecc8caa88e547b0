import { partsOnFloors, type Floor } from './floors.ts';
import type { Part } from './part.ts';

const n8n = 'n8n-workflow';

/** The connector, from the ground up. docs/development/architecture.md says what each place holds. */
const floors: Floor[] = [
	{ base: [n8n, 'node:crypto'] },
	{ values: ['luxon'], 'api/http': [n8n, 'zod', 'luxon', 'node:crypto'], 'mapping/expressions': [n8n] },
	{ fields: [n8n, 'luxon'], files: [n8n] },
	{ 'api/openapi': ['contract', 'zod'] },
	{ 'api/lists': [n8n, 'zod', 'node:crypto'] },
	{ api: [n8n, 'zod', 'node:crypto'] },
	{ 'model.ts': [n8n], 'failure.ts': [n8n], log: [n8n, 'zod'] },
	{ 'schedule.ts': [], 'output.ts': [n8n], lookUp: [n8n] },
	{ mapping: [n8n, 'luxon'] },
	{ parameters: ['contract', n8n] },
	{ reading: [n8n, 'node:crypto'] },
	{ writing: [n8n, 'node:crypto'] },
	{ nodeAsTool: [n8n, 'node:crypto'], changes: [n8n], importing: [n8n] },
	{ approval: [n8n, 'zod', 'luxon', 'node:crypto'], undo: [n8n, 'node:crypto'] },
	{ duplicates: [n8n, 'node:crypto'] },
	{ person: [n8n, 'node:crypto'] },
	{ operations: [n8n, 'node:crypto'] },
	{ resources: [] },
	{ 'sharedParameters.ts': [n8n] },
	{ 'actionProperties.ts': [n8n] },
	{
		'builderHints.ts': [n8n],
		'execute.ts': [n8n, 'node:crypto'],
		pickers: [n8n],
		toolkit: [n8n, 'zod', 'node:crypto'],
		sync: [n8n, 'node:crypto'],
		trigger: [n8n, 'zod', 'node:crypto'],
	},
	{ 'trigger/poll': [n8n, 'zod', 'luxon', 'node:crypto'], 'trigger/webhook': [n8n, 'zod', 'node:crypto'] },
	{ '*.node.ts': [n8n] },
];

/** The connector's parts, and the credentials that n8n loads beside them. */
export const connectorDesign: Record<string, Part> = {
	...partsOnFloors('nodes/CrmPlatform', floors),
	credentials: {
		files: ['credentials/*.ts'],
		imports: ['nodes/CrmPlatform/api', 'nodes/CrmPlatform/api/http', 'nodes/CrmPlatform/base', 'contract', n8n],
	},
};
