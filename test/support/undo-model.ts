import type { IDataObject } from 'n8n-workflow';

import { idempotencyKey } from '../../nodes/CrmPlatform/api/http/idempotency';
import type { TestSandbox } from './sandbox.ts';
import { requiredFields, undoRecordTypes, undoValues, type UndoStep } from './undo-steps.ts';

const linkFields = ['company_id', 'parent_company_id', 'contact_ids', 'links'];

/** A record as an observer of the service sees it. */
interface KnownRecord {
	recordType: string;
	/** Its IDs: a record gets another one when it is created again. */
	ids: string[];
	isOwn: boolean;
	/** Whether somebody else has created, changed or deleted it. */
	isTheirs: boolean;
	deletedBy?: string;
	/** Whether an own step has changed it. */
	isChanged: boolean;
	/** The values of its fields without the execution's changes. */
	expected: IDataObject;
	/** The values of its fields after the last write. */
	state: IDataObject;
}

/** An account with a history: its state over HTTP, and the state that the documentation promises after an undo. */
export class UndoAccount {
	readonly records: KnownRecord[] = [];
	private readonly sandbox: TestSandbox;
	private readonly keyOf: (by: string) => string | undefined;
	private readonly tag: string;
	private writes = 0;

	/** @param execution the one that will be undone */
	constructor(sandbox: TestSandbox, instance: string, execution: string, tag: string) {
		this.sandbox = sandbox;
		this.tag = tag;
		this.keyOf = (by) =>
			by === 'other'
				? undefined
				: idempotencyKey({
						instance,
						workflow: 'w',
						execution: by === 'own' ? execution : `${execution}-sister`,
						node: 'n',
						runKey: 0,
						keyParts: [++this.writes],
					});
	}

	async begin(): Promise<void> {
		for (const [recordType, count] of [['contacts', 3], ['companies', 2], ['deals', 1], ['tasks', 1]] as const) {
			const items = Array.from({ length: count }, () => requiredFields[recordType]);
			const { body } = await this.send('other', 'POST', `/v1/${recordType}/batch/create`, { items });
			for (const { data } of body.results as Array<{ data: IDataObject }>) this.noteCreated('other', recordType, data);
		}
	}

	/** The records as the service has them; undefined for deleted ones. */
	async all(): Promise<Array<IDataObject | undefined>> {
		const found = new Map<unknown, IDataObject>();
		for (const recordType of undoRecordTypes) {
			const ids = this.records.flatMap((record) => (record.recordType === recordType ? [record.ids.at(-1)] : []));
			const { body } = await this.sandbox.call('GET', `/v1/${recordType}?limit=500&ids=${ids.join()}`);
			for (const record of body.data as IDataObject[]) found.set(record.id, this.labeled(record));
		}
		return this.records.map(({ ids }) => found.get(ids.at(-1)));
	}

	async play(nextStep: UndoStep): Promise<void> {
		if (nextStep.do === 'create') return await this.create(nextStep.by, undoRecordTypes[nextStep.recordType]!, nextStep.changes);
		const chosen = nextStep.do === 'batch' ? nextStep.records : [nextStep.record];
		const living = [...new Set(chosen.map((record) => this.records[record % this.records.length]!))].filter(
			({ deletedBy }) => deletedBy === undefined,
		);
		const [knownRecord] = living;
		if (!knownRecord) return;
		const place = `/v1/${knownRecord.recordType}/${knownRecord.ids.at(-1)}`;
		if (nextStep.do === 'update')
			return this.noteWrite(
				nextStep.by, knownRecord, await this.send(nextStep.by, 'PATCH', place, this.body(knownRecord.recordType, nextStep.changes)),
			);
		if (nextStep.do === 'delete') {
			const { status } = await this.send(nextStep.by, 'DELETE', place);
			if (status === 204) this.deleted(nextStep.by, knownRecord);
		} else if (nextStep.do === 'win') {
			if (knownRecord.recordType === 'deals') this.noteWrite(nextStep.by, knownRecord, await this.send(nextStep.by, 'POST', `${place}/win`));
		} else if (nextStep.do === 'tag') {
			await this.send(nextStep.by, 'PUT', `${place}/tags/${this.tag}`);
			this.noteWrite(nextStep.by, knownRecord, await this.sandbox.call('GET', place));
		} else {
			const same = living.filter(({ recordType }) => recordType === knownRecord.recordType);
			const body = this.body(knownRecord.recordType, [nextStep.change]);
			const items = same.map(({ ids }) => ({ id: ids.at(-1)!, ...body }));
			const response = await this.send(nextStep.by, 'POST', `/v1/${knownRecord.recordType}/batch/update`, { items });
			for (const { index, status, data } of response.body.results as Array<{ index: number; status: number; data: IDataObject }>)
				this.noteWrite(nextStep.by, same[index]!, { status, body: data });
		}
	}

