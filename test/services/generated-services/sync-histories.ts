import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { filterRows } from '../../support/parameters.ts';
import { runSync, syncIn, syncOf, type SyncRun } from '../../support/sync-node.ts';
import type { SyncDialect } from './sync-document.ts';
import type { Contact, SyncService, useSyncServices } from './sync-service.ts';

/** Few keys, so that they collide. Some differ only in their notation. */
const keys = ['a', 'b', 'c', 'd', 'e', 'Zo\u00eb'];
const notations = [(key: string) => key, (key: string) => `${key} `, (key: string) => key.normalize('NFD')];

const person = fc.record({
	key: fc.option(fc.constantFrom(...keys), { nil: null, freq: 6 }),
	mail: fc.option(fc.constantFrom(...keys), { nil: null, freq: 6 }),
	isOwnMail: fc.boolean(),
	notation: fc.constantFrom(...notations),
	last_name: fc.constantFrom('Ada', 'Grace', 'Mary', null),
	phone: fc.constantFrom('1', '2', '1', '2', 'refused', null),
	team: fc.constantFrom('in', 'in', 'out', null),
	isGone: fc.constantFrom(false, false, false, true),
});
type Person = typeof person extends fc.Arbitrary<infer One> ? One : never;

const dialects: fc.Arbitrary<SyncDialect> = fc.record({
	update: fc.constantFrom('patch', 'patch', 'put'),
	versions: fc.constantFrom('field', 'field', 'etag', 'none'),
	takesIfMatch: fc.boolean(),
	batch: fc.option(
		fc.record({ maximum: fc.constantFrom(2, 3, 100), takesVersion: fc.boolean(), results: fc.constantFrom('all', 'all', 'fewer') } as const),
		{ nil: undefined },
	),
	hasFilters: fc.boolean(),
	hasKeys: fc.boolean(),
	namesConflicts: fc.boolean(),
	hasTotal: fc.boolean(),
	pageSize: fc.constantFrom(2, 100),
	ignoresTeam: fc.boolean(),
	answersOther: fc.constantFrom(false, false, false, true),
	deactivates: fc.boolean(),
} as const);

/** One sync of one source with one service, and an edit by somebody else. */
export const syncHistories = fc.record({
	dialect: dialects,
	crm: fc.array(person, { maxLength: 7 }),
	source: fc.array(person, { minLength: 1, maxLength: 7 }),
	rules: fc.record({
		matchOn: fc.constantFrom('external_id', 'email'),
		alsoMatchOn: fc.constantFrom('', 'email', 'external_id'),
		missingInSource: fc.constantFrom('leave', 'delete', 'delete', 'set'),
		maxDeletions: fc.constantFrom(1, '3', 100),
		maxDeletionsShare: fc.constantFrom('100 %', '100 %', 10),
		isScoped: fc.boolean(),
	} as const),
	continueOnFail: fc.boolean(),
	/** The edit: before which request, of which record and field. */
	edit: fc.option(fc.record({ at: fc.nat(14), record: fc.nat(6), field: fc.constantFrom('last_name', 'phone', 'note') } as const), {
		nil: undefined,
	}),
});
type SyncHistory = typeof syncHistories extends fc.Arbitrary<infer One> ? One : never;

const mailOf = ({ key, mail, isOwnMail }: Person) => {
	const name = isOwnMail ? key : mail;
	return name === null ? null : `${name.normalize('NFD').replace(/\W/g, '')}@x.example`;
};

const keyOf = (value: unknown): string | undefined =>
	typeof value === 'string' && value.trim() !== '' ? value.normalize('NFC').trim().toLowerCase() : undefined;

const edited = 'by somebody else';
const outputs = ['created', 'updated', 'unchanged', 'deleted', 'conflict'] as const;

