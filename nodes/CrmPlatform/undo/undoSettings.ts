import { type INodeProperties, isExpression } from 'n8n-workflow';

import { type KeyOrigin, originOf } from '../api/http/idempotency';
import { causerNames } from '../log/cause';
import { locatorValue, storedParameter } from '../mapping/locator';
import type { NodeRun, Resource } from '../model';
import { pickerProperty } from '../parameters/recordParameters';
import { isBlank, listIn } from '../values/blank';
import { parseBoolean, parseDate, parseId, parseOption, parsePreview, parseText, parseWholeNumber } from '../values/parsers';
import { booleanProperty, choiceProperty, dateProperty, numberProperty, textProperty } from '../parameters/properties';

const undoPreview = booleanProperty('Preview', 'preview', true, 'Whether to only show what would be undone', {
	// n8n describes only one Preview to AI builders, for all operations: this one.
	builderHint: { propertyHint: 'For importFile: whether to only check the file; true if absent' },
});

const undoOf = choiceProperty('Undo Changes By', 'undoOf', 'execution', [
	['A User or API Key', 'actor'],
	['A Workflow', 'workflow'],
	['All Workflows of This Instance', 'instance'],
	['An Execution', 'execution'],
], { description: 'Who or what made the changes to undo' });

const undoId: INodeProperties = {
	...pickerProperty('Which One', 'undoId', 'searchCausers', {
		by: { name: 'id', displayName: 'By ID', hint: 'For an execution or a workflow: the last part of its URL in n8n. For a user or API key: actor.id of any event it caused' },
	}),
	typeOptions: { loadOptionsDependsOn: ['undoOf'] },
	displayOptions: { hide: { undoOf: ['instance'] } },
	description: 'The list covers the newest 10,000 events. For earlier changes, enter the ID.',
};

const since = dateProperty('Since', 'since', {
	description: 'Undo only changes made at or after this time. Optional for an execution: without it, the whole log is searched.',
});

const allowPartialUndo = booleanProperty('Allow Partial Undo', 'allowPartialUndo', true, 'Whether to undo what is still in the log, even if it does not reach back to Since');

const takesPrecedence = booleanProperty('Undo Takes Precedence', 'undoTakesPrecedence', true, 'Whether to also undo what others have changed since. Their changes are lost.');

export const maxUndone = numberProperty('Maximum Records', 'maxUndone', 1000, {
	typeOptions: { minValue: 0 },
	description: 'The maximum number of records to change. If more would change, nothing is written.',
});

const until = dateProperty('Until', 'until', { description: 'Keep changes made after this time, as those of others' });

/** Chooses records by id: unlike the filters of Get Many, ids also choose deleted records. */
const onlyRecords = textProperty('Only These Records', 'onlyRecords', {
	placeholder: 'e.g. con_01k1, con_01k2',
	description: 'IDs of the records to undo, separated by commas. A preview returns them. Other records stay as they are.',
});

const recordTypesOption = { displayName: 'Record Types', name: 'kinds' };

const recordTypesProperty = (recordTypes: Resource[]): INodeProperties => ({
	...recordTypesOption,
	type: 'multiOptions',
	options: recordTypes.map(({ name, value }) => ({ name, value })).sort((a, b) => (a.name < b.name ? -1 : 1)),
	default: [],
	description: 'Undo only changes to records of these types',
});

export const undoProperties = [undoPreview, undoOf, undoId, since];
export const undoOptions = (recordTypes: Resource[]): INodeProperties[] =>
	[allowPartialUndo, recordTypesProperty(recordTypes), maxUndone, onlyRecords, takesPrecedence, until];

const causerTypes = ['execution', 'workflow', 'instance', 'actor'] as const;

export interface CauserChoice {
	type: (typeof causerTypes)[number];
	/** Empty for all workflows of this n8n. */
	id: string;
	/** What the keys of its writes name. */
	origin: KeyOrigin;
	/** As messages name it. */
	label: string;
}