	/**
	 * The records that exist after the undo. A record that the execution has created exists if others have changed
	 * it, or if an existing record links to it.
	 */
	staying(): Set<KnownRecord> {
		const staying = new Set(
			this.records.filter(({ isOwn, isTheirs, deletedBy }) =>
				isOwn ? deletedBy === undefined && isTheirs : deletedBy === undefined || deletedBy === 'own',
			),
		);
		for (const stayingRecord of staying) {
			const text = JSON.stringify(stayingRecord.isOwn ? stayingRecord.state : stayingRecord.expected);
			// The loop also visits records that it adds to the set.
			for (const [i, linked] of this.records.entries())
				if (linked.isOwn && linked.deletedBy === undefined && text.includes(`"#${i}"`)) staying.add(linked);
		}
		return staying;
	}

	/** Changes or deletes a record as somebody else, during the undo. @returns the record and its new values */
	async edit(place: number, isDeletion: boolean): Promise<{ knownRecord: KnownRecord; edited?: IDataObject } | undefined> {
		const knownRecord = this.records[place % this.records.length]!;
		const path = `/v1/${knownRecord.recordType}/${knownRecord.ids.at(-1)}`;
		const { status, body: now } = await this.sandbox.call('GET', path);
		if (status !== 200) return undefined;
		if (isDeletion) {
			await this.sandbox.call('DELETE', path);
			knownRecord.deletedBy = 'other';
			return { knownRecord };
		}
		const field = ['last_name', 'name', 'title'].find(
			(name) => Object.hasOwn(now, name) && (name !== 'name' || knownRecord.recordType === 'companies'),
		)!;
		const edited = { [field]: 'Meanwhile' };
		await this.sandbox.call('PATCH', path, edited);
		return { knownRecord, edited };
	}

	private async create(by: string, recordType: string, changes: Array<{ field: number; value: number; target: number }>): Promise<void> {
		const values = { ...requiredFields[recordType], ...this.body(recordType, changes) };
		const { status, body } = await this.send(by, 'POST', `/v1/${recordType}`, values);
		if (status === 201) this.noteCreated(by, recordType, body);
	}

	private noteCreated(by: string, recordType: string, record: IDataObject): void {
		const initialFields = this.labeled(record);
		this.records.push({
			recordType,
			ids: [String(record.id)],
			isOwn: by === 'own',
			isTheirs: by !== 'own',
			isChanged: by === 'own',
			expected: { ...initialFields },
			state: initialFields,
		});
	}

	/** Notes the answer to a write, which may be a refusal. */
	private noteWrite(by: string, knownRecord: KnownRecord, { status, body }: { status: number; body: IDataObject }): void {
		if (status >= 300) return;
		const [before, after] = [knownRecord.state, this.labeled(body)];
		knownRecord.state = after;
		const changed = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
		if (changed.length === 0) return;
		if (by === 'own') {
			knownRecord.isChanged = true;
			return;
		}
		knownRecord.isTheirs = true;
		const theirs: IDataObject = Object.fromEntries(changed.map((name) => [name, after[name]]));
		Object.assign(knownRecord.expected, theirs);
	}

	private deleted(by: string, knownRecord: KnownRecord): void {
		knownRecord.deletedBy = by;
		if (by === 'own') knownRecord.isChanged = true;
	}

	private body(recordType: string, changes: Array<{ field: number; value: number; target: number }>): IDataObject {
		const body: IDataObject = {};
		const fields = Object.entries(undoValues[recordType]!);
		for (const { field, value, target } of changes) {
			const [name, choices] = fields[field % fields.length]!;
			const chosen = choices[value % choices.length];
			const custom = /^custom_fields\.(.*)/.exec(name)?.[1];
			if (custom !== undefined) body.custom_fields = { [custom]: chosen as string };
			else if (!linkFields.includes(name)) body[name] = chosen as string;
			else {
				const linked = this.records.filter((record) => record.recordType === chosen && record.deletedBy === undefined);
				const id = linked[target % Math.max(1, linked.length)]?.ids.at(-1);
				if (id === undefined) continue;
				body[name] = name === 'links' ? [{ resource: chosen as string, id }] : name === 'contact_ids' ? [id] : id;
			}
		}
		return body;
	}

	private async send(by: string, method: string, path: string, body?: IDataObject): Promise<{ status: number; body: IDataObject }> {
		const key = this.keyOf(by);
		return await this.sandbox.call(method, path, body, key === undefined ? {} : { 'idempotency-key': key });
	}

	/** The record's fields that a client sets, with the records of the history by their places. */
	private labeled(record: IDataObject): IDataObject {
		const fieldNames = [
			'first_name', 'last_name', 'job_title', 'address', 'marketing_consent', 'phones', 'phone', 'custom_fields', 'company_id',
			'parent_company_id', 'description', 'title', 'amount', 'contact_ids', 'contact_id', 'stage_id', 'status', 'links', 'tag_ids',
		];
		const clientFields = Object.fromEntries(
			[...fieldNames, ...(record.object === 'company' ? ['name'] : [])]
				.filter((name) => Object.hasOwn(record, name))
				.map((name) => [name, record[name]]),
		);
		let text = JSON.stringify(clientFields);
		for (const [i, { ids }] of this.records.entries()) for (const id of ids) text = text.replaceAll(id, `#${i}`);
		return JSON.parse(text) as IDataObject;
	}
}

/** A record without links to others, whose targets may be gone. */
export const withoutLinks = (record: IDataObject | undefined): IDataObject | undefined =>
	record && Object.fromEntries(Object.entries(record).filter(([name]) => !linkFields.includes(name)));
