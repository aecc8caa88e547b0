import type { Part } from './part.ts';

/** The folders of the sandbox with the packages each may import, floor by floor from the ground up. */
const floors: Array<Record<string, string[]>> = [
	{ 'core/foundation': ['zod'] },
	{ 'core/schemas': ['zod'] },
	{ 'core/store': ['node:**'] },
	{ core: ['@hono/node-server'] },
	{ 'domain/access': ['hono'], 'domain/queries': ['zod', 'node:crypto'] },
	{ 'domain/events': [] },
	{ 'domain/records': ['zod'] },
	{ seed: [] },
	{ 'api/http': ['hono', '@hono/node-server', 'ipaddr.js', 'node:**'] },
	{ 'api/endpoint': ['hono', 'zod'], control: ['hono', 'zod', 'node:timers/promises'] },
	{ 'api/collection': ['hono', 'zod'] },
	{
		api: ['hono', 'zod'],
		'api/jobs': ['hono', 'zod', 'node:**'],
		'api/webhooks': ['hono', 'axios', 'ipaddr.js', 'standardwebhooks', 'zod', 'node:**'],
	},
	{ 'api/oauth': ['hono', 'zod', 'node:crypto'] },
	{ 'api/openapi': ['zod'], 'web/pages': ['hono', 'node:**'] },
	{ 'web/sign-in': ['hono', 'node:**'] },
	{ 'web/consent': ['hono'], 'web/console': ['hono'], 'web/docs': ['hono', 'node:**'], 'web/settings': ['hono'] },
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
					// The store has a folder for each of its subjects.
					files: [`sandbox/${folder}/${folder === 'core/store' ? '**' : '*'}.ts`],
					imports: [...floors.slice(0, height).flatMap(partsOf), ...packages],
				},
			]),
		),
	),
};
