import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { useFaultyRequests } from '../support/faulty-requests.ts';
import { isThorough, randomRuns } from '../support/random-runs.ts';
import { executeContext } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { UndoAccount, withoutLinks } from '../support/undo-model.ts';
import { undoHistories, type UndoHistory } from '../support/undo-steps.ts';
import { undoing, type UndoOutput } from '../support/undo-node.ts';

shortenWaits(1);
const sandbox = useSandbox({ contacts: 0 });

const faulty = useFaultyRequests(sandbox);
let histories = 0;
let tag = '';

/** Plays a history. @returns a description of each broken promise */
async function brokenBy({ steps, fault }: UndoHistory): Promise<string[]> {
	const broken: string[] = [];
	const name = `h${++histories}`;
	const { context } = executeContext({ credential: sandbox.credential, parameters: {} });
	if (tag === '') tag = String((await sandbox.call('POST', '/v1/tags', { name: 'undo' })).body.id);
	const account = new UndoAccount(sandbox, context.getInstanceId(), name, tag);
	const since = new Date().toISOString();
	await account.begin();
	for (const step of steps) await account.play(step);
	const before = await account.all();
	const node = undoing(sandbox);
	const interrupted = undoing({ ...sandbox, credential: faulty.credential() });
	const undo = async (execution: string, as: string, by = node): Promise<UndoOutput> => {
		const done = await by.undo(execution, { since, options: { maxWait: 1 } }, as);
		for (const { id, new_id: newId } of done.items) {
			const knownRecord = account.records.find(({ ids }) => ids.includes(String(id)));
			if (newId !== undefined && knownRecord && !knownRecord.ids.includes(String(newId))) knownRecord.ids.push(String(newId));
		}
		return done;
	};

	let meanwhile: { knownRecord: UndoAccount['records'][number]; edited?: IDataObject } | undefined;
	if (fault) {
		faulty.plan(fault, async () => void (meanwhile = await account.edit(fault.record, fault.type === 'deleted')));
		const isEdit = fault.type === 'edited' || fault.type === 'deleted';
		const first = await undo(name, `${name}-first`, interrupted).then(() => undefined, (error: Error) => error);
		if (isEdit && first) broken.push(`it failed: ${first.message}`);
	}
	const run = await undo(name, `${name}-undo`);
	const now = await account.all();

	const staying = account.staying();
	for (const [i, knownRecord] of account.records.entries()) {
		const { recordType, ids, isOwn, isChanged, deletedBy, expected } = knownRecord;
		const undoItem = run.items.find(({ id }) => id === ids[0]);
		const about = `${recordType} #${i} (${String(undoItem?.result)}: ${String(undoItem?.reason)})`;
		if (meanwhile?.knownRecord === knownRecord) {
			const { edited } = meanwhile;
			if (edited && now[i] && Object.entries(edited).some(([field, value]) => now[i]![field] !== value))
				broken.push(`${about} lost an edit: ${JSON.stringify(now[i])}`);
			if (edited && !now[i] && !(isOwn || deletedBy !== undefined)) broken.push(`${about} was deleted with an edit`);
			continue;
		}
		if (isChanged !== (undoItem !== undefined)) broken.push(`${about} was ${isChanged ? 'not ' : ''}reported`);
		const isReported = undoItem?.result === 'conflict' || undoItem?.result === 'cannot_be_undone';
		const isThere = staying.has(knownRecord);
		if (isThere !== (now[i] !== undefined) && !(isOwn && isReported)) broken.push(`${about} is ${now[i] ? '' : 'not '}there`);
		if (isOwn || !now[i] || !isThere) continue;
		const [is, should] = [withoutLinks(now[i]), withoutLinks(expected)].map((record) => JSON.stringify(record));
		if (is !== should && !isReported) broken.push(`${about} has ${is}, not ${should}`);
	}
	for (const [i, knownRecord] of account.records.entries()) {
		const { isOwn, recordType } = knownRecord;
		const hasPersonDeleted = fault?.type === 'deleted' && meanwhile?.knownRecord === knownRecord;
		if (!isOwn || !before[i] || now[i] || hasPersonDeleted) continue;
		const holders = [...now.keys()].filter((other) => now[other] && JSON.stringify(now[other]).includes(`"#${i}"`));
		if (holders.length > 0) broken.push(`${recordType} #${i} was deleted, and still linked by #${holders.join(', #')}`);
	}
	if (fault) return broken;

	await sandbox.clear();
	const second = await undo(name, `${name}-second`);
	// What a first undo could not restore, a second cannot either.
	const isSame = ({ id, result, reason }: IDataObject) =>
		result === 'already_so' ||
		run.items.some((first) => first.id === id && (first.result === result || (reason !== null && first.reason === reason)));
	for (const item of second.items) if (!isSame(item)) broken.push(`a second undo said: ${JSON.stringify(item)}`);
	const writes = await node.writes();
	if (writes.length > 0) broken.push(`a second undo wrote: ${JSON.stringify(writes)} ${JSON.stringify(second.items)}`);

	await undo(`${name}-undo`, `${name}-back`);
	const back = await account.all();
	for (const [i, restoredRecord] of back.entries()) {
		const [is, was] = [withoutLinks(restoredRecord), withoutLinks(before[i])].map((record) => JSON.stringify(record));
		if (is !== was) broken.push(`the undo of the undo left #${i} as ${is}, not ${was}`);
	}
	return broken;
}

test('a history of changes by a workflow and by others is undone, reported, and undone again', async () => {
	const property = fc.asyncProperty(undoHistories, async (history) => {
		expect(await brokenBy(history)).toEqual([]);
	});
	await fc.assert(property, { ...randomRuns(100, 3), endOnFailure: true });
}, isThorough ? 7_200_000 : 1_800_000);
