import { isExpression, type INodeProperties } from 'n8n-workflow';

import type { CrmEvent } from '../log/crmEvent';
import { idText } from '../base/json';
import { locatorValue } from '../mapping/locator';
import { storedParameter } from '../mapping/storedParameter';
import type { Execution, Resource } from '../model';
import { isBlank, listIn } from '../values/blank';
import { readBoolean, readDate, readOption, readPreview, readText, readWholeNumber } from '../values/readers';
import { causerNames, causerTypes, ChangeCauser, type CauserType } from '../log/cause';
import {
	allowPartialUndo,
	maxUndone,
	onlyRecords,
	recordTypesOption,
	since,
	takesPrecedence,
	undoId,
	undoOf,
	undoPreview,
	until,
} from './undoProperties';

/** The user's choices. */
export interface UndoChoices {
	/** Whether an event is to be undone. @throws Error in the user's words if the service does not report who caused it */
	isChosen(event: CrmEvent): boolean;
	causer: ChangeCauser;
	/** The time from which to undo changes (Unix epoch ms). */
	since?: number;
	allowsPartialUndo: boolean;
	isPreview: boolean;
	takesPrecedence: boolean;
	/**
	 * Whether the credential may see only some of the records: only an API key sees all. A deletion in the log may then
	 * mean that a record became invisible.
	 */
	isSightLimited: boolean;
	maximum: number;
	/** The record types; all if empty. */
	recordTypes: string[];
	/** The ids of the records; all if absent. */
	onlyIds?: ReadonlySet<string>;
}

/** @throws Error in the user's words for a choice that is missing or invalid */
export function readUndoChoices(execution: Execution, item: number, undoableTypes: Resource[]): UndoChoices {
	const { n8n } = execution;
	const option = (name: string): unknown => n8n.getNodeParameter(`options.${name}`, item, '');
	/** Reads a parameter that limits the undo. It may be left empty, but an expression must return a value. */
	const limit = ({ displayName, name }: Pick<INodeProperties, 'displayName' | 'name'>, path = `options.${name}`): unknown => {
		const value: unknown = n8n.getNodeParameter(path, item, '');
		if (!isBlank(value)) return value;
		if (isExpression(storedParameter(n8n, path))) throw new Error(blankLimit(displayName));
		return undefined;
	};
	const time = (property: INodeProperties, path?: string) => {
		const value = limit(property, path);
		return value === undefined ? undefined : readDate(property.displayName, value, { zone: n8n.getTimezone() }).toMillis();
	};
	const { type, id } = readCauser(execution, item);
	const begin = time(since, since.name);
	const allowsPartialUndo = readBoolean(allowPartialUndo.displayName, option(allowPartialUndo.name), { otherwise: false });
	if (begin === undefined && type !== 'execution' && !allowsPartialUndo) throw new Error(sinceMissing);
	const end = time(until);
	const chosenRecordTypes = limit(recordTypesOption);
	const chosenIds = limit(onlyRecords);
	const causer = new ChangeCauser(type, id, execution.identity.instance);
	const isWithin = ({ timestamp }: CrmEvent): boolean => {
		const eventTime = Date.parse(timestamp);
		return (begin === undefined || eventTime >= begin) && (end === undefined || eventTime <= end);
	};
	return {
		isChosen: (event) => isWithin(event) && causer.hasCaused(event),
		causer,
		...(begin !== undefined && { since: begin }),
		allowsPartialUndo,
		isPreview: readPreview(n8n.getNodeParameter(undoPreview.name, item, '')),
		takesPrecedence: readBoolean(takesPrecedence.displayName, option(takesPrecedence.name), { otherwise: false }),
		isSightLimited: n8n.getNodeParameter('authentication', 0, 'apiKey') !== 'apiKey',
		maximum: readWholeNumber(maxUndone.displayName, limit(maxUndone), { otherwise: Number(maxUndone.default) }),
		...(chosenIds !== undefined && { onlyIds: idsIn(chosenIds) }),
		recordTypes: [chosenRecordTypes ?? []].flat().map((value) =>
			readOption(recordTypesOption.displayName, value, undoableTypes.map((resource) => resource.value)),
		),
	};
}

function readCauser({ n8n }: Execution, item: number): { type: CauserType; id: string } {
	const parameter = (name: string): unknown => n8n.getNodeParameter(name, item, '');
	const type = readOption<CauserType>(undoOf.displayName, parameter(undoOf.name), [...causerTypes]);
	if (type === 'instance') return { type, id: '' };
	const id = readText(undoId.displayName, locatorValue(parameter(undoId.name)), { otherwise: '' });
	if (id === '') throw new Error(`Which One: choose the ${causerNames[type]} whose changes to undo, or enter its ID.`);
	if (/^https?:/i.test(id)) throw new Error(`Which One: enter only the ID at the end of the URL, instead of ${id}.`);
	return { type, id };
}

/** @throws Error in the user's words for a value that is not an id */
function idsIn(value: unknown): ReadonlySet<string> {
	const ids = listIn(value).map(idText);
	if (ids.includes(undefined) || ids.length === 0) {
		throw new Error(`${onlyRecords.displayName}: enter IDs, separated by commas, or an expression that gives a list of them. Nothing was written.`);
	}
	return new Set(ids as string[]);
}

const sinceMissing = 'Since: enter the time from which to undo changes. To undo whatever the log still contains, turn on Allow Partial Undo.';
const blankLimit = (label: string) =>
	`${label}: the expression returned nothing, so more would be undone than intended. Nothing was written. Correct or remove the expression.`;
