import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { collectionName, type Collection, type Query } from '../api/http/path';
import { notReadable } from '../api/http/statuses';
import { inParallel } from '../api/inParallel';
import { readPages } from '../api/lists/pages';
import { compareRecords } from '../api/lists/union';
import { isAnsweredWith } from '../api/refusals';
import { firstText, readRecord } from '../api/record';
import type { Field } from '../fields/field';
import { listItem } from '../lookUp/searchList';
import type { Operation } from '../model';
import { amountProperties } from '../parameters/listParameters';
import { simplifyProperty } from '../parameters/outputParameters';
import { ifEmptyOption, recordAt, recordProperty } from '../parameters/recordParameters';
import { limitOf } from '../reading/query';
import { eachItem } from '../schedule';
import { listIn } from '../values/blank';
import { parseBoolean, parseOption } from '../values/parsers';

/** The kinds of records that hang on others, by name. */
const timelineKinds = [
	{ name: 'Deal', value: 'deal', path: '/deals' },
	{ name: 'Logged Activity', value: 'activity', path: '/activities' },
	{ name: 'Message', value: 'message', path: '/messages' },
	{ name: 'Note', value: 'note', path: '/notes' },
	{ name: 'Task', value: 'task', path: '/tasks' },
	{ name: 'Ticket', value: 'ticket', path: '/tickets' },
] as const;

const kinds: INodeProperties = {
	displayName: 'Kinds',
	name: 'timelineKinds',
	type: 'multiOptions',
	options: timelineKinds.map(({ name, value }) => ({ name, value })),
	default: [],
	description: 'What to list; everything if empty',
};

export const getTimeline: Operation = {
	option: {
		name: 'Get Timeline',
		value: 'getTimeline',
		action: 'Get timeline of %',
		description: 'List what hangs on a record, newest first: messages, activities, notes, tasks, deals and tickets',
	},

	properties: (resource) => [recordProperty(resource), ...amountProperties, kinds, simplifyProperty],
	options: [ifEmptyOption],
	output: {
		type: 'object',
		properties: { kind: { type: 'string' }, id: { type: 'string' }, time: { type: 'string' }, summary: { type: 'string' } },
	},

	prepare(run) {
		const { n8n, api, resource } = run;
		return eachItem(async (item) => {
			const chosen = listIn(n8n.getNodeParameter(kinds.name, item, [])).map((kind) =>
				parseOption(kinds.displayName, kind, timelineKinds.map(({ value }) => value)),
			);
			const { id, path } = recordAt(run, item);
			const entries = await readTimeline(api, {
				path: resource.path,
				id,
				kinds: chosen,
				limit: limitOf(n8n, item),
				isWhole: !parseBoolean('Simplify', n8n.getNodeParameter('simplify', item, true)),
			});
			// Nothing hangs on a record that does not exist.
			if (entries.length === 0) await readRecord(api, path);
			return entries;
		});
	},
};

interface TimelineOf {
	path: Collection;
	id: string;
	/** The kinds to list, such as `note`; all if empty. */
	kinds: readonly string[];
	/** Whether the kinds are all that a model may see, and not chosen for this record. */
	areVisible?: boolean;
	limit?: number | undefined;
	/** Whether to add the whole records. */
	isWhole?: boolean;
}

/**
 * What hangs on a record: the records of each kind that link to it, newest first. A kind that the credential may not read, or
 * the service does not list by its links, is left out, and a notice says so.
 */
export async function readTimeline(api: Connection, { path, id, kinds, areVisible, limit, isWhole = false }: TimelineOf): Promise<IDataObject[]> {
	const chosen = timelineKinds.filter(({ value }) => kinds.length === 0 || kinds.includes(value));
	const found = await inParallel(chosen, async ({ name, value: kind, path: kindPath }): Promise<IDataObject[]> => {
		const { list, fields = [] } = (await api.describe(kindPath)) ?? {};
		api.requireDescription('Get Timeline');
		const leaveOut = (why: string) => void api.notices.add(`Get Timeline: records of the kind ${name} were left out. ${why}`);
		const queries = linkQueries(list?.filters ?? [], path, id);
		if (!list || queries.length === 0) {
			// Records of other kinds have no such link, and need no filter.
			if ((kinds.includes(kind) && !areVisible) || linkQueries(fields, path, id).length > 0) leaveOut(`The CRM cannot list them by ${collectionName(path)}.`);
			return [];
		}
		const time = list.sort?.values.includes('-occurred_at') ? 'occurred_at' : 'created_at';
		const sort: Query = list.sort?.values.includes(`-${time}`) ? { [list.sort.name]: `-${time}` } : {};
		// Without an order, the newest may be the last of all.
		const isSorted = Object.keys(sort).length > 0;
		const reading = inParallel(queries, async (query) => {
			const records: IDataObject[] = [];
			for await (const page of readPages(api.send, { path: kindPath, list, query: { ...query, ...sort }, ...(isSorted && limit && { limit }) })) {
				records.push(...page.records);
			}
			return records;
		});
		const records = await reading.catch((error: unknown) => {
			if (!isAnsweredWith(error, ...notReadable)) throw error;
			leaveOut(error.message);
			return [];
		});
		const distinct = new Map(records.flat().map((record) => [record.id, record])).values();
		return [...distinct].map((record) => ({ kind, id: record.id, time: record[time], summary: summaryOf(record), ...(isWhole && { record }) }));
	});
	return found.flat().sort((a, b) => compareRecords(a, b, [{ field: 'time', direction: -1 }])).slice(0, limit);
}

/** The queries for the records that link to a record, one for each field that may hold the link. */
function linkQueries(filters: Field[], collection: Collection, id: string): Query[] {
	return filters.flatMap((filter): Query[] => {
		if (filter.linksTo?.includes(collection)) return [{ [filter.name]: [`${collectionName(collection)}:${id}`] }];
		// A comparison, even an unknown one, is in brackets.
		const isLink = filter.target === collection && filter.part === undefined && !filter.name.includes('[');
		return isLink ? [{ [filter.name]: [id] }] : [];
	});
}

/** `inbound email: Re: Offer – read` */
function summaryOf(record: IDataObject): string {
	const origin = ['direction', 'channel', 'type'].map((name) => firstText(record, [name])).filter((text) => text !== undefined);
	// The time stands beside it.
	const { name } = listItem({ ...record, created_at: undefined });
	return [origin.join(' '), name].filter((text) => text !== '').join(': ').replace(/\s+/g, ' ');
}
