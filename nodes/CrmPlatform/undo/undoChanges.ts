import type { IDataObject } from 'n8n-workflow';

import { readCustomFieldsIfAllowed, type CustomFields } from '../api/customFields';
import { openEventLog } from '../api/eventLog';
import type { ResourceDescription } from '../api/openapi/description';
import type { Execution, Resource } from '../model';
import { asLinked, copiesOf, createdTwice, keptCopy } from './duplicateRecreations';
import { readCurrent } from './currentRecords';
import { linkFieldsIn, LiveLinks, waves, withLiveLinks, type LinkFields } from './liveLinks';
import { asChanged, planUndo, refuseTooMany, withLinkedKept } from './undoPlan';
import { hasSameValue } from './sameValue';
import { readHistories } from './readHistories';
import { afterwards } from './undoRefusals';
import { causedBy, readChoices } from './selection';
import type { Undoing } from './recordUndo';
import { writableOf } from './writableFields';
import { firstRequestOf, sendWrites, tellProtection, undoWriteOf, type Describe } from './writeUndo';

/**
 * Takes back what an execution, a workflow or a user has written: reads the log, compares with the records of
 * now, and writes the former values unless it is a preview.
 *
 * @param kinds the kinds of records whose changes can be undone
 * @throws Error in the user's words where the log cannot be read or does not reach back; nothing is written then
 * @throws NodeApiError where the service stops answering: the next run continues
 */
