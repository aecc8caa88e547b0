import { isExpression, type IExecuteFunctions } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { checkExact } from '../api/http/numbers';
import { filledPath } from '../api/http/path';
import { labelFor } from '../fields/field';
import type { Execution } from '../model';
import { evaluateValues } from './expressions/evaluateValues';

/** The id inside a stored resource locator; an expression may stand for the id, or for the locator. */
export function locatorValue(picked: unknown): unknown {
	if (!isObject(picked)) return picked;
	return 'value' in picked ? picked.value : undefined;
}

/** Whether a stored resource locator may hold a name in place of the id. */
export const isByName = (picked: unknown): boolean => isObject(picked) && picked.mode === 'name';

/** Whether a stored resource locator holds the id of a record that was picked from its list. */
export const isFromList = (picked: unknown): boolean =>
	isObject(picked) && picked.mode === 'list' && !isExpression(picked.value);

/** The same for the parameter `parameter`. */
export const isListed = (n8n: IExecuteFunctions, parameter: string): boolean =>
	isFromList(n8n.getNodeParameter(parameter, 0, '', { rawExpressions: true }));

/** The id, or the name, picked in a resource locator; empty where nothing was picked. */
export function pickedId(n8n: IExecuteFunctions, parameter: string, item: number): string {
	const picked = locatorValue(readerOf(n8n, parameter)(item));
	checkExact(labelOf(parameter), picked);
	return typeof picked === 'string' || typeof picked === 'number' ? String(picked).trim() : '';
}

/** Path of the collection an item is about, the ids of its parents filled in. */
export function collectionPath({ n8n, resource }: Execution, item: number): string {
	return `/v1${filledPath(resource.path, (parent) => pickedId(n8n, parent, item))}`;
}

type Reader = (item: number) => unknown;

// A parameter is read once, for all items of an execution.
const readers = new WeakMap<IExecuteFunctions, Map<string, Reader>>();

function readerOf(n8n: IExecuteFunctions, parameter: string): Reader {
	const readersByParameter = readers.get(n8n) ?? new Map<string, Reader>();
	readers.set(n8n, readersByParameter);
	const reader = readersByParameter.get(parameter) ?? readerFor(n8n, parameter);
	readersByParameter.set(parameter, reader);
	return reader;
}

function readerFor(n8n: IExecuteFunctions, parameter: string): Reader {
	const stored: unknown = n8n.getNodeParameter(parameter, 0, '', { rawExpressions: true });
	const read = evaluateValues(n8n, [{ label: labelOf(parameter), value: locatorValue(stored) }]);
	return (item) => read(item)[0];
}

const labelOf = (parameter: string): string => labelFor(parameter.replace(/(Id|Key)$/, ''));
