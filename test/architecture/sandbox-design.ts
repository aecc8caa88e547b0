import type { Part } from './part.ts';

/** The folders of the sandbox with the packages each may import, floor by floor from the ground up. */
const floors: Array<Record<string, string[]>> = [
	{ foundation: ['zod'] },
	{ schemas: ['zod'] },
	{ store: ['node:**'] },
	{ http: ['hono', '@hono/node-server', 'ipaddr.js', 'zod', 'node:**'] },
	{
		access: ['hono'],
		control: ['hono', 'zod', 'node:timers/promises'],
		pages: ['hono', 'node:**'],
		queries: ['zod', 'node:crypto'],
	},
	{ description: ['hono', 'zod'], events: [] },
	{ records: ['zod', 'node:timers/promises'] },
	{ collection: ['hono', 'zod'], seed: [] },
	{
		account: [],
		'event-log': ['hono', 'zod'],
		jobs: ['hono', 'zod', 'node:**'],
		webhooks: ['hono', 'axios', 'ipaddr.js', 'standardwebhooks', 'zod', 'node:**'],
	},
	{ oauth: ['hono', 'zod', 'node:crypto'] },
	{ console: ['hono'], openapi: ['zod'], settings: ['hono'] },
];

const partsOf = (floor: Record<string, string[]>): string[] =>
	Object.keys(floor).map((folder) => `sandbox/${folder}`);

/** A folder may import every folder on a lower floor; the entry points may import them all. */
export const sandboxDesign: Record<string, Part> = {
	sandbox: {
		files: ['sandbox/*'],
		imports: [...floors.flatMap(partsOf), 'hono', 'zod', '@hono/node-server', 'node:**'],
	},
	...Object.fromEntries(
		floors.flatMap((floor, height) =>
			Object.entries(floor).map(([folder, packages]): [string, Part] => [
				`sandbox/${folder}`,
				{
					files: [`sandbox/${folder}/*.ts`],
					imports: [...floors.slice(0, height).flatMap(partsOf), ...packages],
				},
			]),
		),
	),
};
