import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { relative, resolve } from 'node:path';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { useBinaryStore } from '../integration/binary-store';
import { fileRuns } from '../integration/file-runs';
import { picker, run } from '../integration/n8n';
import { useTriggers } from '../integration/open-triggers';
import { useSandbox } from '../integration/sandbox';
import { until } from '../integration/trigger';

const sandbox = useSandbox({ contacts: 3 });
const start = useTriggers(sandbox);
const files = fileRuns(sandbox, useBinaryStore());
const root = resolve(__dirname, '../..');
const nodes = resolve(root, 'nodes/CrmPlatform');
const contact = { resource: 'contact', authentication: 'apiKey' };

/** The files that CONTRIBUTING lists for a walk. */
function listed(walk: string): string[] {
	const contributing = readFileSync(resolve(root, 'CONTRIBUTING.md'), 'utf8');
	const [, list = ''] = new RegExp(`\\*\\*${walk}\\*\\*:([\\s\\S]*?)(?=\\n- \\*\\*|\\n\\n|$)`).exec(contributing) ?? [];
	return [...list.matchAll(/`([^`]+)`/g)].map(([, file]) => `${file}.ts`);
}

/** The files of the nodes in which a function runs during the work. */
async function filesEntered(work: () => Promise<unknown>): Promise<string[]> {
	const session = new Session();
	session.connect();
	await session.post('Profiler.enable');
	await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
	await work();
	const { result } = await session.post('Profiler.takePreciseCoverage');
	session.disconnect();
	return result
		.filter(({ url, functions }) => {
			const isOurs = url.replace('file://', '').startsWith(nodes);
			return isOurs && functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]!.count > 0);
		})
		.map(({ url }) => relative(nodes, url.replace('file://', '')));
}

async function expectWalk(walk: string, work: () => Promise<unknown>): Promise<void> {
	// What is read once per process, such as the description, is part of no walk.
	await work();
	const shared = listed('Every request');
	const entered = (await filesEntered(work)).filter((file) => !shared.includes(file));
	expect(entered.sort()).toEqual(listed(walk).sort());
}

test('Create with automatic mapping enters the files that are listed', async () => {
	await expectWalk('Create with automatic mapping', async () =>
		run({
			credential: sandbox.credential,
			parameters: { ...contact, operation: 'create', fieldsMode: 'automatic' },
			items: [{ last_name: 'Ada' }, { last_name: 'Grace' }],
		}),
	);
});

test('Get Many enters the files that are listed', async () => {
	await expectWalk('Get Many', async () =>
		run({ credential: sandbox.credential, parameters: { ...contact, operation: 'getMany', returnAll: true } }),
	);
});

test('Import File enters the files that are listed', async () => {
	await expectWalk('Import File', async () =>
		files.importOf('Last Name,Day\nMoreno,2026-03-01', { ...contact, importAs: 'create' }),
	);
});

test('Export File enters the files that are listed', async () => {
	await expectWalk('Export File', async () => files.exportOf({ ...contact, options: { compress: true } }));
});

test('an opened mapper enters the files that are listed', async () => {
	const { getFields } = new CrmPlatform().methods.resourceMapping;
	await expectWalk('An opened mapper', async () =>
		picker(getFields, {
			credential: sandbox.credential,
			parameters: { ...contact, operation: 'create' },
			path: 'parameters.fields',
		}),
	);
});

test('a delivery enters the files that are listed', async () => {
	const trigger = await start({ events: ['contact.created'] });
	await expectWalk('A delivery', async () => {
		const { length } = trigger.started;
		await sandbox.call('POST', '/v1/contacts', { last_name: 'Moreno' });
		await until(() => trigger.started.length > length);
	});
});