/** Plays a history and returns the broken promises in words, judged by what the service stores. */
export async function brokenSyncPromises(openService: ReturnType<typeof useSyncServices>, history: SyncHistory): Promise<string[]> {
	const { dialect, rules: { isScoped, ...rules } } = history;
	const { service, url } = openService(dialect);
	for (const contact of history.crm) {
		service.add({
			external_id: contact.key,
			email: mailOf(contact),
			last_name: contact.last_name,
			phone: '1',
			note: `note of ${String(contact.key)}`,
			team: contact.team,
		});
		if (dialect.deactivates && contact.isGone) for (const id of [...service.records.keys()].slice(-1)) service.deactivate(id);
	}
	const items = history.source.map((sourceRow): IDataObject => ({
		external_id: sourceRow.key === null ? null : sourceRow.notation(sourceRow.key),
		email: mailOf(sourceRow)?.toUpperCase() ?? null,
		last_name: sourceRow.last_name,
		phone: sourceRow.phone,
	}));
	const before = new Map(service.records);
	const run = async (preview: unknown, continueOnFail = history.continueOnFail): Promise<SyncRun | Error> =>
		await runSync({
			credential: { baseUrl: url, apiKey: url },
			credentialId: url,
			continueOnFail,
			items,
			parameters: syncOf('contact', {
				...rules,
				alsoMatchOn: rules.alsoMatchOn === rules.matchOn ? '' : rules.alsoMatchOn,
				missingValues: { mappingMode: 'defineBelow', value: { last_name: 'gone' } },
				preview,
				filters: filterRows(isScoped ? { team: 'in' } : {}),
				options: { emptyCells: 'clear' },
			} as IDataObject),
		}).catch((error: Error) => error);

	service.begin();
	const preview = await run('true', true);
	const broken: string[] = service.writes.map((write) => `the preview wrote ${write}`);

	let editedId: string | undefined;
	service.begin((request) => {
		if (!history.edit || request !== history.edit.at) return;
		const ids = [...service.records.keys()];
		const id = ids[history.edit.record % Math.max(1, ids.length)];
		if (id !== undefined && service.edit(id, { [history.edit.field]: edited })) editedId = id;
	});
	const done = await run(false);
	broken.push(...brokenPromises(history, service, { before, items, done, preview, editedId }));
	return broken;
}

interface Played {
	before: Map<string, Contact>;
	items: IDataObject[];
	done: SyncRun | Error;
	preview: SyncRun | Error;
	editedId: string | undefined;
}

function repeatedKeys(service: SyncService): string[] {
	const broken: string[] = [];
	for (const name of ['external_id', 'email'] as const) {
		const counts = new Map<string, number>();
		for (const record of service.records.values()) {
			const key = keyOf(record[name]);
			if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
		}
		for (const [key, count] of counts) if (count > 1) broken.push(`${count} records have the ${name} ${key}`);
	}
	return broken;
}

