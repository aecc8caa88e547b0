import type { IExecuteFunctions } from 'n8n-workflow';

import { labelFor } from '../api/openapi/fields';
import { filledPath } from '../api/http/path';
import type { Execution } from '../model';
import { evaluateValues } from './expressions';
import { locatorValue } from './locator';

/** What was picked in a resource locator; nothing where nothing was. */
export function pickedId(n8n: IExecuteFunctions, parameter: string, item: number): string {
	const picked = locatorValue(readerOf(n8n, parameter)(item));
	return typeof picked === 'string' || typeof picked === 'number' ? String(picked).trim() : '';
}

/** Path of the collection an item is about, with what its records belong to. */
export function collectionPath({ n8n, resource }: Execution, item: number): string {
	return `/v1${filledPath(resource.path, (parent) => pickedId(n8n, parent, item))}`;
}

type Reader = (item: number) => unknown;

// As mappings are: read as stored, once for all items of an execution.
const readers = new WeakMap<IExecuteFunctions, Map<string, Reader>>();

function readerOf(n8n: IExecuteFunctions, parameter: string): Reader {
	const known = readers.get(n8n) ?? new Map<string, Reader>();
	readers.set(n8n, known);
	const reader = known.get(parameter) ?? readerFor(n8n, parameter);
	known.set(parameter, reader);
	return reader;
}

function readerFor(n8n: IExecuteFunctions, parameter: string): Reader {
	const stored: unknown = n8n.getNodeParameter(parameter, 0, '', { rawExpressions: true });
	const label = labelFor(parameter.replace(/(Id|Key)$/, ''));
	const read = evaluateValues(n8n, [{ label, value: locatorValue(stored) }]);
	return (item) => read(item)[0];
}
