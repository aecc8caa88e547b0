import type { IDataObject, ITriggerFunctions } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import { withoutParameterNames, type Query } from '../../api/http/path';
import { withFields } from '../../lookUp/lookUp';
import { readFilters } from '../../mapping/filterValues';
import { pickedId, collectionPath } from '../../mapping/locator';
import type { Execution } from '../../model';
import { chosenFields, simplify, summaryFields } from '../../reading/simplify';
import { resourceNamed } from '../../resources';
import { asExecution } from '../onlyIf';
import { isStartedByN8n } from '../reportFailure';
import { storedPosition } from './position';
import type { RecordScope } from './records';

/** The scope of records, and the types of the events that report their changes. */
interface RecordChoice {
	scope: RecordScope;
	eventTypes: string[];
}

/**
 * Reads which records the user chose, and their output, as Get Many does.
 *
 * @throws Error in the user's words if the service does not list the records or does not report their changes
 */
export async function readRecordChoice(n8n: ITriggerFunctions, api: Connection): Promise<RecordChoice> {
	const resource = resourceNamed(String(n8n.getNodeParameter('resource', 'contact')));
	const description = resource && (await api.describe(resource.path));
	const { types } = await api.describeEvents();
	const recordPath = withoutParameterNames(resource?.path ?? '');
	const matchingTypes = types.filter(({ collection }) => collection !== undefined && withoutParameterNames(collection) === recordPath);
	if (!resource || !description?.list || matchingTypes.length === 0) {
		throw new Error('The CRM cannot list these records or their changes. Choose Events.');
	}
	const { list, fields } = description;
	const [operation] = resource.operations;
	const execution: Execution = {
		n8n: asExecution(n8n),
		api,
		resource,
		operation: operation!,
		// A trigger writes nothing, so it needs no idempotency keys.
		identity: {} as Execution['identity'],
	};
	const path = collectionPath(execution, 0);
	// Records of a custom object have events of their own: `custom.{key}.created`.
	const [object] = resource.parents ?? [];
	const key = object ? pickedId(execution.n8n, object.name, 0) : '';
	const entered = JSON.stringify([path, n8n.getNodeParameter('recordFilters', {})]);
	const stored = isStartedByN8n(n8n) ? storedPosition(n8n)?.filters : undefined;
	const isUnchanged = stored?.entered === entered;
	const filters = isUnchanged ? (stored.queries as Query[]) : (await readFilters(execution, 'recordFilters', list)).queries(0);
	const output = chosenFields(execution, 0, fields ?? []) ?? summaryFields({ n8n: execution.n8n }, description)(0);
	const times = [list.created, list.changed].flatMap((time) => time?.field ?? []);
	const needed = output && [...times, ...output.map(({ path: [name] }) => name)];
	return {
		eventTypes: matchingTypes.map(({ type }) => type.replace(/\{\w+\}/g, key)),
		scope: {
			path,
			list,
			entered,
			filters,
			queries: needed ? filters.map((query) => withFields(list, query, needed)) : filters,
			output: (record: IDataObject) => (output ? { id: record.id, ...simplify(record, output) } : record),
		},
	};
}
