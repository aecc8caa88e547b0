import { partsOnFloors, type Floor } from './floors.ts';
import type { Part } from './part.ts';

/** The sandbox, from the ground up. */
const floors: Floor[] = [
	{ 'core/foundation': ['zod'] },
	{ 'core/schemas': ['zod'] },
	// The store has a folder for each of its subjects.
	{ 'core/store/**': ['node:**'] },
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
	{ 'web/consent': ['hono'], 'web/console': ['hono', 'zod'], 'web/docs': ['hono', 'node:**'], 'web/settings': ['hono'] },
];

const parts = partsOnFloors('sandbox', floors);

/** The sandbox's parts. Its entry points may import them all. */
export const sandboxDesign: Record<string, Part> = {
	sandbox: { files: ['sandbox/*'], imports: [...Object.keys(parts), 'hono', 'zod', '@hono/node-server', 'node:**'] },
	...parts,
};
