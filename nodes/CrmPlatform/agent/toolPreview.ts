import type { IDataObject } from 'n8n-workflow';

import type { ApiRequest } from '../api/http/request';
import { isBlank } from '../fields/blank';
import { labelFor } from '../fields/field';
import { isPlainObject } from '../api/http/ownMembers';
import { fieldsOfKind, forReading } from './toolFields';
import type { NamedRecord } from './toolRecords';
import type { ToolRun } from './toolRun';
import type { ToolKind } from './toolSettings';

/** A write as it would be sent, and the record that it changes, if there is one. */
export interface PlannedWrite {
	kind: ToolKind;
	/** `Update`, `Win`. */
	verb: string;
	request: ApiRequest;
	target?: NamedRecord;
}

/** A text of more characters is shortened: a person reads this. */
const maxShown = 200;

/** What a write does, in words: `Update deal Altamira (dea_…): Amount: 1,200 → 12,000`. */
export async function writeInWords(run: ToolRun, { kind, verb, request, target }: PlannedWrite): Promise<string> {
	const what = `${verb} ${kind.name}${target ? ` ${target.title}` : ''}`;
	const changes = await changesInWords(run, kind, (request.body ?? {}) as IDataObject, target?.record);
	return changes === '' ? what : `${what}: ${changes}`;
}

/** Whether the record has these values already. */
export function changesNothing({ request: { method, body = {} }, target }: PlannedWrite): boolean {
	if (method !== 'PATCH' || !target) return false;
	const isIn = (values: IDataObject, record: IDataObject): boolean =>
		Object.entries(values).every(([name, value]) => {
			const old = record[name];
			if (isPlainObject(value) && isPlainObject(old)) return isIn(value as IDataObject, old as IDataObject);
			return JSON.stringify(value) === JSON.stringify(old ?? null);
		});
	return isIn(body as IDataObject, target.record);
}

async function changesInWords(run: ToolRun, kind: ToolKind, body: IDataObject, record: IDataObject | undefined): Promise<string> {
	const names = Object.keys(body);
	if (names.length === 0) return '';
	const fields = await fieldsOfKind(run, kind);
	const before = Object.fromEntries(names.map((name) => [name, record?.[name] ?? null])) as IDataObject;
	const [old = {}, next = {}] = await forReading(run.api, fields, [before, body]);
	const labelOf = (name: string) => fields.find((field) => field.name === name)?.label ?? labelFor(name.replace(/^custom_fields\./, ''));
	const flat = (values: IDataObject, prefix = ''): Array<[string, unknown]> =>
		Object.entries(values).flatMap(([name, value]) => (isPlainObject(value) ? flat(value as IDataObject, `${prefix}${name}.`) : [[prefix + name, value] as [string, unknown]]));
	const oldValues = new Map(flat(old));
	const newValues = new Map(flat(next));
	const changed = [...new Set(flat(body).map(([name]) => name))];
	return changed
		.flatMap((name) => {
			const [from, to] = [shown(oldValues.get(name)), shown(newValues.get(name))];
			if (!record) return [`${labelOf(name)}: ${to}`];
			return from === to ? [] : [`${labelOf(name)}: ${from} → ${to}`];
		})
		.join('; ');
}

function shown(value: unknown): string {
	if (isBlank(value)) return '(empty)';
	if (typeof value === 'number') return value.toLocaleString('en');
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	return text.length > maxShown ? `${text.slice(0, maxShown)}… (${text.length} characters)` : text;
}