export async function undoChanges(execution: Execution, item: number, kinds: Resource[]): Promise<IDataObject[]> {
	const { n8n, api } = execution;
	const choices = readChoices(execution, item, kinds);
	const log = await openEventLog(api);
	api.requireDescription('Undo');
	const { histories, last } = await readHistories(execution, log, choices, kinds);
	const { only } = choices;
	const all = histories.all().filter(({ id }) => only?.has(id) ?? true);
	if (all.length === 0) {
		api.notices.add(`No changes found by ${choices.causerLabel}${only ? ' to the records in Only These Records' : ''}. Nothing was written.${choices.hint}`);
		return [];
	}
	const foundIds = new Set(all.map(({ id }) => id));
	const unknown = [...(only ?? [])].filter((id) => !foundIds.has(id));
	if (unknown.length > 0) api.notices.add(`Only These Records: no changes found for ${unknown.slice(0, 5).join(', ')}${unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''}.`);

	const isSightLimited = n8n.getNodeParameter('authentication', 0, 'apiKey') !== 'apiKey';
	const current = await readCurrent(api, all, isSightLimited);
	const descriptions = new Map<string, ResourceDescription | undefined>();
	for (const { collection, template } of all) if (!descriptions.has(collection)) descriptions.set(collection, await api.describe(template));
	const describe: Describe = (collection) => descriptions.get(collection);
	const writable = new Map([...descriptions].map(([collection, description]) => [collection, writableOf(execution, description)]));
	const linkedAfter = (undos: Undoing[], isWritten: (undo: Undoing) => boolean = () => true) =>
		histories.links.linkedAfter(undos, isWritten, last, choices.takesPrecedence);
	const planned = planUndo(all, {
		current,
		writable: ({ collection }) => writable.get(collection)!,
		linkedAfter: (some) => linkedAfter(some),
		takesPrecedence: choices.takesPrecedence,
	});
	const links = new LiveLinks();
	for (const { history, newId } of planned) if (newId !== undefined) links.replace(history.collection, history.id, newId);
	const isWritten = ({ action }: Undoing) => action === 'update' || action === 'create';
	const custom = new Map<string, CustomFields | undefined>();
	for (const { changes, history: { collection } } of planned.filter(isWritten)) {
		if (custom.has(collection) || !changes.some(({ field }) => /^custom_fields(\.|$)/.test(field))) continue;
		custom.set(collection, await readCustomFieldsIfAllowed(api, `/v1${collection}`));
	}
	const linkFields = new Map<string, LinkFields>();
	const fieldsOf = ({ history: { collection }, action }: Undoing): LinkFields => {
		const verb = action === 'create' ? 'create' : 'update';
		const fields = linkFields.get(`${verb} ${collection}`) ?? linkFieldsIn([...(describe(collection)?.[verb]?.fields ?? []), ...(custom.get(collection)?.fields ?? [])]);
		linkFields.set(`${verb} ${collection}`, fields);
		return fields;
	};
	await links.lookUp(api, planned.filter(isWritten).map((undo) => ({ fields: fieldsOf(undo), undo })));
	const toBeCreated = new Set(planned.filter(({ action }) => action === 'create').map(({ history: { collection, id } }) => `${collection}/${id}`));
	const resolve = (undo: Undoing, pending = new Set<string>()): Undoing => {
		if (!undo.action || undo.action === 'delete') return undo;
		const waiting = links.missing(fieldsOf(undo), undo).filter((link) => pending.has(link));
		const customFields = custom.get(undo.history.collection);
		const isWritable = (name: string) => customFields === undefined || customFields.fields.some((field) => field.name === name);
		return waiting.length > 0 ? undo : withLiveLinks(undo, links, fieldsOf(undo), isWritable);
	};

	const resolvedPlan = withLinkedKept(planned.map((undo) => resolve(undo, toBeCreated)), (some) => linkedAfter(some));
	refuseTooMany(resolvedPlan, choices, choices.isPreview, api.notices);
	if (choices.isPreview) {
		tellProtection(execution, describe, resolvedPlan);
		api.notices.add('Preview: nothing was written. Turn off Preview to undo these changes.');
		return resolvedPlan.map((undo) => undoneItem(undo, true));
	}

	const done = new Map<Undoing, Undoing>();
	const answers = new Map<Undoing, IDataObject>();
	/** @param isLast whether no value that another record has becomes free any more */
	const write = async (undos: Undoing[], isLast = false, resolvedUndos = undos.map((undo) => resolve(undo))): Promise<void> => {
		const writes = resolvedUndos.flatMap((undo, place) => {
			const request = undoWriteOf(undo);
			if (!request) done.set(undos[place]!, undo);
			return request ? [{ place, request }] : [];
		});
		const { outcomes, error } = await sendWrites(execution, describe, writes.map(({ request }) => request));
		for (const [i, outcome] of outcomes.entries()) {
			const { place } = writes[i]!;
			const after = afterwards(resolvedUndos[place]!, outcome);
			done.set(undos[place]!, after);
			if ('record' in outcome) answers.set(undos[place]!, outcome.record);
			const { collection, id } = after.history;
			if (after.newId !== undefined) links.replace(collection, id, after.newId);
		}
		if (error) {
			const count = [...done.values()].filter(({ action }) => action).length;
			api.notices.add(`The undo stopped. About ${count} of ${planned.filter(({ action }) => action).length} records were written. Run it again: it continues with the rest.`);
			throw error;
		}
		// Each time, at least one value is left out, or it is the second and last time.
		const again = undos.filter((undo) => done.get(undo)!.part && (isLast || !done.get(undo)!.isDuplicate));
		if (again.length > 0) await write(again, isLast, again.map((undo) => done.get(undo)!.part!));
	};

	const waits = (undo: Undoing) => links.missing(fieldsOf(undo), undo).some((link) => toBeCreated.has(link));
	const plannedUndos = (action: Undoing['action']) => planned.filter((undo) => undo.action === action);
	let updates = plannedUndos('update').filter((undo) => !waits(undo));
	const later = plannedUndos('update').filter(waits);
	let deletes = plannedUndos('delete');
	let read = last;
	const isByUndo = causedBy(execution);
	/** Reads on in the log. @returns whether it has anything that may keep a created record */
	const catchUp = async (): Promise<boolean> => {
		let isNews = false;
		for await (const event of log.after(read, [])) {
			if (event.sequence <= read) continue;
			read = event.sequence;
			isNews = histories.addLater(event, !isByUndo(event)) || isNews;
		}
		return isNews;
	};
	/** If another undo also created a record, the first one stays: both undos decide so. */
	const findCopies = async () => {
		await catchUp();
		for (const undo of plannedUndos('create')) {
			const { newId, history } = done.get(undo) ?? undo;
			const living = history.anew.filter(({ isGone }) => !isGone);
			const [first] = living;
			if (newId === undefined || !first) continue;
			if (first.id !== newId) done.set(undo, { ...done.get(undo)!, result: 'already_so', newId: first.id, reason: createdTwice(first.id) });
			links.replace(history.collection, history.id, first.id);
			const found = copiesOf(history, living, choices.takesPrecedence || isSightLimited, ({ id, state }) => ({ id, version: state.version as number, updated_at: state.time as string }));
			for (const copy of found) {
				if (planned.some(({ history: { id } }) => id === copy.history.id)) continue;
				const isTooMany = copy.action && planned.filter(({ action }) => action).length >= choices.maximum;
				planned.push(isTooMany ? keptCopy(copy) : copy);
				if (copy.action && !isTooMany) deletes.push(copy);
			}
		}
	};
	/** Deletes the created records that no surviving record links to, dependents first; looks at the log before each request. */
	const remove = async () => {
		if (deletes.length > 0) await catchUp();
		while (deletes.length > 0) {
			for (const undo of deletes) {
				if (undo.history.copyOf?.copy.isTouched) done.set(undo, asLinked(undo));
				else if (undo.history.isCreated && undo.history.isTouched && !choices.takesPrecedence) done.set(undo, asChanged(undo));
			}
			deletes = deletes.filter((undo) => !done.has(undo));
			const writtenUndos = new Set(done.values());
			const updatedPlan = new Set(withLinkedKept(planned.map((undo) => done.get(undo) ?? undo), (some) => linkedAfter(some, (undo) => writtenUndos.has(undo))));
			let wave = histories.links.unlinkedOf(deletes.filter((undo) => updatedPlan.has(undo)));
			if (wave.length === 0) return;
			for (let isAsPlanned = true; isAsPlanned && wave.length > 0; ) {
				const some = firstRequestOf(wave, describe);
				await write(some);
				wave = wave.filter((undo) => !done.has(undo));
				deletes = deletes.filter((undo) => !done.has(undo));
				isAsPlanned = deletes.length > 0 && !(await catchUp()) && some.every((undo) => done.get(undo)!.action);
			}
		}
	};
	// A value that another record still has becomes free when that one is undone; a created record when its links are.
	const writeChanges = async () => {
		for (let before = Infinity; updates.length + deletes.length < before; ) {
			before = updates.length + deletes.length;
			await write(updates);
			updates = updates.filter((undo) => done.get(undo)!.isDuplicate);
			await remove();
		}
	};
	await writeChanges();
	/** Created without a link to a record that links back, or without a value that another record still has: it is written afterwards. */
	let incomplete: Undoing[] = [];
	const complete = async () => {
		for (const undo of incomplete.splice(0)) {
			const [resolvedUndo, part, current] = [resolve(undo), done.get(undo)!, answers.get(undo)];
			const changes = resolvedUndo.changes.filter(({ field, to }) => !hasSameValue(to, part.changes.find((other) => other.field === field && !other.kept)?.to));
			if (!current || part.newId === undefined || part.result === 'already_so' || changes.length === 0) continue;
			const request = undoWriteOf({ ...resolvedUndo, action: 'update', current, changes: changes.map((change) => ({ ...change, from: current[change.field] })) })!;
			const { outcomes: [outcome], error } = await sendWrites(execution, describe, [request]);
			if (error) throw error;
			if (outcome && 'record' in outcome) done.set(undo, { ...resolvedUndo, newId: part.newId });
		}
	};
	for (const wave of waves(plannedUndos('create'), (undo) => links.missing(fieldsOf(undo), undo))) {
		const circular = wave.filter(waits);
		await write(wave);
		await findCopies();
		incomplete.push(...circular);
	}
	await complete();
	const duplicates = () => plannedUndos('create').filter((undo) => done.get(undo)?.isDuplicate);
	// A created record has the value, and stays for as long as others link to it that wait for this one.
	const merged = duplicates().filter((undo) => deletes.some(({ history }) => history.id === done.get(undo)!.holder));
	if (merged.length > 0) {
		await write(merged, true);
		await findCopies();
	}
	await write(later);
	await writeChanges();
	incomplete = merged;
	await complete();
	// A unique value that one of these records had is now free.
	const refused = later.length > 0 ? duplicates() : [];
	if (refused.length > 0) {
		await write(refused);
		await findCopies();
		await writeChanges();
	}
	// Records that still block each other are written without the values in dispute.
	await write(plannedUndos('update').filter((undo) => done.get(undo)?.isDuplicate), true);
	await remove();
	for (const undo of deletes) done.set(undo, asLinked(undo));
	return planned.map((undo) => undoneItem(done.get(undo) ?? undo, false));
}

function undoneItem({ history, result, action, changes, reason, newId }: Undoing, isPreview: boolean): IDataObject {
	const { kind, id, name } = history;
	return {
		result: isPreview && result === 'undone' ? 'to_be_undone' : result,
		action: action ?? null,
		kind,
		id,
		name: name ?? null,
		...(newId !== undefined && { new_id: newId }),
		changes,
		reason: reason ?? null,
	};
}
