import { globSync, readFileSync } from 'node:fs';

import { newest, oldestVersion, versionsBetween } from '../n8n/versions/versions.ts';

const minorOf = (version: string) => Number(version.split('.')[1]);

test('four minor versions of n8n are tested, the oldest and the newest among them', () => {
	const minors = [oldestVersion, ...versionsBetween, newest()].map(minorOf);
	expect(minors).toEqual([...new Set(minors)].sort((a, b) => a - b));
	expect(minors.length).toBe(4);
});

test('the page about versions of n8n lists each of them', () => {
	const page = readFileSync('docs/reference/n8n-versions.md', 'utf8');
	for (const version of [oldestVersion, ...versionsBetween, newest()]) expect(page).toContain(`| ${version} |`);
});

test('no example uses a node that n8n 3 removes', () => {
	const removed = ['function', 'functionItem', 'itemLists', 'aiTransform'];
	const types = globSync('examples/*.json').flatMap((file) => {
		const { nodes } = JSON.parse(readFileSync(file, 'utf8')) as { nodes: Array<{ type: string }> };
		return nodes.map(({ type }) => type);
	});
	expect(types.length).toBeGreaterThan(0);
	expect(types.filter((type) => removed.includes(type.replace('n8n-nodes-base.', '')))).toEqual([]);
});
