import { readFileSync } from 'node:fs';
import { z } from 'zod/v4';

/*
 * The versions of n8n-core that the tests run in, as far as the registries have them. n8n 2.20 is the
 * first that keeps keys for starts, which the Poll Trigger needs.
 */

export const OLDEST = '2.20.6';

/** In between: each is the first here with something the node uses where it is there. */
export const BETWEEN = ['2.30.4', '2.38.2'];

/** The node says here that n8n is too old. */
export const TOO_OLD = '2.8.1';

const Manifest = z.object({ devDependencies: z.object({ 'n8n-core': z.string() }) });

/** The project's own, in which all tests run every day. */
export function newest(): string {
	const manifest: unknown = JSON.parse(readFileSync('test/package.json', 'utf8'));
	return Manifest.parse(manifest).devDependencies['n8n-core'];
}