function brokenPromises(history: SyncHistory, service: SyncService, { before, items, done, preview, editedId }: Played): string[] {
	const broken: string[] = [];
	const { rules, edit } = history;
	const words =
		done instanceof Error
			? [done.message, String((done as { description?: unknown }).description)]
			: [...done.hints, JSON.stringify(outputs.map((name) => done[name].map(({ json }) => json)))];
	const isReported = (text: string) => words.some((message) => message.includes(text));
	const isUnprotected = isReported('does not accept a version');

	const isGone = (record: Contact | undefined) => !record || 'deleted_at' in record && record.deleted_at !== undefined;
	const deleted = [...before.values()].filter((record) => !isGone(record) && isGone(service.records.get(record.id)));
	broken.push(...service.deletedAgain.map((id) => `${id} was deleted again`));
	for (const was of rules.isScoped ? before.values() : []) {
		const now = service.records.get(was.id);
		const isEdited = was.id === editedId;
		if (was.team !== 'in' && (!now || (!isEdited && now.revision !== was.revision)))
			broken.push(`${was.id} is outside the scope, and was changed`);
	}
	if (rules.missingInSource !== 'delete' && deleted.length > 0) broken.push('records were deleted, though the rule is to leave them');
	// A tenth of so few records is less than one. Three may be deleted if as many stay.
	const isFew = deleted.length <= 3 && deleted.length * 2 <= before.size;
	if (deleted.length > Number(rules.maxDeletions) || (rules.maxDeletionsShare === 10 && !isFew))
		broken.push(`${deleted.length} records were deleted`);
	for (const record of deleted) {
		for (const name of ['external_id', 'email'] as const) {
			const pointer = items.findIndex((item) => keyOf(item[name]) !== undefined && keyOf(item[name]) === keyOf(record[name]));
			if (pointer >= 0) broken.push(`${record.id} was deleted, and item ${pointer} has its ${name}`);
		}
		const names = [rules.matchOn, rules.alsoMatchOn].filter((name) => name !== '');
		if (names.every((name) => keyOf(record[name]) === undefined)) broken.push(`${record.id} was deleted, and has no key`);
		if (record.id === editedId && !isUnprotected && service.editedAfterReading.has(record.id))
			broken.push(`${record.id} was edited and deleted`);
	}

	for (const [id, was] of before) {
		const now = service.records.get(id);
		if (!now) continue;
		const isEdited = id === editedId && edit?.field === 'note';
		if (now.note !== (isEdited ? edited : was.note)) broken.push(`${id} has lost a value that the source does not have: ${String(now.note)}`);
	}

	if (editedId !== undefined && edit && service.records.has(editedId)) {
		const now = service.records.get(editedId)!;
		const isKept = now[edit.field] === edited;
		// An edit before the reading is a value of the CRM like any other. It is reported, unless the run fails.
		const isReadBefore = service.editedAfterReading.has(editedId) || !(done instanceof Error);
		if (!isKept && !isReported(edited) && !isUnprotected && isReadBefore)
			broken.push(`an edit of ${editedId} was overwritten, without a report`);
	}

	broken.push(...repeatedKeys(service));

	if (done instanceof Error || preview instanceof Error) {
		if (preview instanceof Error) broken.push(`the preview failed: ${preview.message}`);
		return broken;
	}
	broken.push(...brokenItems(service, items, done, editedId));
	if (editedId === undefined) broken.push(...beyondPreview(preview, done));
	return broken;
}

/** Each item comes out once. If it is reported as done, and nobody has edited its record, the record has its values. */
function brokenItems(service: SyncService, items: IDataObject[], done: SyncRun, editedId?: string): string[] {
	const broken: string[] = [];
	for (const item of items.keys()) {
		const found = outputs.flatMap((name) =>
			done[name].filter(({ pairedItem }) => (pairedItem as { item?: number })?.item === item).map(({ json }) => ({ name, json })),
		);
		if (found.length !== 1) broken.push(`item ${item} came out ${found.length} times`);
		const [only] = found;
		if (!only?.json.sync || !['created', 'updated', 'unchanged'].includes(only.name)) continue;
		const { reason } = syncIn(only);
		const record = service.records.get(String(only.json.id));
		if (reason !== null || (editedId !== undefined && record?.id === editedId)) continue;
		for (const [name, value] of Object.entries(items[item]!)) {
			if (keyOf(record?.[name]) !== keyOf(value)) broken.push(`item ${item} is reported as equal, and ${name} is ${String(record?.[name])}`);
		}
	}
	return broken;
}

/** A run does what its preview shows, or less, and reports the difference. */
function beyondPreview(preview: SyncRun, done: SyncRun): string[] {
	const nameOf = ({ json, pairedItem }: SyncRun['created'][number]) => JSON.stringify((pairedItem as { item?: number })?.item ?? json.id);
	const planned = new Map(outputs.flatMap((name) => preview[name].map((outputItem) => [nameOf(outputItem), name] as const)));
	return outputs.flatMap((name) =>
		done[name].flatMap((outputItem) => {
			const was = planned.get(nameOf(outputItem));
			return was === name || name === 'conflict' || (name === 'unchanged' && was === 'updated')
				? []
				: [`${nameOf(outputItem)} is ${name}, and was ${String(was)} in the preview`];
		}),
	);
}
