import { isExpression, type IExecuteFunctions } from 'n8n-workflow';

import { onceFor } from '../base/maps';
import { isObject } from '../base/json';
import { checkExact } from '../base/numbers';
import { labelFor } from '../fields/field';
import { Evaluation } from './expressions/evaluation';
import { filledPath, type Collection } from '../api/http/path';
import type { ReadingRun } from '../model';

/**
 * A parameter as the workflow stores it, with its expressions. When n8n loads a workflow, it drops the options that the
 * chosen operation does not offer (`Workflow`, n8n 2.41), so they need no check here.
 */
export const storedParameter = (n8n: IExecuteFunctions, name: string, absent: object | string | boolean = {}): unknown =>
	n8n.getNodeParameter(name, 0, absent, { rawExpressions: true });

/** The id inside a stored resource locator. The id or the whole locator may be an expression. */
export function locatorValue(picked: unknown): unknown {
	if (!isObject(picked)) return picked;
	return 'value' in picked ? picked.value : undefined;
}

/** Whether a stored resource locator may contain a name instead of an id. */
export const isByName = (picked: unknown): boolean => isObject(picked) && (picked.mode === 'name' || mayCreate(picked));

/** The mode of a resource locator whose name may be that of a record to create. */
export const createdMode = 'newName';
export const mayCreate = (picked: unknown): boolean => isObject(picked) && picked.mode === createdMode;

/** Whether a stored resource locator contains the id of a record that was picked from its list. */
export const isFromList = (picked: unknown): boolean =>
	isObject(picked) && picked.mode === 'list' && !isExpression(picked.value);

/** The id or name in a resource locator; empty if nothing was picked. */
export function pickedId(n8n: IExecuteFunctions, parameter: string, item: number): string {
	const picked = locatorValue(evaluationOf(n8n, parameter).valuesOf(item)[0]);
	checkExact(labelOf(parameter), picked);
	return typeof picked === 'string' || typeof picked === 'number' ? String(picked).trim() : '';
}

// A parameter is read once for all items of an execution.
const evaluationOf = onceFor((n8n: IExecuteFunctions, parameter) =>
	new Evaluation(n8n, [{ label: labelOf(parameter), value: locatorValue(storedParameter(n8n, parameter, '')) }]));

const labelOf = (parameter: string): string => labelFor(parameter.replace(/(Id|Key)$/, ''));

/** The collection of an item's records, with the ids of its parents. */
export function collectionPath({ n8n, resource }: ReadingRun, item: number): Collection {
	return filledPath(resource.path, (parent) => pickedId(n8n, parent, item));
}
