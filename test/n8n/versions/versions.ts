import { readFileSync } from 'node:fs';
import { z } from 'zod/v4';

/*
 * The versions of n8n-core that the tests run in, from those in npm's registry. n8n 2.20 is the first that
 * stores the keys of starts, which the Poll Trigger needs.
 */

export const oldestVersion = '2.20.6';

/** Each is the first version here with a feature that the node uses if it exists. */
export const versionsBetween = ['2.30.4', '2.38.2'];

const Manifest = z.object({ devDependencies: z.object({ 'n8n-core': z.string() }) });

/** The version of the project, in which all tests run every day. */
export function newest(): string {
	const manifest: unknown = JSON.parse(readFileSync('test/package.json', 'utf8'));
	return Manifest.parse(manifest).devDependencies['n8n-core'];
}
