import type { INodeProperties } from 'n8n-workflow';

import { requireDescribed } from '../api/requireDescribed';
import { queriesOf, readFilters } from '../mapping/filters';
import { collectionPath } from '../mapping/locator';
import type { Operation } from '../model';
import { listFilters } from '../parameters/listParameters';
import { listedChoice } from '../parameters/properties';
import { fieldsDependOn } from '../parameters/recordParameters';
import { countRecords } from '../reading/counting';
import { eachItem } from '../schedule';
import { listIn } from '../values/blank';

const fieldChoice = (displayName: string, name: string, method: string, hint: string): INodeProperties =>
	listedChoice({ displayName, name, hint }, method, fieldsDependOn);

const groupBy = fieldChoice('Group By Names or IDs', 'groupBy', 'getGroupFields', 'An item per group. In expressions, times have a period: created_at:month.');
const sumOf = fieldChoice('Sum Field Names or IDs', 'sumOf', 'getSumFields', 'With average, minimum and maximum');

export const count: Operation = {
	option: { name: 'Count', value: 'count', action: 'Count %s', description: 'Count records and add up their numbers, by group' },
	properties: () => [listFilters, groupBy, sumOf],
	output: null,
	isOnceForAll: true,

	async prepare(run) {
		const { api, n8n } = run;
		const description = await requireDescribed(run, 'list');
		const { list } = description;
		const filters = await readFilters(run, 'filters', list);
		return eachItem(async (item) => {
			const path = collectionPath(run, item);
			const chosen = (property: INodeProperties) => listIn(n8n.getNodeParameter(property.name, item, [])).map(String);
			const request = { path, list, queries: queriesOf(filters[item]!), groupBy: chosen(groupBy), sumOf: chosen(sumOf), zone: n8n.getTimezone() };
			const { rows, recordsRead } = await countRecords(api, description, request);
			if (recordsRead > 0) api.notices.add(`Count: ${recordsRead.toLocaleString('en')} records were read, since the CRM does not count or add up in this way itself.`);
			return rows;
		});
	},
};
