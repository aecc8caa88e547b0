import type { IDataObject } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import { isBlank } from '../values/blank';

/** A column of a table, or a name that its records have. */
export interface Column {
	name: string;
	/** The number of rows in which it is filled. */
	filled: number;
	samples: unknown[];
	/** Equal for columns with the same values in the same rows. */
	digest: number;
}

const maxSamples = 20;
/** Maximum characters of a sample. */
const maxSampleLength = 100;

export function addToColumns(columns: Map<string, Column>, row: number, content: IDataObject): void {
	for (const [name, value] of Object.entries(content)) {
		const column = columnNamed(columns, name);
		if (isBlank(value)) continue;
		const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
		const isLong = typeof value === 'string' && text.length > maxSampleLength;
		column.filled += 1;
		if (column.samples.length < maxSamples) column.samples.push(isLong ? `${text.slice(0, maxSampleLength)}…` : value);
		column.digest = digested(Math.imul(column.digest ^ row, 0x01000193), text);
	}
}

export const columnNamed = (columns: Map<string, Column>, name: string): Column =>
	getOrCreate(columns, name, () => ({ name, filled: 0, samples: [], digest: 0 }));

/** FNV-1a (RFC 9923). */
function digested(digest: number, text: string): number {
	let hash = digest ^ 0x811c9dc5;
	for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return hash;
}
