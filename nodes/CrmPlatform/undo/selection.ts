import { isExpression, type INodeProperties } from 'n8n-workflow';

import { actorOf, originOfEvent, tellsOrigin, type CrmEvent } from '../api/crmEvent';
import { originOf } from '../api/http/idempotency';
import { idText } from '../api/http/json';
import { isBlank, listIn } from '../values/blank';
import { locatorValue } from '../mapping/locator';
import type { Execution, Resource } from '../model';
import { readBoolean, readDate, readOption, readText, readWholeNumber } from '../values/readers';
import { asFar, kindsOption, maxUndone, onlyRecords, undoPreview, since, takesPrecedence, undoId, undoOf, until } from './undoProperties';

type WhatToUndo = 'execution' | 'workflow' | 'instance' | 'actor';

/** The user's choices. */
export interface UndoChoices {
	/** Whether an event is to be undone. @throws Error in the user's words where the service does not tell who caused it */
	isChosen(event: CrmEvent): boolean;
	/** The same in words, for a message. */
	causerLabel: string;
	/** What to try where nothing is found. */
	hint: string;
	/** Unix epoch milliseconds. */
	since?: number;
	isAsFarAsLog: boolean;
	isPreview: boolean;
	takesPrecedence: boolean;
	maximum: number;
	/** The kinds of records; all if empty. */
	kinds: string[];
	/** The ids of the records; of all if absent. */
	only?: ReadonlySet<string>;
}

/** @throws Error in the user's words for what is missing, or means nothing */
export function readChoices({ n8n, identity }: Execution, item: number, kinds: Resource[]): UndoChoices {
	const readParameter = (name: string): unknown => n8n.getNodeParameter(name, item, '');
	const option = (name: string): unknown => n8n.getNodeParameter(`options.${name}`, item, '');
	/** What narrows an undo: nothing where it is left empty, but not where an expression gives nothing. */
	const limit = ({ displayName, name }: Pick<INodeProperties, 'displayName' | 'name'>, path = `options.${name}`): unknown => {
		const value: unknown = n8n.getNodeParameter(path, item, '');
		if (!isBlank(value)) return value;
		if (isExpression(n8n.getNodeParameter(path, item, '', { rawExpressions: true }))) throw new Error(blankLimit(displayName));
		return undefined;
	};
	const moment = (property: INodeProperties, path?: string) => {
		const value = limit(property, path);
		return value === undefined ? undefined : readDate(property.displayName, value, { zone: n8n.getTimezone() }).toMillis();
	};
	const causerKind = readOption<WhatToUndo>(undoOf.displayName, readParameter(undoOf.name), ['execution', 'workflow', 'instance', 'actor']);
	const id = causerKind === 'instance' ? '' : readText(undoId.displayName, locatorValue(readParameter(undoId.name)), { otherwise: '' });
	if (causerKind !== 'instance' && id === '') throw new Error(`Which One: choose the ${words[causerKind]} whose changes to undo, or enter its ID.`);
	if (/^https?:/i.test(id)) throw new Error(`Which One: enter only the ID at the end of the address, instead of ${id}.`);
	const from = moment(since, since.name);
	const isAsFarAsLog = readBoolean(asFar.displayName, option(asFar.name), { otherwise: false });
	if (from === undefined && causerKind !== 'execution' && !isAsFarAsLog) {
		throw new Error('Since: enter the time from which to undo changes. To undo whatever the log still contains, turn on Allow Partial Undo.');
	}
	const last = moment(until);
	const chosenKinds = limit(kindsOption);
	const chosenIds = limit(onlyRecords);
	const chosenOrigin = originOf(identity.instance, causerKind === 'workflow' ? id : '', causerKind === 'execution' ? id : '');
	let workflow: string | undefined;
	const isBy = (event: CrmEvent): boolean => {
		if (causerKind === 'actor') return actorOf(event) === id;
		if (!tellsOrigin(event)) throw new Error(unknownCauser);
		const origin = originOfEvent(event);
		if (origin?.instance !== chosenOrigin.instance) return false;
		if (causerKind === 'instance') return true;
		if (causerKind === 'workflow') return origin.workflow === chosenOrigin.workflow;
		if (origin.execution !== chosenOrigin.execution) return false;
		// A database that was set up anew, or beside another with the same encryption key, counts from 1 again.
		workflow ??= origin.workflow;
		if (origin.workflow !== workflow) throw new Error(sharedNumber(id, [workflow, origin.workflow]));
		return true;
	};
	const isWithin = ({ timestamp }: CrmEvent): boolean => {
		const time = Date.parse(timestamp);
		return (from === undefined || time >= from) && (last === undefined || time <= last);
	};
	return {
		isChosen: (event) => isWithin(event) && isBy(event),
		causerLabel: `${causerKind === 'instance' ? 'workflows of this n8n' : `${words[causerKind]} ${id}`}`,
		hint: causerKind === 'execution' ? ' If it is a retry, enter the number of the execution that it retries.' : '',
		...(from !== undefined && { since: from }),
		isAsFarAsLog,
		isPreview: readOption(undoPreview.displayName, String(readParameter(undoPreview.name)), ['true', 'false']) === 'true',
		takesPrecedence: readBoolean(takesPrecedence.displayName, option(takesPrecedence.name), { otherwise: false }),
		maximum: readWholeNumber(maxUndone.displayName, limit(maxUndone), { otherwise: Number(maxUndone.default) }),
		...(chosenIds !== undefined && { only: idsIn(chosenIds) }),
		kinds: chosenKinds === undefined
			? []
			: [chosenKinds].flat().map((kind) => readOption(kindsOption.displayName, kind, kinds.map(({ value }) => value))),
	};
}

/** @throws Error in the user's words for a value that is not an id */
function idsIn(value: unknown): ReadonlySet<string> {
	const ids = (typeof value === 'string' ? listIn(value) : [value].flat()).map(idText);
	if (ids.includes(undefined) || ids.length === 0) throw new Error(`${onlyRecords.displayName}: enter IDs, separated by commas, or an expression that gives a list of them. Nothing was written.`);
	return new Set(ids as string[]);
}

const words = { execution: 'execution', workflow: 'workflow', actor: 'user or key' };

const blankLimit = (label: string) => `${label}: the expression returned nothing, so more would be undone than intended. Nothing was written. Correct or remove the expression.`;
const sharedNumber = (id: string, workflows: string[]) =>
	`Executions of several workflows have the number ${id}: ${workflows.join(' and ')}. Nothing was written. Choose A Workflow, with Since and Until around the execution.`;
const unknownCauser =
	'The service does not report which request caused an event, so the changes made by a workflow cannot be distinguished from others. Nothing was written. Choose A User or API Key.';

/** Tells whether an execution has caused an event. */
export function causedBy({ identity: { instance, workflow, execution } }: Execution): (event: CrmEvent) => boolean {
	const executionOrigin = originOf(instance, workflow, execution);
	return (event) => {
		const origin = originOfEvent(event);
		return origin !== undefined && origin.instance === executionOrigin.instance && origin.workflow === executionOrigin.workflow && origin.execution === executionOrigin.execution;
	};
}