export interface UndoSettings {
	causer: CauserChoice;
	/** The times from which and until which to undo changes (Unix epoch ms). */
	since: number | undefined;
	until: number | undefined;
	allowsPartialUndo: boolean;
	isPreview: boolean;
	takesPrecedence: boolean;
	/** Whether the credential may not see all records, as an API key does: a deletion in the log may then mean that one became invisible. */
	isSightLimited: boolean;
	maximum: number;
	undoableTypes: Resource[];
	/** The chosen record types; all if empty. */
	recordTypes: string[];
	/** The ids of the records; all if absent. */
	onlyIds: ReadonlySet<string> | undefined;
}

/** @throws Error in the user's words for a choice that is missing or invalid */
export function readUndoSettings(run: NodeRun, item: number, undoableTypes: Resource[]): UndoSettings {
	const { n8n } = run;
	const isOn = ({ displayName, name }: INodeProperties): boolean =>
		parseBoolean(displayName, n8n.getNodeParameter(`options.${name}`, item, ''), { otherwise: false });
	/** Reads a parameter that limits the undo. It may be left empty, but an expression must return a value. */
	const limit = ({ displayName, name }: Pick<INodeProperties, 'displayName' | 'name'>, path = `options.${name}`): unknown => {
		const value: unknown = n8n.getNodeParameter(path, item, '');
		if (!isBlank(value)) return value;
		if (isExpression(storedParameter(n8n, path))) throw new Error(blankLimit(displayName));
		return undefined;
	};
	const time = (property: INodeProperties, path?: string) => {
		const value = limit(property, path);
		return value === undefined ? undefined : parseDate(property.displayName, value, { zone: n8n.getTimezone() }).toMillis();
	};
	const causer = readCauser(run, item);
	const sinceTime = time(since, since.name);
	const allowsPartialUndo = isOn(allowPartialUndo);
	if (sinceTime === undefined && causer.type !== 'execution' && !allowsPartialUndo) throw new Error(sinceMissing);
	return {
		causer,
		undoableTypes,
		since: sinceTime,
		until: time(until),
		recordTypes: [limit(recordTypesOption) ?? []].flat().map((value) =>
			parseOption(recordTypesOption.displayName, value, undoableTypes.map((resource) => resource.value)),
		),
		onlyIds: idSetOf(limit(onlyRecords)),
		allowsPartialUndo,
		isPreview: parsePreview(n8n.getNodeParameter(undoPreview.name, item, '')),
		takesPrecedence: isOn(takesPrecedence),
		isSightLimited: n8n.getNodeParameter('authentication', 0, 'apiKey') !== 'apiKey',
		maximum: parseWholeNumber(maxUndone.displayName, limit(maxUndone), { otherwise: Number(maxUndone.default) }),
	};
}

function readCauser({ n8n, identity: { instance } }: NodeRun, item: number): CauserChoice {
	const parameter = (name: string): unknown => n8n.getNodeParameter(name, item, '');
	const type = parseOption(undoOf.displayName, parameter(undoOf.name), [...causerTypes]);
	if (type === 'instance') return { type, id: '', origin: originOf(instance, ''), label: 'workflows of this n8n' };
	const id = parseText(undoId.displayName, locatorValue(parameter(undoId.name)), { otherwise: '' });
	if (id === '') throw new Error(`Which One: choose the ${causerNames[type]} whose changes to undo, or enter its ID.`);
	if (/^https?:/i.test(id)) throw new Error(`Which One: enter only the ID at the end of the URL, instead of ${id}.`);
	const origin = originOf(instance, type === 'workflow' ? id : '', type === 'execution' ? id : '');
	return { type, id, origin, label: `${causerNames[type]} ${id}` };
}

/** @throws Error in the user's words for a value that is not an id */
function idSetOf(value: unknown): UndoSettings['onlyIds'] {
	if (value === undefined) return undefined;
	const ids = listIn(value).map((id) => parseId(onlyRecords.displayName, id));
	if (ids.includes('') || ids.length === 0) {
		throw new Error(`${onlyRecords.displayName}: enter IDs, separated by commas, or an expression that gives a list of them. Nothing was written.`);
	}
	return new Set(ids);
}

const sinceMissing = 'Since: enter the time from which to undo changes. To undo whatever the log still contains, turn on Allow Partial Undo.';
const blankLimit = (label: string) =>
	`${label}: the expression returned nothing, so more would be undone than intended. Nothing was written. Correct or remove the expression.`;
