import type { ListDescription } from '../../../../nodes/CrmPlatform/api/openapi/listing';
import { RecordReader, type RecordScope } from '../../../../nodes/CrmPlatform/trigger/poll/records';
import type { Connection } from '../../../../nodes/CrmPlatform/api/connection';
import type { Query } from '../../../../nodes/CrmPlatform/api/http/path';
import { httpError } from '../../../http/http-error.ts';

export interface ModelRecord {
	id: string;
	created_at: string;
	updated_at: string;
	stage: string;
	/** Counts its changes. */
	revision: number;
}

/** The types of events about records. */
export const recordTypes = ['p.created', 'p.deleted', 'p.updated'];

const list = {
	cursor: 'cursor',
	pageSize: { name: 'limit', maximum: 3 },
	sort: { name: 'sort', values: ['created_at', '-created_at'] },
	filters: [{ name: 'ids', kind: 'list' }, { name: 'created_at[gte]', kind: 'dateTime' }, { name: 'stage', kind: 'text' }],
	changed: { field: 'updated_at', since: 'updated_since', until: 'updated_until' },
	created: { field: 'created_at', from: 'created_at[gte]', before: 'created_at[lt]' },
} as unknown as ListDescription;

/** The records of this stage, or all. */
export function scopeOf(stage: string): RecordScope {
	const filters = { entered: stage, queries: [stage === '' ? {} : { stage }] };
	return { path: '/people', template: '/people', list, fields: [], filters };
}

/** The trigger's reader of records. @param answer the list that the service returns; a record alone is its only one with this ID */
export function readerOf(scope: RecordScope, answer: (query: Query) => { data: object[] }): RecordReader {
	const send = async ({ path, query }: { path: string; query: Query }) => {
		const id = path.slice(scope.path.length + 1);
		const body = id === '' ? answer(query) : answer({ ids: id }).data[0];
		if (!body) throw httpError('404');
		return { status: 200, headers: {}, body };
	};
	return new RecordReader({ send } as unknown as Connection, scope);
}

/** A page of the list of records, as the service answers. The cursor names a record that may have been deleted. */
export function pageOf(records: ModelRecord[], query: Query): { data: ModelRecord[]; next_cursor: string | null } {
	const ids = [query.ids ?? []].flat().map(String);
	const from = String(query['created_at[gte]'] ?? '');
	const after = String(query.cursor ?? '').split(' ');
	const found = records
		.filter(({ id, stage, created_at }) => {
			const isWanted = (ids.length === 0 || ids.includes(id)) && (query.stage === undefined || stage === query.stage);
			const isBehind = query.cursor === undefined || [created_at, id].join(' ') > after.join(' ');
			return isWanted && isBehind && created_at >= from;
		})
		.sort((a, b) => ([a.created_at, a.id].join(' ') < [b.created_at, b.id].join(' ') ? -1 : 1));
	const data = found.slice(0, ids.length > 0 ? 100 : 3);
	const last = data.at(-1);
	return { data, next_cursor: last && found.length > data.length ? `${last.created_at} ${last.id}` : null };
}
