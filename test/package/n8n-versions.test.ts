import { globSync, readFileSync } from 'node:fs';
import type * as n8nWorkflow from 'n8n-workflow';

import type * as oldN8n from '../../nodes/CrmPlatform/api/signIn';
import { refuseOldN8n } from '../../nodes/CrmPlatform/api/signIn';
import { newest, oldestVersion, tooOldVersion, versionsBetween } from '../n8n/versions/versions.ts';

const minorOf = (version: string) => Number(version.split('.')[1]);

test('at least four minor versions of n8n are tested, the oldest and the newest among them', () => {
	const minors = [tooOldVersion, oldestVersion, ...versionsBetween, newest()].map(minorOf);
	expect(minors).toEqual([...new Set(minors)].sort((a, b) => a - b));
	expect(minors.length).toBeGreaterThan(4);
});

test('the page about versions of n8n lists each of them', () => {
	const page = readFileSync('docs/reference/n8n-versions.md', 'utf8');
	for (const version of [tooOldVersion, oldestVersion, ...versionsBetween, newest()]) expect(page).toContain(`| ${version} |`);
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

test('this n8n is new enough', () => expect(refuseOldN8n).not.toThrow());

test('an n8n whose n8n-workflow lacks a feature of 2.10 is refused, and its version named', () => {
	jest.isolateModules(() => {
		jest.doMock('n8n-workflow', () => ({
			...jest.requireActual<typeof n8nWorkflow>('n8n-workflow'),
			WorkflowExpression: undefined,
		}));
		const old = jest.requireActual<typeof oldN8n>('../../nodes/CrmPlatform/api/signIn');
		expect(old.refuseOldN8n).toThrow('n8n 2.20 or newer');
	});
});
