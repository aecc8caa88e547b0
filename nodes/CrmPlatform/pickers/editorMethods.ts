import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { searchCausers } from './causerPicker';
import { NothingToOffer } from './editorContext';
import { eventPickers } from './eventPickers';
import { filterPickers } from './filterPickers';
import {
	getChangedFields, getDuplicateFields, getGroupFields, getMergedFields, getOutputFields, getRecordTypes, getSortOrders, getSumFields,
} from './listOptions';
import {
	getColumnFields, getColumnOptions, getFields, getFieldsToSet, getMatchFields, getSyncFields, getSyncMatchFields, getSyncOtherMatchFields,
} from './mapperFields';
import {
	getLinks, searchCustomObjects, searchLinked, searchPipelines, searchRecords, searchStages, searchTags, searchUsers, searchWebhooks,
} from './searchPickers';
import { testCredential } from './testCredential';

type OptionsMethod = (this: ILoadOptionsFunctions) => Promise<INodePropertyOptions[]>;

/** Lists that say what to choose first, where n8n would show “Error fetching options”. */
const withReasons = (methods: Record<string, OptionsMethod>): Record<string, OptionsMethod> =>
	Object.fromEntries(
		Object.entries(methods).map(([name, method]) => [
			name,
			async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
				return await method.call(this).catch((error: Error) => {
					if (!(error instanceof NothingToOffer)) throw error;
					return [{ name: error.message, value: '' }];
				});
			},
		]),
	);

/** What n8n calls while a node is open in the editor. Every node has all of it, and its parameters name what they need. */
export const editorMethods = {
	credentialTest: { testCredential },
	listSearch: {
		searchCausers,
		searchCustomObjects,
		searchLinked,
		searchPipelines,
		searchRecords,
		searchStages,
		searchTags,
		searchUsers,
		searchWebhooks,
	},
	loadOptions: withReasons({
		...eventPickers,
		...filterPickers,
		getChangedFields,
		getColumnOptions,
		getDuplicateFields,
		getGroupFields,
		getLinks,
		getMatchFields,
		getMergedFields,
		getOutputFields,
		getRecordTypes,
		getSortOrders,
		getSumFields,
		getSyncMatchFields,
		getSyncOtherMatchFields,
	}),
	resourceMapping: { getColumnFields, getFields, getFieldsToSet, getSyncFields },
};
